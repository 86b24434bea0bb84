"""The sample that comes with DevPick: made-up feeds, so that there is something to read before the first fetch.

They pass through the same parser and store as any feed. Their hosts end in .example and do not exist, so they are never fetched.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings

from articles.feeds.document import ParsedEntry, ParsedFeed
from articles.feeds.parse import parse
from articles.feeds.store import Stored, store
from articles.models import Feed

FOLDER = Path(settings.BASE_DIR) / "data" / "sample"
AGE_OF_NEWEST = timedelta(hours=1)


def load_sample(now: datetime) -> Stored:
    """Stores the sample, its newest article dated an hour before `now`. What is there already stays as it is."""
    feeds = {path.name: parse(path.read_bytes()) for path in sorted(FOLDER.iterdir())}
    newest = max(entry.published_at for feed in feeds.values() for entry in feed.entries if entry.published_at)
    stored = [load(name, moved(feed, now - AGE_OF_NEWEST - newest), now) for name, feed in feeds.items()]
    return Stored(new=sum(feed.new for feed in stored), updated=sum(feed.updated for feed in stored))


def load(name: str, parsed: ParsedFeed, now: datetime) -> Stored:
    feed, _created = Feed.objects.get_or_create(
        url=f"{parsed.site_url}{name}", defaults={"title": parsed.title, "is_active": False}
    )
    return store(feed, parsed, now=now)


def moved(feed: ParsedFeed, by: timedelta) -> ParsedFeed:
    return replace(feed, entries=[moved_entry(entry, by) for entry in feed.entries])


def moved_entry(entry: ParsedEntry, by: timedelta) -> ParsedEntry:
    return replace(entry, published_at=entry.published_at + by) if entry.published_at else entry
