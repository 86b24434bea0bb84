"""One feed's turn in two halves: the network's, which threads share, and the database's, which one thread does."""

from dataclasses import dataclass, replace
from datetime import datetime

from articles.feeds.document import ParsedFeed
from articles.feeds.fetch import TIMEOUT_SECONDS, Answer, fetch
from articles.feeds.health import is_probed, note_unchanged
from articles.feeds.moves import move
from articles.feeds.network import Deadline
from articles.feeds.parse import parse
from articles.feeds.store import Stored, store
from articles.models import Feed
from articles.retry import FEED_BACKOFF, call_with_retry


@dataclass(frozen=True)
class Download:
    """What a feed's address answered; `parsed` is None where nothing changed."""

    answer: Answer
    parsed: ParsedFeed | None


def download(feed: Feed, timeout: float = TIMEOUT_SECONDS) -> Download:
    """The network's half, repeats included, within `timeout` seconds. No database; a `FeedError` says what went wrong."""
    backoff = replace(FEED_BACKOFF, deadline=timeout, ceilings=() if is_probed(feed) else FEED_BACKOFF.ceilings)
    end = Deadline(timeout)
    answer = call_with_retry(
        lambda: fetch(feed.url, etag=feed.etag, last_modified=feed.last_modified, timeout=end.left()), backoff
    )
    return Download(answer, parse(answer.body, answer.content_type, answer.url) if answer.changed else None)


def keep(feed: Feed, download: Download, now: datetime) -> Stored | None:
    """The database's half; None where the feed is unchanged."""
    if download.answer.moved_to:
        feed = move(feed, download.answer.moved_to)
    if download.parsed is None:
        note_unchanged(feed, now)
        return None
    answer, parsed = download.answer, download.parsed
    validators = {"etag": answer.etag, "last_modified": answer.last_modified} if parsed.is_whole else {}
    return store(feed, parsed, now=now, **validators)
