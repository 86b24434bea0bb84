"""JSON Feed (https://jsonfeed.org/version/1.1). What has the wrong type counts as missing; what is no feed is a `FeedError`."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext as _

from articles.feeds import FeedError
from articles.feeds.document import MAX_ENTRIES, ParsedEntry, ParsedFeed, entry
from articles.feeds.links import web_address
from articles.feeds.text import from_markup, one_line


def parse_json_feed(text: str, base_url: str) -> ParsedFeed:
    document = loaded(text)
    site_url = web_address(string(document, "home_page_url"), base_url) or ""
    items = [item for item in document["items"] if isinstance(item, dict)][:MAX_ENTRIES]
    found = (entry_of(item, base_url or site_url) for item in items)
    return ParsedFeed(
        title=one_line(string(document, "title")),
        site_url=site_url,
        language=one_line(string(document, "language")),
        entries=[entry for entry in found if entry],
    )


def loaded(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except ValueError:
        raise FeedError(_("This looks like a JSON Feed, but the JSON is broken.")) from None
    except RecursionError:
        raise FeedError(_("This looks like a JSON Feed, but it is nested too deeply.")) from None
    if not isinstance(document, dict) or not isinstance(document.get("items"), list):
        raise FeedError(_("This is JSON, but no JSON Feed: it has no list of items."))
    return document


def entry_of(item: dict[str, Any], base: str) -> ParsedEntry | None:
    guid = identity(item)
    return entry(
        guid=guid,
        url=web_address(string(item, "url"), base) or web_address(string(item, "external_url"), base) or web_address(guid),
        title=one_line(string(item, "title")),
        summary=summary_of(item),
        tags=tags_of(item),
        published_at=moment(string(item, "date_published")) or moment(string(item, "date_modified")),
    )


def string(members: dict[str, Any], name: str) -> str:
    value = members.get(name)
    return value if isinstance(value, str) else ""


def identity(item: dict[str, Any]) -> str:
    """The id, which may be a number in feeds of version 1 and is to be read as its text."""
    value = item.get("id")
    return one_line(str(value)) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def summary_of(item: dict[str, Any]) -> str:
    if text := string(item, "summary") or string(item, "content_text"):
        return one_line(text)
    return from_markup(string(item, "content_html"))


def tags_of(item: dict[str, Any]) -> Iterator[str]:
    tags = item.get("tags")
    for tag in tags if isinstance(tags, list) else []:
        if isinstance(tag, str):
            yield tag


def moment(text: str) -> datetime | None:
    """An RFC 3339 time in UTC; one without an offset is taken for UTC."""
    try:
        found = datetime.fromisoformat(text.strip())
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
