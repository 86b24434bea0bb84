"""Several fetchers on one database: who fetches which feed, and what becomes of the feeds of one that was killed."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler
from threading import Event, Lock
from typing import Any

import pytest
from django.utils import timezone

from articles.feeds.claims import active_feeds, claim, unfetched
from articles.models import Article, Feed
from tests.concurrency import at_once
from tests.factories import FeedFactory
from tests.feeds.commands import Run
from tests.feeds.documents import item, rss
from tests.feeds.server import FeedServer, Reply, answer
from tests.live_server import database_url

FEEDS = 100


@pytest.fixture
def server(settings: Any) -> Iterator[FeedServer]:
    settings.FEEDS_ALLOW_PRIVATE_ADDRESSES = True
    with FeedServer() as server:
        yield server


def test_a_claimed_feed_is_nobody_elses_until_the_claim_expires(db: None) -> None:
    feeds = [FeedFactory(), FeedFactory()]
    claimed = [claim(active_feeds(timezone.now()), [], timeout=30) for _claim in range(3)]
    assert claimed == [*feeds, None]
    Feed.objects.filter(pk=feeds[1].pk).update(claimed_until=timezone.now() - timedelta(seconds=1))
    assert claim(active_feeds(timezone.now()), [], timeout=30) == feeds[1]


def test_who_waited_longest_comes_first(db: None) -> None:
    now = timezone.now()
    yesterday, new, today = (FeedFactory(last_fetched_at=at) for at in (now - timedelta(days=1), None, now))
    feeds = unfetched(active_feeds(now), since=now)
    assert [claim(feeds, [], timeout=30) for _claim in range(3)] == [new, yesterday, None]
    assert today.last_fetched_at == now


def test_a_busy_host_waits(db: None) -> None:
    busy = FeedFactory(url="https://blog.example/a")
    FeedFactory(url="http://BLOG.example:8080/b")
    other = FeedFactory(url="https://other.example/c")
    feeds = active_feeds(timezone.now())
    assert claim(feeds, [], timeout=30) == busy
    assert claim(feeds, ["blog.example"], timeout=30) == other
    assert claim(feeds, ["blog.example", "other.example"], timeout=30) is None


def test_switched_off_and_resting_feeds_are_not_claimed(db: None) -> None:
    now = timezone.now()
    FeedFactory(is_active=False)
    FeedFactory(next_try_at=now + timedelta(seconds=1))
    rested = FeedFactory(next_try_at=now)
    assert claim(active_feeds(now), [], timeout=30) == rested
    assert claim(active_feeds(now), [], timeout=30) is None


@pytest.mark.django_db(transaction=True)
def test_claims_made_at_once_never_name_one_feed_twice() -> None:
    for _feed in range(12):
        FeedFactory()

    def claim_three() -> list[Feed | None]:
        return [claim(active_feeds(timezone.now()), [], timeout=30) for _claim in range(3)]

    claimed = [feed for feeds in at_once([claim_three] * 4) for feed in feeds if feed]
    assert len(claimed) == len({feed.pk for feed in claimed})
    # A row that is being claimed is skipped, not waited for: whoever finds none now asks again when a feed has landed.
    assert len(claimed) >= 9


@pytest.mark.django_db(transaction=True)
def test_one_host_is_asked_one_thing_at_a_time(server: FeedServer) -> None:
    guard, flying, most = Lock(), Counter[str](), Counter[str]()

    def slow(handler: BaseHTTPRequestHandler) -> None:
        host = handler.headers["Host"].split(":")[0]
        with guard:
            flying[host] += 1
            most[host], most["all"] = max(most[host], flying[host]), max(most["all"], flying.total())
        time.sleep(0.05)
        with guard:
            flying[host] -= 1
        answer(handler, Reply(rss()))

    for n in range(6):
        server.replies[f"/{n}"] = slow
        FeedFactory(url=server.url(f"/{n}").replace("127.0.0.1", "localhost" if n % 2 else "127.0.0.1"))
    assert Run().out.startswith("6 feeds: 6 fetched")
    assert most == {"127.0.0.1": 1, "localhost": 1, "all": 2}


@pytest.mark.django_db(transaction=True)
def test_a_feed_that_another_run_has_is_left_to_it(server: FeedServer) -> None:
    url = server.serve("/feed", rss(item()))
    FeedFactory(url=url, claimed_until=timezone.now() + timedelta(minutes=1))
    for run in (Run(), Run(url)):
        assert run.out == "0 feeds: 0 fetched, 0 unchanged, 0 failed; 0 new articles, 0 updated; 1 left to another run\n"
    assert server.received == []


def fetcher(*urls: str) -> subprocess.Popen[bytes]:
    environment = os.environ | {"DATABASE_URL": database_url(), "FEEDS_ALLOW_PRIVATE_ADDRESSES": "true"}
    return subprocess.Popen(
        [sys.executable, "manage.py", "fetch_feeds", *urls], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


@pytest.mark.django_db(transaction=True)
def test_a_run_that_is_interrupted_leaves_its_feeds_to_the_next_and_keeps_no_address_it_did_not_read(server: FeedServer) -> None:
    both, over = Event(), Event()

    def hang(handler: BaseHTTPRequestHandler) -> None:
        if len(server.received) == 2:
            both.set()
        over.wait(30)

    server.replies["/known"] = server.replies["/mistyped"] = hang
    known = FeedFactory(url=server.url("/known"))
    run = fetcher(known.url, server.url("/mistyped").replace("127.0.0.1", "localhost"))
    assert both.wait(30)
    run.send_signal(signal.SIGINT)
    over.set()
    output = run.communicate(timeout=30)[0].decode()
    assert (run.returncode, output) == (130, "Stopped. What was fetched until then is stored.\n")
    assert list(Feed.objects.values_list("pk", "claimed_until", "failures")) == [(known.pk, None, 0)]


@pytest.mark.django_db(transaction=True)
def test_two_fetchers_and_one_killed_in_the_middle_store_every_article_once(server: FeedServer) -> None:
    half = Event()

    def feed_reply(n: int) -> Any:
        document = rss(*[item(f"Story {k} of {n}", f"https://blog{n}.example/{k}", f"{k}") for k in range(3)])

        def reply(handler: BaseHTTPRequestHandler) -> None:
            if len(server.received) >= FEEDS // 2:
                half.set()
            time.sleep(0.01)
            answer(handler, Reply(document, headers={"ETag": f'"{n}"'}))

        return reply

    for n in range(FEEDS):
        server.replies[f"/{n}"] = feed_reply(n)
        FeedFactory(url=server.url(f"/{n}").replace("127.0.0.1", "localhost" if n % 2 else "127.0.0.1"))
    first, second = fetcher(), fetcher()
    assert half.wait(30)
    first.send_signal(signal.SIGKILL)
    first.wait(30)
    output = second.communicate(timeout=60)[0].decode()
    left = Feed.objects.filter(last_fetched_at=None)
    assert (second.returncode, left.count() <= 2) == (0, True), output  # what the killed one had in flight, one of each host
    left.update(claimed_until=timezone.now())  # its claims expire
    assert Run().status == 0
    assert not Feed.objects.exclude(claimed_until=None, last_error="", failures=0).exists()
    assert not Feed.objects.filter(last_fetched_at=None).exists()
    assert sorted(Article.objects.values_list("url", flat=True)) == sorted(
        f"https://blog{n}.example/{k}" for n in range(FEEDS) for k in range(3)
    )
