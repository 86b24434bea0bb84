"""One document → `ParsedFeed`. feedparser reads RSS and Atom, `json_feed` JSON Feed; what a text may hold is ours to say.

A document is read as far as it is whole. What is no feed is a `FeedError` that says what it is instead; nothing else is raised.
"""

import calendar
import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from time import struct_time
from typing import Any

import feedparser
from django.utils.translation import gettext as _

from articles.feeds import FeedError
from articles.feeds.document import MAX_ENTRIES, ParsedEntry, ParsedFeed, entry
from articles.feeds.encoding import decode, inflate
from articles.feeds.json_feed import parse_json_feed
from articles.feeds.links import web_address
from articles.feeds.text import MARKUP_LENGTH, from_markup, from_rss_title, one_line
from articles.feeds.xml_safety import MISCELLANY, safe_document

HTML = re.compile(MISCELLANY + r"<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL)
# What feedparser itself fails with on documents that are broken in the right place; found by mutating documents.
PARSER_FAILURES = (TypeError, LookupError, ValueError, ArithmeticError, AttributeError, AssertionError, RecursionError)
END_OF_DOCUMENT = re.compile(r"<(?:/(?:[\w.-]+:)?(?:rss|feed|rdf|channel)\s*|(?:rss|feed)\b[^>]*/)>", re.IGNORECASE)
END_OF_ENTRY = re.compile(r"</(?:[\w.-]+:)?(?:item|entry)\s*>", re.IGNORECASE)


def parse(body: bytes, content_type: str = "", base_url: str = "") -> ParsedFeed:
    """The feed in `body`. `content_type` counts for its charset only: a good feed labelled text/html is a feed.

    `base_url`, the address it was read from, is what relative links are relative to.
    """
    text = decode(inflate(body), content_type).strip()
    if not text:
        raise FeedError(_("The answer is empty."))
    if text.startswith("{"):
        return parse_json_feed(text, base_url)
    if HTML.match(text):
        raise FeedError(_("This is a web page, not a feed. Look there for the address of its RSS or Atom feed."))
    return parse_xml(text, base_url)


def parse_xml(text: str, base_url: str) -> ParsedFeed:
    text = safe_document(text)
    document = read(text, base_url)
    if not (document.get("version") or document.entries):
        raise FeedError(_("This is no feed that DevPick can read. It reads RSS, Atom and JSON Feed."))
    # Of a document that was cut off only the entries that end: half an address would become an article.
    is_whole = END_OF_DOCUMENT.search(text) is not None
    entries = document.entries if is_whole else document.entries[: len(END_OF_ENTRY.findall(text))]
    if not entries and not is_whole:
        raise FeedError(_("The document was cut off before its first entry ended."))
    feed, is_atom = document.feed, document.get("version", "").startswith("atom")
    site_url = web_address(feed.get("link"), base_url) or ""
    found = (entry_of(raw, base_url or site_url, is_atom) for raw in entries[:MAX_ENTRIES])
    return ParsedFeed(
        title=title_of(feed, is_atom),
        site_url=site_url,
        language=one_line(feed.get("language") or ""),
        entries=[entry for entry in found if entry],
        is_whole=is_whole,
    )


def read(text: str, base_url: str) -> Any:
    """feedparser's view of it. From a stream: feedparser takes other bytes for the name of a file to open."""
    headers = {"content-type": "application/xml; charset=utf-8", "content-location": base_url}
    stream = io.BytesIO(text.encode("utf-8"))
    try:
        return feedparser.parse(stream, response_headers=headers, sanitize_html=False, resolve_relative_uris=False)
    except PARSER_FAILURES:
        raise FeedError(_("The document is too broken to be read.")) from None


def entry_of(raw: Any, base: str, is_atom: bool) -> ParsedEntry | None:
    return entry(
        guid=one_line(raw.get("id") or ""),
        url=web_address(raw.get("link"), base),
        title=title_of(raw, is_atom),
        summary=summary_of(raw, is_atom),
        tags=categories(raw),
        published_at=date_of(raw),
    )


def title_of(raw: Any, is_atom: bool) -> str:
    title, detail = (raw.get("title") or "")[:MARKUP_LENGTH], raw.get("title_detail") or {}
    if detail.get("type") != "text/plain":
        return from_markup(title)
    return one_line(title) if is_atom else from_rss_title(title)


def summary_of(raw: Any, is_atom: bool) -> str:
    """The summary, or the content where there is none. In RSS it is HTML by custom; Atom says which it is."""
    texts = [(raw.get("summary"), raw.get("summary_detail") or {})]
    texts += [(content.get("value"), content) for content in raw.get("content") or []]
    value, detail = next(((value, detail) for value, detail in texts if value), ("", {}))
    return one_line(value) if is_atom and detail.get("type") == "text/plain" else from_markup(value)


def categories(raw: Any) -> Iterator[str]:
    for tag in raw.get("tags") or []:
        if name := tag.get("term") or tag.get("label"):
            yield name


def date_of(raw: Any) -> datetime | None:
    """When it was published; else when it was changed. Not by feedparser's own `get`, which mixes the two and warns of it."""
    moments = (utc(dict.get(raw, name)) for name in ("published_parsed", "updated_parsed", "created_parsed"))
    return next((moment for moment in moments if moment), None)


def utc(moment: struct_time | None) -> datetime | None:
    try:
        return datetime.fromtimestamp(calendar.timegm(moment), UTC) if moment else None
    except (ValueError, OverflowError):
        return None
