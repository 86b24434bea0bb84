"""How a feed is doing, as its row tells: every end of a fetch is noted here, and gives up the process's claim.

A circuit breaker: a feed that failed several times in a row rests, longer each time. When its rest is over one probe is made; its
success closes the breaker, its failure begins the next rest. A feed that is gone for good is switched off.
"""

from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import ngettext

from articles.feeds import FeedError, FeedGone, FeedUnavailable
from articles.feeds.text import shorten
from articles.models import Feed
from articles.retry import FAILURES_BEFORE_REST, feed_rest


def healthy(now: datetime) -> dict[str, Any]:
    """The columns of a feed that was just fetched."""
    closed = {"failures": 0, "next_try_at": None, "claimed_until": None, "last_error": ""}
    return closed | {"last_fetched_at": now, "last_succeeded_at": now}


def note_unchanged(feed: Feed, now: datetime) -> None:
    Feed.objects.filter(pk=feed.pk).update(**healthy(now))


def note_failure(feed: Feed, failure: FeedError, now: datetime) -> None:
    """Counts the failure, and lets the feed rest if it is one of several. `feed` is brought up to date: the command prints it."""
    rest = feed_rest(feed.failures + 1, failure.retry_after if isinstance(failure, FeedUnavailable) else None)
    feed.failures += 1
    feed.next_try_at = now + timedelta(seconds=rest) if rest else None
    feed.is_active = feed.is_active and not isinstance(failure, FeedGone)
    feed.last_error, feed.last_fetched_at, feed.claimed_until = shorten(str(failure), 500), now, None
    noted = ("failures", "next_try_at", "is_active", "last_error", "last_fetched_at", "claimed_until")
    # Not save(): nothing is wrong if the feed was removed meanwhile.
    Feed.objects.filter(pk=feed.pk).update(**{name: getattr(feed, name) for name in noted})


def rest_of(feed: Feed) -> str:
    """In words; "" if it does not rest."""
    if feed.next_try_at is None:
        return ""
    at = {"count": feed.failures, "time": f"{feed.next_try_at:%Y-%m-%d %H:%M} UTC"}
    return ngettext("It rests until %(time)s.", "Failed %(count)d times in a row, it rests until %(time)s.", feed.failures) % at


def is_probed(feed: Feed) -> bool:
    """Whether the next question is a probe: asked once, without repeats."""
    return feed.failures >= FAILURES_BEFORE_REST
