"""Reading a file of verdicts as `feedback.exports` writes it, strictly: a line is right or it is named and left out."""

import csv
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from io import StringIO
from typing import Any

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from articles.feeds.links import web_address
from feedback.verdicts import Wish

MAX_BYTES = 5 * 1024 * 1024
MAX_LINES = 20_000
NOTHING_ASKED = Wish()
UNDATED = datetime.min.replace(tzinfo=UTC)
ARTICLE_ID = re.compile("[0-9]{1,18}")


class BadFile(ValueError):
    """Nothing of the file can be used; the text says why."""


@dataclass(frozen=True)
class Line:
    """One verdict of a file. `number` counts the verdicts from 1 (a CSV's header is none). `wrong`: why it cannot be used."""

    number: int
    url: str = ""
    article: int | None = None
    wish: Wish = NOTHING_ASKED
    marked_at: datetime = UNDATED
    wrong: str = ""


def read_lines(raw: bytes, kind: str) -> list[Line]:
    """The lines oldest first, those that cannot be used before all. `kind`: "json" or "csv". Raises BadFile."""
    if len(raw) > MAX_BYTES:
        raise BadFile(_("The file is larger than %(size)s MiB. Send it in parts.") % {"size": MAX_BYTES // 2**20})
    try:
        records = READERS[kind](raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise BadFile(_("The file is not UTF-8 text.")) from None
    if len(records) > MAX_LINES:
        raise BadFile(_("The file has more than %(count)s verdicts. Send it in parts.") % {"count": MAX_LINES})
    return sorted((line_of(number, record) for number, record in enumerate(records, 1)), key=lambda line: line.marked_at)


def json_records(text: str) -> list[Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise BadFile(_("The file is not valid JSON.")) from None
    match content:
        case {"verdicts": [*records]}:
            return records
    raise BadFile(_("The file must be a JSON object with the list “verdicts”."))


def csv_records(text: str) -> list[Any]:
    try:
        rows = [row for row in csv.reader(StringIO(text, newline=""), strict=True) if row]
    except csv.Error as error:
        raise BadFile(_("The file is not valid CSV: %(reason)s.") % {"reason": error}) from None
    header = [name.strip() for name in rows[0]] if rows else []
    if not {"liked", "not_interested"} <= set(header) or not {"url", "article"} & set(header) or has_doubles(header):
        raise BadFile(_("The first line must name the columns: url (or article), liked, not_interested and perhaps marked_at."))
    return [from_cells(header, row) for row in rows[1:]]


def has_doubles(names: Iterable[str]) -> bool:
    names = list(names)
    return len(set(names)) < len(names)


def from_cells(header: list[str], row: list[str]) -> dict[str, Any] | None:
    """A row as the JSON object it stands for; one that is too long or too short stands for nothing."""
    if len(row) != len(header):
        return None
    return {name: from_cell(name, cell) for name, cell in zip(header, row, strict=True)}


def from_cell(name: str, cell: str) -> Any:
    """Spreadsheets write TRUE for what was true."""
    if name == "article":
        return int(cell) if ARTICLE_ID.fullmatch(cell) else cell or None
    return {"true": True, "false": False}.get(cell.lower(), cell) if name in ("liked", "not_interested") else cell or None


READERS = {"json": json_records, "csv": csv_records}


def line_of(number: int, record: Any) -> Line:
    if not isinstance(record, dict):
        return Line(number, wrong=_("This is not one verdict with its members."))
    if wrong := reason_against(record):
        return Line(number, wrong=wrong)
    wish = Wish(liked=record["liked"], not_interested=record["not_interested"])
    return Line(number, record.get("url") or "", record.get("article"), wish, moment(record.get("marked_at")) or UNDATED)


def reason_against(record: dict[str, Any]) -> str:
    """The first thing that is wrong with a verdict, in words; empty if nothing is."""
    url, article, at = record.get("url"), record.get("article"), record.get("marked_at")
    if not all(isinstance(record.get(name), bool) for name in ("liked", "not_interested")):
        return _("liked and not_interested must both be there, each true or false.")
    if record["liked"] and record["not_interested"]:
        return _("An article cannot be liked and not interesting at once.")
    if url is None and article is None:
        return _("Name the article by its url.")
    if url is not None and not (isinstance(url, str) and web_address(url) == url):
        return _("url must be a web address.")
    if article is not None and not (type(article) is int and 0 <= article < 10**18):
        return _("article must be the number of an article.")
    return "" if at is None or moment(at) else _("marked_at must be a time such as 2026-11-30T12:00:00Z.")


def moment(text: Any) -> datetime | None:
    """A time with its offset; None for everything else."""
    try:
        at = parse_datetime(text) if isinstance(text, str) else None
    except ValueError:  # well formed, but no day of the calendar
        return None
    return at if at and at.tzinfo else None
