"""A feed that fails, rests, is probed and comes back; one that is gone; one that moved."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from articles.feeds import FeedError
from articles.feeds.health import note_failure
from articles.feeds.moves import move
from articles.models import Article, Feed
from feedback.models import Feedback
from tests.factories import ArticleFactory, FeedbackFactory, FeedFactory
from tests.feeds.commands import Run
from tests.feeds.documents import item, rss
from tests.feeds.server import FeedServer, Reply


@pytest.fixture
def server(settings: Any) -> Iterator[FeedServer]:
    settings.FEEDS_ALLOW_PRIVATE_ADDRESSES = True
    with FeedServer() as server:
        yield server


def later(**span: float) -> Any:
    return time_machine.travel(timezone.now() + timedelta(**span), tick=True)


# Repeats within one run


def test_a_feed_that_fails_for_a_moment_is_asked_again_in_the_same_run(server: FeedServer, db: None) -> None:
    server.replies["/feed"] = [Reply(status=503), Reply(rss(item()))]
    run = Run(server.url("/feed"))
    assert (run.status, run.out) == (0, "1 feed: 1 fetched, 0 unchanged, 0 failed; 1 new article, 0 updated\n")
    assert len(server.received) == 2


def test_retry_after_is_honoured(server: FeedServer, db: None) -> None:
    server.replies["/feed"] = [Reply(status=429, headers={"Retry-After": "1"}), Reply(rss(item()))]
    start = timezone.now()
    assert Run(server.url("/feed")).status == 0
    assert timezone.now() - start >= timedelta(seconds=1)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 501])
def test_what_another_try_cannot_mend_is_asked_once(server: FeedServer, db: None, status: int) -> None:
    server.replies["/feed"] = Reply(status=status)
    assert Run(server.url("/feed")).status == 1
    assert len(server.received) == 1


def test_a_server_that_asks_for_an_hour_is_left_alone_for_it(server: FeedServer, db: None) -> None:
    server.replies["/feed"] = Reply(status=503, headers={"Retry-After": "3600"})
    url = FeedFactory(url=server.url("/feed")).url
    assert "It rests until 20" in Run(url).err
    assert len(server.received) == 1
    assert Run().out == "0 feeds: 0 fetched, 0 unchanged, 0 failed; 0 new articles, 0 updated; 1 resting after failures\n"
    with later(minutes=61):
        Run()
    assert len(server.received) == 2


# The circuit breaker


def failing(server: FeedServer, times: int) -> Feed:
    """A feed that failed so often in a row."""
    server.replies["/feed"] = Reply(status=404)
    FeedFactory(url=server.url("/feed"))
    for _failure in range(times):
        Run()
    return Feed.objects.get(url=server.url("/feed"))


def test_after_three_failures_a_feed_rests_and_the_run_says_so(server: FeedServer, db: None) -> None:
    well = FeedFactory(url=server.serve("/well", rss(item())))
    failing(server, 2)
    run = Run()
    assert "The server answers 404 Not Found. Failed 3 times in a row, it rests until 20" in run.err
    asked = len(server.received)
    run = Run()
    assert (run.status, len(server.received)) == (0, asked + 1)
    assert run.out.endswith("; 1 resting after failures\n")
    well.refresh_from_db()
    assert (well.failures, well.next_try_at) == (0, None)


def test_pauses_grow_while_the_probes_fail(server: FeedServer, transactional_db: None) -> None:
    feed = failing(server, 3)
    pauses = []
    for _probe in range(3):
        assert feed.next_try_at is not None
        with time_machine.travel(feed.next_try_at + timedelta(seconds=1), tick=True):
            now = timezone.now()
            Run()
            feed.refresh_from_db()
            assert feed.next_try_at is not None
            pauses.append(round((feed.next_try_at - now) / timedelta(hours=1)))
    assert pauses == [2, 4, 8]
    assert len(server.received) == 6


def test_a_probe_is_one_question_and_its_success_closes_the_breaker(server: FeedServer, db: None) -> None:
    failing(server, 3)
    server.replies["/feed"] = Reply(status=503)
    with later(hours=2):
        assert Run().status == 1
    assert len(server.received) == 4
    server.serve("/feed", rss(item()))
    with later(hours=5):
        assert Run().status == 0
    feed = Feed.objects.get()
    assert (feed.failures, feed.next_try_at, feed.last_error, feed.claimed_until) == (0, None, "", None)
    assert Article.objects.count() == 1


def test_who_names_a_feed_does_not_wait_for_its_rest(server: FeedServer, db: None) -> None:
    feed = failing(server, 3)
    server.serve("/feed", rss(item()))
    assert Run(feed.url).status == 0
    assert Feed.objects.get().failures == 0


def test_a_feed_that_is_gone_is_switched_off_and_keeps_its_articles(server: FeedServer, db: None) -> None:
    url = server.serve("/feed", rss(item()))
    Run(url)
    server.replies["/feed"] = Reply(status=410)
    run = Run()
    assert run.err == f"{url}: The server answers 410 Gone: this feed was given up for good. It is switched off.\n"
    assert (Feed.objects.get().is_active, Article.objects.count()) == (False, 1)
    assert "no active feeds" in Run().out
    assert len(server.received) == 2


# Moves


@pytest.mark.parametrize("status", [301, 308])
def test_a_permanent_redirect_moves_the_address_and_doubles_nothing(server: FeedServer, db: None, status: int) -> None:
    old = server.serve("/old", rss(item("One", "/1", "g1")))
    Run(old)
    new = server.serve("/new", rss(item("One", "/1", "g1"), item("Two", "/2", "g2")))
    server.redirect("/old", "/new", status)
    run = Run()
    assert run.out == "1 feed: 1 fetched, 0 unchanged, 0 failed; 1 new article, 0 updated\n"
    assert Feed.objects.get().url == new
    assert Article.objects.count() == 2


@pytest.mark.parametrize("status", [302, 303, 307])
def test_a_temporary_redirect_moves_nothing(server: FeedServer, db: None, status: int) -> None:
    server.serve("/new", rss(item()))
    old = server.redirect("/old", "/new", status)
    assert Run(old).status == 0
    assert Feed.objects.get().url == old


def test_behind_a_temporary_redirect_no_move_counts(server: FeedServer, db: None) -> None:
    server.serve("/there", rss(item()))
    server.redirect("/middle", "/there", 301)
    server.redirect("/detour", "/middle", 302)
    old = server.redirect("/old", "/detour", 301)
    assert Run(old).status == 0
    assert Feed.objects.get().url == server.url("/detour")


def test_a_redirect_to_what_is_no_feed_moves_nothing(server: FeedServer, db: None) -> None:
    server.serve("/login", b"<!doctype html><title>Log in</title>")
    old = FeedFactory(url=server.redirect("/old", "/login", 301)).url
    assert Run(old).status == 1
    assert Feed.objects.get().url == old


def test_a_feed_that_moves_to_another_becomes_one_with_it_and_no_like_is_lost(server: FeedServer, db: None) -> None:
    both = (item("One", "/1", "g1"), item("Two", "/2", "g2"))
    old, new = server.serve("/old", rss(both[0])), server.serve("/new", rss(both[1]))
    Run(old, new)
    like = FeedbackFactory(article=Article.objects.get(guid="g1"))
    server.serve("/new", rss(*both))
    server.redirect("/old", "/new", 301)
    Run()
    feed = Feed.objects.get()
    assert (feed.url, feed.is_active, Article.objects.filter(feed=feed).count()) == (new, True, 2)
    assert Feedback.objects.get(article__guid="g1") == like
    assert Run().out.startswith("1 feed: 1 fetched")


def test_an_address_that_cannot_be_kept_is_not_moved_to(db: None) -> None:
    feed = FeedFactory()
    before = feed.url
    assert move(feed, "https://feed.example/" + "a" * 2000) == feed
    assert (feed.url, Feed.objects.get().url) == (before, before)


def test_the_other_feeds_articles_stay_where_they_are(db: None) -> None:
    feed, there = FeedFactory(), FeedFactory()
    other = ArticleFactory()
    mine = ArticleFactory(feed=feed)
    assert move(feed, there.url) == there
    mine.refresh_from_db()
    other.refresh_from_db()
    assert (mine.feed, other.feed == there) == (there, False)


def test_a_failure_of_a_feed_removed_meanwhile_is_no_error(db: None) -> None:
    feed = FeedFactory()
    Feed.objects.all().delete()
    note_failure(feed, FeedError("Too late."), timezone.now())
    assert not Feed.objects.exists()
