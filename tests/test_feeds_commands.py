"""`fetch_feeds` and `preview_feed`, as an operator types them."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from django.core.management import call_command
from django.db import DataError, connection

from articles.feeds.subscriptions import default_feeds
from articles.models import Article, Feed
from tests.factories import FeedFactory
from tests.feeds.commands import Run
from tests.feeds.documents import item, rss
from tests.feeds.server import FeedServer, Reply

FEED_ERRORS = {
    "/html": (b"<!DOCTYPE html><p>Hello", "web page"),
    "/empty": (b"", "empty"),
    "/words": (b"no feed", "no feed that DevPick can read"),
    "/json": (b"{", "broken"),
}


@pytest.fixture
def server(settings: Any) -> Iterator[FeedServer]:
    settings.FEEDS_ALLOW_PRIVATE_ADDRESSES = True
    with FeedServer() as server:
        yield server


def last_errors() -> dict[str, str]:
    return {feed.url.rpartition("/")[2]: feed.last_error for feed in Feed.objects.all()}


# fetch_feeds


def test_an_address_that_is_no_feed_yet_is_added_and_fetched(server: FeedServer, db: None) -> None:
    url = server.serve("/feed", rss(item("One", "/1"), item("Two", "/2"), title="My feed"))
    run = Run(url)
    assert (run.status, run.err) == (0, "")
    assert run.out == "1 feed: 1 fetched, 0 unchanged, 0 failed; 2 new articles, 0 updated\n"
    assert list(Feed.objects.values_list("url", "title", "is_active", "last_error")) == [(url, "My feed", True, "")]
    assert set(Article.objects.values_list("url", flat=True)) == {server.url("/1"), server.url("/2")}


def test_an_address_that_cannot_be_read_is_not_added(server: FeedServer, db: None) -> None:
    known, mistyped = FeedFactory(url=server.url("/known")), server.url("/fed")
    run = Run(mistyped, known.url)
    assert run.status == 1
    assert f"{mistyped}: The server answers 404 Not Found. It was not added." in run.err.splitlines()
    assert list(Feed.objects.values_list("url", "failures")) == [(known.url, 1)]


def test_what_is_no_address_is_told_without_its_password(db: None) -> None:
    run = Run("http://me:secret@[")
    assert (run.status, "This is no web address" in run.err, "secret" in run.err) == (1, True, False)


def test_a_document_that_was_cut_off_is_asked_for_again_in_full(server: FeedServer, db: None) -> None:
    """Whatever its server says of changes: the rest would never come."""
    whole = rss(item("One", "/1"), item("Two", "/2"))
    url = server.serve("/feed", whole[: whole.index(b"Two")], ETag='"1"')
    Run(url)
    assert Article.objects.count() == 1
    server.serve("/feed", whole, ETag='"1"')
    assert Run().out == "1 feed: 1 fetched, 0 unchanged, 0 failed; 1 new article, 0 updated\n"
    assert "unchanged, 0 failed" in Run().out
    assert Feed.objects.get().etag == '"1"'


@pytest.mark.django_db(transaction=True)
def test_articles_that_cannot_be_stored_are_a_failure_of_their_feed_alone(server: FeedServer) -> None:
    good = FeedFactory(url=server.serve("/good", rss(item("Good", "/good/1"))))
    bad = FeedFactory(url=server.serve("/bad", rss(item("Bad", "/bad/1"))))

    def fail(execute: Any, sql: str, params: Any, *rest: Any) -> Any:
        if sql.startswith("INSERT") and "/bad/1" in str(params):
            raise DataError("this does not fit")
        return execute(sql, params, *rest)

    with connection.execute_wrapper(fail):
        run = Run()
    assert (run.status, run.err) == (1, f"{bad.url}: The articles could not be stored: this does not fit\n")
    good.refresh_from_db(), bad.refresh_from_db()
    assert (good.failures, bad.failures, bad.claimed_until) == (0, 1, None)
    assert Article.objects.count() == 1


def test_without_addresses_all_active_feeds_are_fetched_and_only_what_changed(server: FeedServer, db: None) -> None:
    server.serve("/same", rss(item("Same", "/same/1")), ETag='"1"')
    server.serve("/dated", rss(item("Dated", "/dated/1")), Last_Modified="Mon, 05 Jan 2026 10:00:00 GMT")
    server.serve("/grows", rss(item("Old", "/grows/1")), ETag='"1"')
    for path in ("/same", "/dated", "/grows"):
        FeedFactory(url=server.url(path))
    FeedFactory(url=server.url("/off"), is_active=False)
    assert Run().out == "3 feeds: 3 fetched, 0 unchanged, 0 failed; 3 new articles, 0 updated\n"
    server.serve("/grows", rss(item("New", "/grows/2"), item("Old, edited", "/grows/1")), ETag='"2"')
    assert Run().out == "3 feeds: 1 fetched, 2 unchanged, 0 failed; 1 new article, 1 updated\n"
    assert Run().out == "3 feeds: 0 fetched, 3 unchanged, 0 failed; 0 new articles, 0 updated\n"
    assert Article.objects.count() == 4
    assert not Feed.objects.get(url=server.url("/off")).last_fetched_at


def test_one_feeds_failure_never_stops_another(server: FeedServer, db: None) -> None:
    good = [server.serve(f"/good{n}", rss(item(f"Good {n}", f"/good/{n}"))) for n in range(3)]
    bad = {path: server.serve(path, body) for path, (body, _reason) in FEED_ERRORS.items()}
    server.replies["/gone"] = Reply(status=410)
    for url in [*bad.values(), server.url("/gone")]:
        FeedFactory(url=url)
    run = Run(*bad.values(), good[0], server.url("/gone"), *good[1:], "ftp://feed.example/")
    assert run.status == 1
    assert run.out == "9 feeds: 3 fetched, 0 unchanged, 6 failed; 3 new articles, 0 updated\n"
    lines = dict(line.split(": ", 1) for line in run.err.splitlines())
    assert set(lines) == {*bad.values(), server.url("/gone"), "ftp://feed.example/"}
    errors = last_errors()
    for path, (_body, reason) in FEED_ERRORS.items():
        assert reason in lines[bad[path]]
        assert lines[bad[path]] == errors[path[1:]]
    assert errors["gone"] == "The server answers 410 Gone: this feed was given up for good."
    assert [errors[f"good{n}"] for n in range(3)] == ["", "", ""]
    assert Article.objects.count() == 3


def test_a_feed_that_failed_keeps_its_articles_and_comes_back(server: FeedServer, db: None) -> None:
    url = server.serve("/feed", rss(item("One", "/1")), ETag='"1"')
    Run(url)
    server.replies["/feed"] = Reply(status=503)
    assert Run().status == 1
    assert (Article.objects.count(), last_errors()["feed"]) == (1, "The server answers 503 Service Unavailable.")
    server.serve("/feed", rss(item("One", "/1")), ETag='"1"')
    assert Run().status == 0
    assert last_errors()["feed"] == ""


def test_a_slow_feed_runs_out_of_time_and_the_others_do_not_wait(server: FeedServer, db: None) -> None:
    over = Event()
    server.replies["/slow"] = lambda handler: over.wait(30)
    quick = server.serve("/quick", rss(item("Quick", "/1")))
    run = Run(FeedFactory(url=server.url("/slow")).url, quick, timeout=0.5)
    over.set()
    assert run.out == "2 feeds: 1 fetched, 0 unchanged, 1 failed; 1 new article, 0 updated\n"
    assert last_errors()["slow"] == "No complete answer within 0.5 seconds."


def test_a_feed_removed_meanwhile_is_said(server: FeedServer, transactional_db: None) -> None:
    url = server.serve("/feed", rss(item()))

    def remove(handler: Any) -> None:
        Feed.objects.all().delete()
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(rss(item()))

    server.replies["/feed"] = remove
    run = Run(url)
    assert (run.status, run.err) == (1, f"{url}: The feed was removed meanwhile.\n")


def test_an_address_given_twice_is_fetched_once(server: FeedServer, db: None) -> None:
    url = server.serve("/feed", rss())
    assert Run(url, url).out.startswith("1 feed: 1 fetched")
    assert len(server.received) == 1


def test_with_no_feeds_it_says_how_to_get_some(db: None) -> None:
    run = Run()
    assert run.status == 0
    assert "fetch_feeds URL" in run.out


def test_the_default_list_is_added_once_and_what_is_switched_off_stays_so(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    feeds = list(default_feeds())
    assert 12 <= len(feeds) == len({url for url, _title in feeds})
    assert all(url.startswith("https://") and title for url, title in feeds)
    url, _title = feeds[0]
    Feed.objects.create(url=url, title="Renamed", is_active=False)
    for _run in range(2):
        Run("http://feed.invalid/", default_list=True, timeout=0.5)
    assert Feed.objects.count() == len(feeds)
    assert Feed.objects.get(url=url).title == "Renamed"
    assert not Feed.objects.get(url=url).is_active


def test_progress_is_for_terminals_only(server: FeedServer, db: None) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    call_command("fetch_feeds", server.serve("/a", rss()), server.serve("/b", rss()), stdout=terminal, no_color=True)
    assert terminal.getvalue().startswith("\r1/2\r2/2\n2 feeds: 2 fetched")


# preview_feed


def test_a_preview_as_json_is_one_object_a_line_in_order(tmp_path: Path, server: FeedServer) -> None:
    (tmp_path / "a.xml").write_bytes(rss(item("Größe", "https://feed.example/1", "g1", tags=("Web",)), title="A"))
    (tmp_path / "b.xml").write_bytes(b"<html>")
    url = server.serve("/feed", rss(item("Relative", "/r", date=None)))
    missing = str(tmp_path / "missing.xml")
    run = Run(str(tmp_path / "a.xml"), str(tmp_path / "b.xml"), url, missing, command="preview_feed", format="json")
    assert run.status == 1
    assert [json.loads(line) for line in run.out.splitlines()] == [
        {
            "source": str(tmp_path / "a.xml"),
            "error": None,
            "title": "A",
            "entries": [
                {
                    "title": "Größe",
                    "url": "https://feed.example/1",
                    "guid": "g1",
                    "published_at": "2026-01-05T10:00:00+00:00",
                    "tags": ["web"],
                }
            ],
        },
        {
            "source": str(tmp_path / "b.xml"),
            "error": "This is a web page, not a feed. Look there for the address of its RSS or Atom feed.",
            "title": "",
            "entries": [],
        },
        {
            "source": url,
            "error": None,
            "title": "Sample feed",
            "entries": [{"title": "Relative", "url": server.url("/r"), "guid": None, "published_at": None, "tags": []}],
        },
        {"source": missing, "error": "The file cannot be read: No such file or directory.", "title": "", "entries": []},
    ]


def test_the_content_type_gives_a_files_charset(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(rss(item("Привет")).decode().encode("windows-1251"))
    run = Run(str(tmp_path / "a.xml"), command="preview_feed", format="json", content_type="text/xml; charset=windows-1251")
    assert json.loads(run.out)["entries"][0]["title"] == "Привет"


def test_a_preview_for_people_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(rss(item("One", tags=("a", "b")), item("Two", None, date=None), title="A feed"))
    assert Run(str(tmp_path / "a.xml"), command="preview_feed").out == (
        "A feed: 2 entries\n"
        "  One\n    2026-01-05 10:00 #a #b\n    https://feed.example/story\n"
        "  Two\n    no date\n    no link, so it is not shown\n"
    )


def test_a_preview_stores_nothing(server: FeedServer, db: None) -> None:
    assert Run(server.serve("/feed", rss(item())), command="preview_feed").status == 0
    assert not Feed.objects.exists()


def test_a_preview_works_without_any_environment(tmp_path: Path) -> None:
    """The command line of a fresh checkout: no settings, no database."""
    (tmp_path / "a.xml").write_bytes(rss(item("日本語")))
    command = [sys.executable, "manage.py", "preview_feed", "--format", "json", str(tmp_path / "a.xml")]
    run = subprocess.run(command, env={"PATH": os.environ["PATH"], "LC_ALL": "C"}, capture_output=True, check=True)
    assert json.loads(run.stdout)["entries"][0]["title"] == "日本語"
