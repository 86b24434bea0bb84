"""One reader's scores, cached under their interest version; and the order of a list that does not need a reader's marks."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import NamedTuple

from django.core.cache import cache
from django.db.models import FilteredRelation, Q
from django.utils import timezone

from articles.models import Article, User
from articles.ordering import heat
from articles.scoring import Features, Leaning, Taste
from articles.snapshot import Present, Snapshot, read_present

CACHE_SECONDS = 15 * 60
LIKES_STAY = timedelta(days=1)  # in "For you", where the reader may still want to take one back


class Fit(NamedTuple):
    """How well one article fits: `match` 1–99, None where nothing is known; the features that speak for it and against it."""

    match: int | None = None
    reasons: tuple[str, ...] = ()
    marks_against: tuple[str, ...] = ()


class Mark(NamedTuple):
    verdict: str
    article: int
    features: Features
    marked_at: datetime


@dataclass(frozen=True)
class Scores:
    """What a reader's marks make of the snapshot.

    `matches`: of every article of it, the best first; empty before the first like. `leaning`: what the matches follow from.
    `hidden`: the ones marked not interested, and those liked more than a day ago: they made the taste and would stand on top of
    "For you" for ever, and "Liked" has them. `marks`: how many verdicts this was made from.
    """

    matches: dict[int, int | None]
    leaning: Leaning
    hidden: frozenset[int]
    marks: int

    def fit(self, article_id: int, features: Features) -> Fit:
        """Made for the few articles that are shown: the reasons of all would take half as long as their ranking."""
        match = self.matches.get(article_id)
        if match is None:
            return Fit()
        is_low = match < 50 or article_id in self.hidden
        return Fit(match, self.leaning.reasons(features), self.leaning.marks_against(features) if is_low else ())


class Order(NamedTuple):
    """Article ids, the best first, and the name by which a cursor finds this order again."""

    name: str
    ids: Sequence[int]


NO_LEANING = Leaning({}, {})
NOTHING_SAID = Scores({}, NO_LEANING, frozenset(), 0)


def scores_of(reader: User | None, present: Present) -> Scores:
    """From the cache, or from the marks by one statement."""
    if reader is None:
        return NOTHING_SAID
    key = scores_key(reader, present.name)
    # One get, never "in" first: the key may expire between the two.
    scores = cache.get(key)
    if scores is None:
        scores = score_snapshot(present.snapshot, marks_of(reader))
        cache.set(key, scores, CACHE_SECONDS)
    return scores


def scores_key(reader: User, name: str) -> str:
    return f"scores:{reader.pk}:{name}"


def current_scores(reader: User | None) -> Scores:
    return NOTHING_SAID if reader is None else scores_of(reader, read_present(reader))


def marks_of(reader: User) -> list[Mark]:
    """Oldest first, also of articles older than the snapshot; an empty verdict is no mark."""
    mine = FilteredRelation("feedback", condition=Q(feedback__profile=reader.pk))
    marked = Article.objects.annotate(mine=mine).filter(mine__verdict__in=("liked", "not_interested"))
    rows = marked.order_by("mine__marked_at", "mine__pk").values_list("mine__verdict", "pk", "features", "mine__marked_at")
    return [Mark(*row) for row in rows]


def score_snapshot(snapshot: Snapshot, marks: Sequence[Mark]) -> Scores:
    liked = [mark.features for mark in marks if mark.verdict == "liked"]
    refused = [mark for mark in marks if mark.verdict == "not_interested"]
    day_ago = timezone.now() - LIKES_STAY
    hidden = frozenset(mark.article for mark in marks if mark.verdict == "not_interested" or mark.marked_at < day_ago)
    if not liked:
        return Scores({}, NO_LEANING, hidden, len(marks))
    taste = Taste.fit(snapshot.corpus, likes=liked, not_interested=[mark.features for mark in refused])
    return Scores(rank(snapshot, taste), taste.leaning, hidden, len(marks))


def rank(snapshot: Snapshot, taste: Taste) -> dict[int, int | None]:
    """By fit and freshness; likes only break ties, then the younger comes first."""
    ranked = []
    for entry, scale, fresh in zip(snapshot.entries, snapshot.scales, snapshot.recency, strict=True):
        score = taste.score(entry.features, scale)
        ranked.append((score.z + fresh, entry.likes, entry.published_at, entry.id, score.match))
    ranked.sort(reverse=True)
    return {entry_id: match for *_key, entry_id, match in ranked}


def present_order(present: Present, scores: Scores) -> Order:
    """The reader's own order, or the hot one as long as there is no like to go by."""
    return Order(present.name, list(scores.matches)) if scores.matches else hot_order(present)


def hot_order(present: Present) -> Order:
    """Kept under a digest of itself, so that "More" can continue it while people go on liking."""
    likes = like_counts(present)
    hot = [(heat(likes.get(entry.id, 0), entry.published_at.timestamp()), entry.id) for entry in present.snapshot.entries]
    ids = array("q", [entry_id for _heat, entry_id in sorted(hot, reverse=True)])
    name = f"hot:{blake2b(ids.tobytes(), digest_size=12).hexdigest()}"
    cache.set(name, ids, CACHE_SECONDS)
    return Order(name, ids)


def like_counts(present: Present) -> dict[int, int]:
    """By article, from the rows: the snapshot's are good only in the request that loaded it."""
    entries = present.snapshot.entries
    if present.just_loaded or not entries:
        return {entry.id: entry.likes for entry in entries}
    liked = Article.objects.filter(like_count__gt=0, published_at__gte=entries[-1].published_at)
    return dict(liked.values_list("pk", "like_count"))


def kept_order(reader: User | None, name: str) -> Order | None:
    """The order of this name, if the cache still has it; a reader finds nobody's scores but their own."""
    if name.startswith("hot:"):
        ids = cache.get(name)
        return None if ids is None else Order(name, ids)
    scores = cache.get(scores_key(reader, name)) if reader else None
    return Order(name, list(scores.matches)) if scores and scores.matches else None
