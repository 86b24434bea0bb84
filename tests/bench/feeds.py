"""What a run of `fetch_feeds` costs: a thousand feeds for the first time, unchanged, and with two hundred of them changed."""

import io
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter, process_time
from typing import Any

from django.core.management import call_command
from django.db import connection
from django.test.utils import override_settings
from django.utils import timezone

from articles.feeds.parse import parse
from articles.feeds.store import store
from articles.models import Feed
from tests.bench.feed_server import document
from tests.bench.report import bound, timed
from tests.factories import FeedFactory

FEEDS, ITEMS, CHANGED, SAMPLES = 1000, 30, 200, 30
MOST_STATEMENTS = {"stored": 10, "unchanged": 4}  # of one feed, its claim included


def bench_feeds() -> None:
    Feed.objects.update(is_active=False)  # those of the other benchmarks
    print(f"Fetching {FEEDS} feeds of {ITEMS} items from a local server")
    with feed_server() as port, override_settings(FEEDS_ALLOW_PRIVATE_ADDRESSES=True):
        hosts = ("127.0.0.1", "localhost")  # one question at a time to each
        Feed.objects.bulk_create(FeedFactory.build(url=f"http://{hosts[n % 2]}:{port}/{n}") for n in range(FEEDS))
        run = report_run("all new", stored=FEEDS)
        report_shares(run)
        report_run("unchanged (304)", stored=0)
        urllib.request.urlopen(f"http://127.0.0.1:{port}/change/{CHANGED}").close()
        report_run(f"{CHANGED} changed", stored=CHANGED)


@contextmanager
def feed_server() -> Iterator[int]:
    command = [sys.executable, "-m", "tests.bench.feed_server", str(ITEMS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline())
        finally:
            server.kill()


class Statements:
    """Counts what is executed, whoever does it."""

    count = 0

    def __call__(self, execute: Any, *arguments: Any) -> Any:
        self.count += 1
        return execute(*arguments)


def report_run(name: str, *, stored: int) -> float:
    """CPU milliseconds of one feed."""
    counter, out = Statements(), io.StringIO()
    start, cpu = perf_counter(), process_time()
    with connection.execute_wrapper(counter):
        call_command("fetch_feeds", stdout=out)
    seconds, used = perf_counter() - start, process_time() - cpu
    assert f"{FEEDS} feeds: {stored} fetched, {FEEDS - stored} unchanged, 0 failed" in out.getvalue(), out.getvalue()
    print(f"  {name:24} {FEEDS / used:6.0f} feeds per CPU second, {seconds:5.1f} s, {counter.count / FEEDS:.2f} statements each")
    allowed = stored * MOST_STATEMENTS["stored"] + (FEEDS - stored) * MOST_STATEMENTS["unchanged"]
    bound(f"statements, {name}", counter.count, allowed, f"{counter.count:6d}")
    return used * 1000 / FEEDS


def report_shares(whole: float) -> None:
    """Parser and store by themselves, as parts of what a new feed costs."""
    documents = [document(FEEDS + n, 0, ITEMS) for n in range(SAMPLES)]
    parsed = [parse(body) for body in documents]
    feeds: list[Feed] = [FeedFactory(is_active=False) for _feed in documents]
    reading = timed(lambda: [parse(body) for body in documents], 1) / SAMPLES
    start = process_time()
    for feed, one in zip(feeds, parsed, strict=True):
        store(feed, one, now=timezone.now())
    storing = (process_time() - start) * 1000 / SAMPLES
    parts = f"parser {reading:.1f} ({reading / whole:.0%}), store {storing:.1f} ({storing / whole:.0%})"
    print(f"  of {whole:.1f} ms CPU for a new feed: {parts}")
