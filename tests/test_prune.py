"""`prune_articles`: what goes, what stays, what comes back (nothing), and who wins when a like arrives in between."""

import random
import time
from datetime import UTC, datetime
from io import StringIO
from threading import Barrier
from typing import Any

import pytest
from django.core.exceptions import ObjectDoesNotExist
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection
from django.utils import timezone

from articles.feeds.parse import parse
from articles.feeds.store import Stored, store
from articles.models import Article, ArticleSource, Feed, Tombstone, User
from feedback.models import Feedback, Verdict
from feedback.pruning import BATCH, prunable, prune, remove
from feedback.services import apply_feedback
from feedback.verdicts import Order, Wish
from tests.concurrency import at_once
from tests.factories import ArticleFactory, FeedbackFactory, FeedFactory, UserFactory, ago, profile_of
from tests.feeds.documents import item, rss

ROUNDS = 1000 if connection.vendor == "postgresql" else 200


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("prune_articles", *arguments, stdout=out)
    return out.getvalue()


def old(**fields: Any) -> Article:
    return ArticleFactory(published_at=ago(days=100), **fields)


def left() -> set[str]:
    return set(Article.objects.values_list("title", flat=True))


def marked(title: str, verdict: Verdict, **fields: Any) -> Article:
    article = old(title=title, like_count=int(verdict == Verdict.LIKED))
    FeedbackFactory(article=article, verdict=verdict, marked_at=ago(days=90), **fields)
    return article


@pytest.mark.django_db(transaction=True)
def test_what_anyone_liked_marked_or_read_lately_stays() -> None:
    old(title="unloved")
    marked("undone", Verdict.NONE)
    marked("read long ago", Verdict.NONE, read_at=ago(days=40))
    marked("liked", Verdict.LIKED)
    marked("not interested", Verdict.NOT_INTERESTED)
    marked("read lately", Verdict.NONE, read_at=ago(days=20))
    ArticleFactory(title="new")
    stays = {"liked", "not interested", "read lately", "new"}
    assert run("--older-than", "30", "--dry-run") == "3 articles would be removed.\n"
    assert len(left()) == 7
    assert run("--older-than", "30") == "3 articles removed.\n"
    assert left() == stays
    assert run("--older-than", "30") == "0 articles removed.\n"
    assert set(Feedback.objects.values_list("article__title", flat=True)) == stays - {"new"}


@pytest.mark.django_db(transaction=True)
def test_a_counter_that_drifted_costs_no_like() -> None:
    marked("liked", Verdict.LIKED)
    Article.objects.update(like_count=0)
    old(title="counter without likes", like_count=2)
    assert run("--older-than", "30") == "0 articles removed.\n"
    assert left() == {"liked", "counter without likes"}


@pytest.mark.django_db(transaction=True)
def test_many_are_removed_in_batches_and_what_stays_is_passed_by() -> None:
    feed = FeedFactory()
    articles = [old(feed=feed) for _article in range(BATCH + 20)]
    FeedbackFactory(article=articles[3])
    Article.objects.filter(pk=articles[3].pk).update(like_count=1)
    assert prune(ago(days=30)) == BATCH + 19
    assert list(Article.objects.all()) == [articles[3]]


@pytest.mark.django_db(transaction=True)
def test_a_mark_that_came_after_the_look_keeps_its_article_and_no_other() -> None:
    articles = [old() for _article in range(9)]
    FeedbackFactory(article=articles[4], verdict=Verdict.NOT_INTERESTED)
    FeedbackFactory(article=articles[6], verdict=Verdict.NONE, read_at=timezone.now())
    undone = FeedbackFactory(article=articles[0], verdict=Verdict.NONE)
    assert remove([article.pk for article in articles], ago(days=30)) == 7
    assert set(Article.objects.all()) == {articles[4], articles[6]}
    assert Tombstone.objects.count() == 7
    assert not Feedback.objects.filter(pk=undone.pk).exists()


@pytest.mark.parametrize("days", ["0", "-1", "soon", "1.5", "99999999999"])
def test_days_that_make_no_sense_remove_nothing(db: None, days: str) -> None:
    old()
    with pytest.raises(CommandError, match="number of days"):
        run("--older-than", days)
    assert Article.objects.count() == 1


# What was removed stays away

NOW = datetime(2026, 1, 10, 12, tzinfo=UTC)


def keep(feed: Feed, *items: str) -> Stored:
    return store(feed, parse(rss(*items)), now=NOW)


@pytest.mark.django_db(transaction=True)
def test_the_next_fetch_does_not_bring_it_back_from_any_feed_or_under_any_of_its_names() -> None:
    feed, other = FeedFactory(), FeedFactory()
    keep(feed, item("Story", "https://blog.example/1", "g1"))
    keep(other, item("Story", "https://blog.example/1", "o1"))
    assert prune(NOW) == 1
    assert not ArticleSource.objects.exists()
    assert keep(feed, item("Story", "https://blog.example/1", "g1")) == Stored(new=0, updated=0)
    assert keep(feed, item("Story, edited", "https://blog.example/moved", "g1")) == Stored(new=0, updated=0)
    assert keep(feed, item("Story", "http://blog.example/1/?utm_source=x", "g2")) == Stored(new=0, updated=0)
    assert keep(other, item("Story", "https://blog.example/1", "o1")) == Stored(new=0, updated=0)
    assert not Article.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_what_is_new_comes_although_its_guid_was_used_before() -> None:
    feed, other = FeedFactory(), FeedFactory()
    keep(feed, item("Of Monday", "https://blog.example/monday", "latest"))
    prune(NOW)
    tuesday = item("Of Tuesday", "https://blog.example/tuesday", "latest", "Tue, 06 Jan 2026 10:00:00 GMT")
    assert keep(feed, tuesday) == Stored(new=1, updated=0)
    assert keep(other, item("Elsewhere", "https://other.example/1", "latest")) == Stored(new=1, updated=0)


# In between


@pytest.mark.django_db(transaction=True)
def test_a_like_that_arrives_in_between_wins_a_thousand_times() -> None:
    """A like that was answered is there with its article; one that came too late is told so. Never half of either."""
    readers, feed, rng = [UserFactory(), UserFactory()], FeedFactory(), random.Random(5)
    articles = [old(feed=feed).pk for _round in range(ROUNDS)]
    for article_id in rng.sample(articles, ROUNDS // 3):  # an undone verdict may be in the way too
        FeedbackFactory(article_id=article_id, profile=profile_of(readers[0]), verdict=Verdict.NONE)
    delays = [rng.random() * 0.003 for _round in range(ROUNDS)]
    start = Barrier(3)

    def like_all(reader: User) -> list[bool]:
        return [start.wait(10) >= 0 and is_liked(reader, *one) for one in zip(articles, reversed(delays), strict=True)]

    def prune_all() -> list[bool]:
        return [start.wait(10) >= 0 and is_pruned(*one) for one in zip(articles, delays, strict=True)]

    one, two, removed = at_once([lambda: like_all(readers[0]), lambda: like_all(readers[1]), prune_all])
    there = set(Article.objects.values_list("pk", flat=True))
    assert [article_id in there for article_id in articles] == [not gone for gone in removed]
    for reader, said in zip(readers, (one, two), strict=True):
        rows = Feedback.objects.filter(profile_id=reader.pk, verdict=Verdict.LIKED)
        assert set(rows.values_list("article", flat=True)) == {key for key, yes in zip(articles, said, strict=True) if yes}
    assert set(rows.values_list("article", flat=True)) <= there
    assert ROUNDS // 50 < sum(removed) < ROUNDS - ROUNDS // 50  # both sides had their chance


def is_liked(reader: User, article_id: int, delay: float) -> bool:
    """Whether the like was answered as saved; the two errors are the API's 404."""
    time.sleep(delay)
    try:
        return apply_feedback(profile_id=reader.pk, article_id=article_id, wish=Wish(liked=True)).liked
    except (ObjectDoesNotExist, IntegrityError):
        return False


def is_pruned(article_id: int, delay: float) -> bool:
    """What `prune` does, with some time between the look and the removal."""
    if not prunable(ago(days=30)).filter(pk=article_id).exists():
        return False
    time.sleep(delay)
    return remove([article_id], ago(days=30)) == 1


@pytest.mark.django_db(transaction=True)
def test_an_order_kept_for_a_removed_article_is_forgotten_with_it(reader: User) -> None:
    article = old()
    apply_feedback(profile_id=reader.pk, article_id=article.pk, wish=Wish(liked=False), order=Order("client-01", 5))
    assert Feedback.objects.count() == 1
    assert prune(ago(days=30)) == 1
    assert not Feedback.objects.exists()
