"""What a ranked list costs one reader, and that a repeat costs them nothing."""

import random
from collections.abc import Callable
from datetime import timedelta
from statistics import median

from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from articles.models import Article, User
from articles.ranking import scores_of
from articles.snapshot import SNAPSHOT_SIZE, load_snapshot, read_present
from feedback.models import Feedback, Verdict
from feedback.services import apply_feedback
from feedback.verdicts import Wish
from tests.bench.report import bound, spread, timed
from tests.factories import ArticleFactory, FeedFactory, UserFactory

ROUNDS = 30
TAGS = [f"tag{n}" for n in range(120)]
WORDS = [f"word{n}" for n in range(4000)]
HOSTS = [f"source{n}.example.com" for n in range(60)]


def bench_ranking() -> None:
    make_articles()
    reader = UserFactory()
    for number, article in enumerate(Article.objects.order_by("?")[:30]):
        wish = Wish(liked=True) if number < 24 else Wish(not_interested=True)
        apply_feedback(profile_id=reader.pk, article_id=article.pk, wish=wish)
    report_times(reader)
    report_recomputations(reader)


def make_articles() -> None:
    """Titles of eight words, two or three tags, sixty sources; a few words and tags are common, most are rare."""
    chance, feed, now = random.Random(5000), FeedFactory(), timezone.now()
    rows = [
        ArticleFactory.build(
            feed=feed,
            url=f"https://{skewed(chance, HOSTS)}/{n}",
            title=" ".join(skewed(chance, WORDS) for _ in range(8)),
            tags=sorted({skewed(chance, TAGS) for _ in range(3)}),
            published_at=now - timedelta(minutes=10 * n),
        )
        for n in range(SNAPSHOT_SIZE)
    ]
    Article.objects.bulk_create(rows)


def skewed(chance: random.Random, names: list[str]) -> str:
    return names[int(len(names) * chance.random() ** 3)]


def report_times(reader: User) -> None:
    print(f"Ranking {SNAPSHOT_SIZE} articles for a reader of 30 marks, milliseconds: median of {ROUNDS} (80 % of the rounds)")
    present = read_present(reader)
    cold = [timed(lambda: load_snapshot("").corpus, 1) for _ in range(5)]
    ranked = [timed(forgotten(lambda: scores_of(reader, present)), 1) for _ in range(ROUNDS)]
    kept = [timed(lambda: scores_of(reader, present), 1) for _ in range(ROUNDS)]
    print(f"  {'articles read and corpus made, once a process':48} {spread(cold)}")
    bound("marks read and all articles ranked", median(ranked), 60, spread(ranked))
    print(f"  {'ranking taken from the cache':48} {spread(kept)}")


def forgotten(rank: Callable[[], object]) -> Callable[[], object]:
    cache.clear()
    return rank


def report_recomputations(reader: User) -> None:
    """A recomputation reads the marks; nothing else reads the features of marked articles."""
    liked = Feedback.objects.filter(profile=reader.pk, verdict=Verdict.LIKED).values_list("article", flat=True)[0]
    list_again = recomputations(lambda: scores_of(reader, read_present(reader)))
    list_again()

    def repeat() -> int:
        apply_feedback(profile_id=reader.pk, article_id=liked, wish=Wish(liked=True))
        return list_again()

    made = sum(repeat() for _ in range(20))
    bound("recomputations after 20 unchanged repeats", made, 0, f"{made:7d}")


def recomputations(read: Callable[[], object]) -> Callable[[], int]:
    def count() -> int:
        with CaptureQueriesContext(connection) as statements:
            read()
        return sum('"features"' in statement["sql"] for statement in statements)

    return count
