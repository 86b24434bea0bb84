"""A feed's document as DevPick understands it, whatever format it came in."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256

from django.utils.translation import gettext as _

from articles.feeds.text import shorten, tag_slugs

MAX_ENTRIES = 1000  # of one document; the newest stand first
TITLE_LENGTH = 500
LABEL_LENGTH = 80
SUMMARY_LENGTH = 500
GUID_LENGTH = 500
# Machines that cannot tell the date say the year 1 or 1970.
EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
# Link lists end their summary with a link to the comments, or have nothing else in it.
COMMENTS_LINK = re.compile(r"(?:^|\s)Comments$")


@dataclass(frozen=True)
class ParsedEntry:
    """One entry. `title` is never empty; `url` is http(s) or None; `published_at` is UTC."""

    guid: str | None
    url: str | None
    title: str
    summary: str
    tags: list[str]
    published_at: datetime | None


@dataclass(frozen=True)
class ParsedFeed:
    """`is_whole`: it has its end. What was cut off is to be asked for again, whatever its server says of changes."""

    title: str
    site_url: str
    language: str
    entries: list[ParsedEntry]
    is_whole: bool = True


def entry(
    *, guid: str, url: str | None, title: str, summary: str, tags: Iterable[str], published_at: datetime | None
) -> ParsedEntry | None:
    """An entry of plain texts, within DevPick's bounds; None where there is nothing in it."""
    if not (url or title or summary):
        return None
    return ParsedEntry(
        guid=bounded(guid) or None,
        url=url,
        title=shorten(title, TITLE_LENGTH) or label(summary, url),
        summary=shorten(COMMENTS_LINK.sub("", summary), SUMMARY_LENGTH) if summary != title else "",
        tags=tag_slugs(tags),
        published_at=published_at if published_at and published_at >= EARLIEST else None,
    )


def label(summary: str, url: str | None) -> str:
    """What stands for the title of an entry without one: a link must have words."""
    return shorten(summary, LABEL_LENGTH) or shorten(url or "", LABEL_LENGTH) or _("Untitled")


def bounded(guid: str) -> str:
    """A guid that fits its column. Its beginning alone would not do: long ones differ at their end."""
    return guid if len(guid) <= GUID_LENGTH else sha256(guid.encode()).hexdigest()
