"""A reader's own verdicts as a file: all that is said now, oldest first, in a form that another installation can read."""

import csv
import json
from collections.abc import Callable, Iterator
from io import StringIO
from itertools import islice
from typing import Any

from feedback.models import Feedback, Verdict

MEDIA_TYPES = {"json": "application/json", "csv": "text/csv"}
MEMBERS = ("article", "url", "liked", "not_interested", "marked_at")
ROWS_AT_ONCE = 500


def export(profile_id: int, kind: str) -> Iterator[str]:
    """The file in pieces of some hundred lines, so that memory does not grow with it. `kind`: a key of MEDIA_TYPES.

    What was taken back is nothing said, and is left out.
    """
    lines = WRITERS[kind](own_verdicts(profile_id))
    while piece := "".join(islice(lines, ROWS_AT_ONCE)):
        yield piece


def own_verdicts(profile_id: int) -> Iterator[dict[str, Any]]:
    """One statement, so one moment; the rows come through a cursor. Versions are the order in which they were said."""
    said = Feedback.objects.filter(profile_id=profile_id).exclude(verdict=Verdict.NONE).order_by("version", "pk")
    columns = said.values_list("article_id", "article__url", "verdict", "marked_at")
    for article, url, verdict, marked_at in columns.iterator(chunk_size=ROWS_AT_ONCE):
        liked, not_interested = verdict == Verdict.LIKED, verdict == Verdict.NOT_INTERESTED
        at = marked_at.isoformat() if marked_at else None
        yield dict(zip(MEMBERS, (article, url, liked, not_interested, at), strict=True))


def json_lines(verdicts: Iterator[dict[str, Any]]) -> Iterator[str]:
    """One object with the member `verdicts`, one verdict on each line."""
    yield '{"verdicts": ['
    for number, verdict in enumerate(verdicts):
        yield f"{',' if number else ''}\n{json.dumps(verdict, ensure_ascii=False)}"
    yield "\n]}\n"


def csv_lines(verdicts: Iterator[dict[str, Any]]) -> Iterator[str]:
    """RFC 4180 with a header. The words are those of the API: true and false."""
    yield csv_line(MEMBERS)
    for verdict in verdicts:
        yield csv_line([str(value).lower() if isinstance(value, bool) else value for value in verdict.values()])


def csv_line(cells: Any) -> str:
    text = StringIO()
    csv.writer(text).writerow(cells)
    return text.getvalue()


WRITERS: dict[str, Callable[[Iterator[dict[str, Any]]], Iterator[str]]] = {"json": json_lines, "csv": csv_lines}
