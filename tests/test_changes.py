"""GET /api/feedback/?since=: a follower's copy of a reader's verdicts."""

import random
from functools import partial
from threading import Event
from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from articles.models import Article, User
from feedback import own_api
from feedback.models import Feedback
from feedback.services import apply_feedback
from feedback.verdicts import Order, Wish
from tests.concurrency import at_once
from tests.conftest import client_of
from tests.factories import ArticleFactory

ADDRESS = "/api/feedback/"


def say(reader: User, article: Article, **wish: bool) -> None:
    apply_feedback(profile_id=reader.pk, article_id=article.pk, wish=Wish(**wish))


def change(row: Feedback, liked: bool = False, not_interested: bool = False) -> dict[str, Any]:
    assert row.marked_at
    said = {"article": row.article_id, "liked": liked, "not_interested": not_interested, "version": row.version}
    return said | {"marked_at": row.marked_at.isoformat().replace("+00:00", "Z")}


class Follower:
    """A client that keeps a copy of the verdicts and goes on from the last version it saw."""

    def __init__(self, client: APIClient) -> None:
        self.client, self.since, self.copy = client, 0, dict[int, tuple[bool, bool, int]]()

    def catch_up(self) -> None:
        address: str | None = f"{ADDRESS}?since={self.since}"
        while address:
            answer = self.client.get(address)
            assert answer.status_code == 200
            for row in answer.json()["results"]:
                assert row["version"] > self.since
                self.since = row["version"]
                self.copy[row["article"]] = (row["liked"], row["not_interested"], row["version"])
            address = answer.json()["next"]


def rows_of(reader: User) -> dict[int, tuple[bool, bool, int]]:
    rows = Feedback.objects.filter(profile_id=reader.pk, version__gt=0)
    return {row.article_id: (row.verdict == "liked", row.verdict == "not_interested", row.version) for row in rows}


@pytest.mark.parametrize("address", [ADDRESS, "/api/feedback"])
def test_changes_come_in_their_order_with_what_was_taken_back(
    reader: User, other_reader: User, api: APIClient, other_api: APIClient, address: str
) -> None:
    liked, refused, undone, never = ArticleFactory.create_batch(4)
    say(reader, liked, liked=True)
    say(reader, undone, liked=True)
    say(reader, refused, not_interested=True)
    say(reader, undone, liked=False)
    say(other_reader, liked, not_interested=True)
    # A row without a change: a request that only left its seq.
    apply_feedback(profile_id=reader.pk, article_id=never.pk, wish=Wish(liked=False), order=Order("client-1", 1))
    row = {row.article_id: row for row in Feedback.objects.filter(profile_id=reader.pk)}
    wanted = [change(row[liked.pk], liked=True), change(row[refused.pk], not_interested=True), change(row[undone.pk])]
    answer = api.get(address)
    assert answer.json() == {"results": wanted, "next": None}
    assert [list(found) for found in answer.json()["results"]] == [list(wanted[0])] * 3
    assert (answer["Cache-Control"], [found["version"] for found in wanted]) == ("no-store", [1, 3, 4])
    assert api.get(f"{address}?since=1").json() == {"results": wanted[1:], "next": None}
    assert api.get(f"{address}?since=4").json() == {"results": [], "next": None}
    assert [found["not_interested"] for found in other_api.get(address).json()["results"]] == [True]


def test_next_is_an_address_that_leads_through_all(
    reader: User, other_reader: User, api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_api, "PAGE_SIZE", 2)
    articles = ArticleFactory.create_batch(5)
    for article in articles:
        say(reader, article, liked=True)
        say(other_reader, article, not_interested=True)
    assert api.get(ADDRESS).json()["next"] == "http://testserver/api/feedback/?since=2"
    assert api.get(f"{ADDRESS}?since=3").json()["next"] is None
    follower = Follower(api)
    follower.catch_up()
    assert (follower.copy, list(follower.copy)) == (rows_of(reader), [article.pk for article in articles])


@pytest.mark.parametrize(
    "query", ["since=", "since=-1", "since=1.5", "since=x", "since=1&since=2", "since=" + "9" * 19, "since=１"]
)
def test_since_is_one_whole_number(api: APIClient, query: str) -> None:
    answer = api.get(f"{ADDRESS}?{query}")
    assert (answer.status_code, answer.json()["code"], list(answer.json()["errors"])) == (400, "invalid", ["since"])


def test_changes_need_a_reader_and_are_only_read(api: APIClient, anonymous_api: APIClient) -> None:
    assert anonymous_api.get(ADDRESS).status_code == 401
    assert api.head(ADDRESS).status_code == 200
    for method in ("post", "put", "delete"):
        answer = getattr(api, method)(ADDRESS)
        assert (answer.status_code, answer["Allow"], answer["Cache-Control"]) == (405, "GET, HEAD", "no-store")


def test_a_page_of_changes_is_two_statements(reader: User, api: APIClient, django_assert_num_queries: Any) -> None:
    for article in ArticleFactory.create_batch(3):
        say(reader, article, liked=True)
    with django_assert_num_queries(2):
        api.get(ADDRESS)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("patient_locks")
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer at a time")
def test_a_follower_under_eight_writers_has_every_row_at_every_quiet_moment(
    reader: User, other_reader: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Versions commit in their order: one that was skipped by a page would never come again."""
    monkeypatch.setattr(own_api, "PAGE_SIZE", 7)
    articles = ArticleFactory.create_batch(12)
    follower, client = Follower(client_of(reader)), client_of(other_reader)
    quiet = Event()

    def write(seed: int) -> None:
        dice = random.Random(seed)
        for _ in range(40):
            liked = dice.random() < 0.5
            say(reader, dice.choice(articles), liked=liked, not_interested=not liked and dice.random() < 0.6)

    def follow() -> None:
        while not quiet.is_set():
            follower.catch_up()

    def write_all(seeds: range) -> None:
        try:
            at_once([partial(write, seed) for seed in seeds])
        finally:
            quiet.set()

    for round_ in range(4):
        quiet.clear()
        at_once([follow, partial(write_all, range(round_ * 8, round_ * 8 + 8))])
        follower.catch_up()
        assert follower.copy == rows_of(reader)
    assert follower.since > 100
    assert client.get(ADDRESS).json()["results"] == []
