"""`manage.py preview_feed`: what DevPick would read from a feed, without storing anything."""

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand
from django.utils.translation import gettext as _

from articles.feeds import FeedError
from articles.feeds.document import ParsedEntry, ParsedFeed
from articles.feeds.encoding import MAX_BODY_BYTES
from articles.feeds.fetch import fetch
from articles.feeds.links import web_address
from articles.feeds.parse import parse

EMPTY = ParsedFeed(title="", site_url="", language="", entries=[])


class Command(BaseCommand):
    help = "Shows what DevPick reads from feeds, as files or at addresses. Stores nothing. Exit status 1 if one cannot be read."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("sources", nargs="+", metavar="FILE_OR_URL")
        parser.add_argument("--format", choices=["text", "json"], default="text", help="json: one object a line, in order")
        parser.add_argument("--content-type", default="", help="the type that files are served with; its charset counts")

    def handle(self, *, sources: list[str], format: str, content_type: str, **options: Any) -> None:
        show = {"json": as_json, "text": as_text}[format]
        failed = False
        for source in sources:
            feed, error = preview(source, content_type)
            failed = failed or error is not None
            self.stdout.write(show(source, feed, error))
        if failed:
            sys.exit(1)


def preview(source: str, content_type: str) -> tuple[ParsedFeed, str | None]:
    try:
        if not web_address(source):
            return parse(read_file(source), content_type), None
        answer = fetch(source)
        return parse(answer.body, answer.content_type, answer.url), None
    except FeedError as failure:
        return EMPTY, str(failure)


def read_file(path: str) -> bytes:
    try:
        with Path(path).open("rb") as file:
            return file.read(MAX_BODY_BYTES + 1)  # one byte more, so that the parser sees that it is too large
    except OSError as failure:
        raise FeedError(_("The file cannot be read: %(reason)s.") % {"reason": failure.strerror}) from None


def as_json(source: str, feed: ParsedFeed, error: str | None) -> str:
    entries = [as_members(entry) for entry in feed.entries]
    return json.dumps({"source": source, "error": error, "title": feed.title, "entries": entries})


def as_members(entry: ParsedEntry) -> dict[str, Any]:
    return {
        "title": entry.title,
        "url": entry.url,
        "guid": entry.guid,
        "published_at": entry.published_at.isoformat() if entry.published_at else None,
        "tags": entry.tags,
    }


def as_text(source: str, feed: ParsedFeed, error: str | None) -> str:
    if error is not None:
        return f"{source}\n  {error}\n"
    heading = _("%(title)s: %(count)d entries") % {"title": feed.title or source, "count": len(feed.entries)}
    return "\n".join([heading, *(as_lines(entry) for entry in feed.entries), ""])


def as_lines(entry: ParsedEntry) -> str:
    date = entry.published_at.strftime("%Y-%m-%d %H:%M") if entry.published_at else _("no date")
    tags = "".join(f" #{tag}" for tag in entry.tags)
    return f"  {entry.title}\n    {date}{tags}\n    {entry.url or _('no link, so it is not shown')}"
