"""The newest articles as the ranking reads them, kept in this process."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from sys import intern
from threading import Lock
from typing import Any, NamedTuple

from django.db.models import JSONField, Subquery, Value

from articles.json_lists import listed
from articles.models import Article, Profile, User
from articles.ordering import recency
from articles.scoring import Corpus, scale_of
from articles.sources import further_sources

SNAPSHOT_SIZE = 5000
# A new article makes a new snapshot; an edited or deleted one shows in the cards at once, in the order after this time.
SNAPSHOT_SECONDS = 15 * 60
TAGS_OFFERED = 60


class Entry(NamedTuple):
    """One article of the snapshot. `likes` is as old as the snapshot: good enough to break a tie, not to be shown."""

    id: int
    features: list[str]
    published_at: datetime
    source: str
    tags: list[str]
    language: str
    likes: int
    search_text: str
    further_sources: Sequence[str]


@dataclass(frozen=True)
class Snapshot:
    """The newest 5,000 articles, newest first."""

    version: str
    entries: list[Entry]
    loaded_at: float = field(default_factory=time.monotonic)

    @cached_property
    def by_id(self) -> dict[int, Entry]:
        return {entry.id: entry for entry in self.entries}

    @cached_property
    def corpus(self) -> Corpus:
        return Corpus.fit([entry.features for entry in reversed(self.entries)])

    @cached_property
    def scales(self) -> list[float]:
        return [scale_of(self.corpus.weights, entry.features) for entry in self.entries]

    @cached_property
    def recency(self) -> list[float]:
        return recency([entry.published_at.timestamp() for entry in self.entries])

    @cached_property
    def sources(self) -> list[str]:
        """All of them, also those that told nothing first."""
        named = (name for entry in self.entries for name in (entry.source, *entry.further_sources))
        return sorted(set(named), key=str.casefold)

    @cached_property
    def tags(self) -> list[str]:
        """The most frequent ones, by name."""
        frequent = Counter(tag for entry in self.entries for tag in entry.tags).most_common(TAGS_OFFERED)
        return sorted(tag for tag, _count in frequent)


@dataclass(frozen=True)
class Present:
    """What one request ranks: this snapshot, under the reader's interest version. `just_loaded`: by this very request.

    `read`: the articles with this reader's read mark, if the request needs them.
    """

    interest_version: int
    snapshot: Snapshot
    just_loaded: bool
    read: frozenset[int] = frozenset()

    @property
    def name(self) -> str:
        return f"{self.interest_version}:{self.snapshot.version}"


def read_present(reader: User | None, *, with_read: bool = False) -> Present:
    """One statement, and one more if there is a new article.

    Both versions are read before the marks are: scores of old marks must never be stored under a new version.
    """
    profile = Profile.objects.filter(pk=reader.pk if reader else None)
    read = read_by(reader) if reader and with_read else Value(None, output_field=JSONField())
    newest = Article.objects.order_by("-pk").annotate(interest=Subquery(profile.values("interest_version")), read=read)
    # The time beside the id: an embedded database that was restored or rolled back gives an id out again.
    pk, seen_at, interest, read_ids = newest.values_list("pk", "first_seen_at", "interest", "read").first() or (0, None, 0, None)
    snapshot, just_loaded = snapshot_of(f"{pk}.{int(seen_at.timestamp() * 1_000_000) if seen_at else 0}")
    return Present(interest or 0, snapshot, just_loaded, frozenset(read_ids or ()))


def read_by(reader: User) -> Subquery:
    return listed(Article.objects.filter(feedback__profile=reader.pk, feedback__read_at__isnull=False), "pk")


# In this process and not in the cache: to unpickle 5,000 articles costs more than to rank them.
_kept: Snapshot | None = None
_loading = Lock()


def snapshot_of(version: str) -> tuple[Snapshot, bool]:
    """The snapshot of this version, and whether it was loaded now. The lock: one request loads, the others wait for it."""
    global _kept
    with _loading:
        if _kept is not None and _kept.version == version and time.monotonic() - _kept.loaded_at < SNAPSHOT_SECONDS:
            return _kept, False
        _kept = load_snapshot(version)
        return _kept, True


def load_snapshot(version: str) -> Snapshot:
    columns = ("pk", "features", "published_at", "feed__title", "tags", "language", "like_count", "search_text")
    newest = Article.objects.order_by("-published_at", "-pk")[:SNAPSHOT_SIZE]
    rows = newest.values_list(*columns, further_sources())
    return Snapshot(version, [entry_of(*row) for row in rows])


def entry_of(pk: int, features: list[str], *rest: Any) -> Entry:
    """Interned: a feature is one object however many articles have it, which saves memory and time in every look-up."""
    *columns, further = rest
    return Entry._make((pk, [intern(name) for name in features], *columns, further or ()))
