"""Which process fetches which feed. Claims stand in the database, so any number of them may run at once, on any machine."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from articles.models import Feed

# A claim outlasts the fetch by this: the feed of a process that was killed is free again then.
TIME_TO_STORE = timedelta(minutes=5)


def active_feeds(now: datetime) -> QuerySet[Feed]:
    """The feeds that are neither switched off nor resting."""
    return Feed.objects.filter(Q(next_try_at=None) | Q(next_try_at__lte=now), is_active=True)


def resting_feeds(start: datetime) -> QuerySet[Feed]:
    """What a run that began at `start` left alone."""
    return Feed.objects.filter(is_active=True, next_try_at__gt=start, last_fetched_at__lt=start)


def unfetched(feeds: QuerySet[Feed], since: datetime) -> QuerySet[Feed]:
    return feeds.filter(Q(last_fetched_at=None) | Q(last_fetched_at__lt=since))


def claim(feeds: QuerySet[Feed], busy_hosts: Iterable[str], timeout: float) -> Feed | None:
    """One of `feeds` that no process has and whose host is not busy, the longest unasked first; None if there is none now.

    On PostgreSQL a row that another process is claiming is skipped; on SQLite the transaction is the lock.
    """
    now = timezone.now()
    free = feeds.filter(Q(claimed_until=None) | Q(claimed_until__lt=now))
    for host in busy_hosts:
        free = free.exclude(url__icontains=f"//{host}")
    with transaction.atomic():
        longest_unasked = free.order_by(F("last_fetched_at").asc(nulls_first=True), "pk")
        feed = longest_unasked.select_for_update(skip_locked=True, no_key=True).first()
        if feed is not None:
            feed.claimed_until = now + timedelta(seconds=timeout) + TIME_TO_STORE
            feed.save(update_fields=["claimed_until"])
    return feed


def release(feeds: Iterable[Feed]) -> None:
    """Of a run that was stopped: the next one need not wait until its claims expire."""
    Feed.objects.filter(pk__in=[feed.pk for feed in feeds]).update(claimed_until=None)
