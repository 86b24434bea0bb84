"""The server killed, locked, starved and crowded: what was acknowledged is there, and every retry converges. PostgreSQL."""

import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from django.db import OperationalError, connection, connections

from articles.models import Article, Profile, User
from feedback.idempotency import Reply, answer_once
from feedback.models import Feedback, IdempotencyKey, Verdict
from feedback.services import apply_feedback
from feedback.verdicts import Wish
from tests.concurrency import at_once
from tests.conftest import client_of
from tests.factories import ArticleFactory, UserFactory, token_of
from tests.http_client import LOST, Answer, Client
from tests.live_server import LiveServer, database_url

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has one writer at a time"),
]


def like_count(article: Article) -> int:
    return Article.objects.get(pk=article.pk).like_count


def assert_counts_equal_rows() -> None:
    for article in Article.objects.all():
        assert article.like_count == article.feedback.filter(verdict=Verdict.LIKED).count()


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def sql(statement: str, *values: Any) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchone()[0]


def someone_waits_for_a_lock() -> bool:
    """By pg_locks: inside a transaction pg_stat_activity would go on telling what it told first."""
    return bool(sql("SELECT count(*) FROM pg_locks WHERE NOT granted"))


@contextmanager
def locked(article: Article) -> Iterator[None]:
    """The article's row as another transaction holds it."""
    holder = connections.create_connection("default")
    try:
        with holder.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("SELECT 1 FROM articles_article WHERE id = %s FOR UPDATE", [article.pk])
            yield
    finally:
        holder.close()


class TestOneKeyManyRequests:
    """Threads with one key around one winner, whose effect the test holds up."""

    @pytest.fixture(autouse=True)
    def nobody_refused(self) -> None:
        self.refused: list[OperationalError] = []

    def race(self, reader: User, winner: Callable[[], Reply], losers: int) -> tuple[list[Any], list[int]]:
        """The winner has the key before the others ask; their results (or errors), and who ran."""
        started, ran = threading.Event(), []

        def first() -> Reply:
            started.set()
            return winner()

        def other(n: int) -> Reply:
            ran.append(n)
            return Reply(200, f"run {n}")

        def call(n: int) -> Any:
            try:
                if n:
                    started.wait(10)
                return answer_once(
                    profile_id=reader.pk, key="the-one-key", fingerprint="f", action=partial(other, n) if n else first
                )
            except OperationalError as error:
                self.refused.append(error)
                return error
            except ZeroDivisionError as error:
                return error

        return at_once([partial(call, n) for n in range(losers + 1)]), ran

    @pytest.mark.usefixtures("patient_locks")
    def test_a_slow_winner_is_waited_for(self, reader: User, other_reader: User) -> None:
        def slow() -> Reply:
            wait_until(someone_waits_for_a_lock)
            return Reply(200, "the winner")

        results, ran = self.race(reader, slow, losers=5)
        assert ran == []
        assert [(reply.body, reply.replayed) for reply in results] == [("the winner", False)] + [("the winner", True)] * 5

    def test_a_winner_slower_than_the_lock_wait_is_not_waited_for(self, reader: User, other_reader: User) -> None:
        def very_slow() -> Reply:
            wait_until(lambda: len(self.refused) == 3)
            return Reply(200, "the winner")

        results, ran = self.race(reader, very_slow, losers=3)
        assert ran == []
        assert [type(result) for result in results[1:]] == [OperationalError] * 3
        assert results[0].body == "the winner"

    @pytest.mark.usefixtures("patient_locks")
    def test_a_winner_that_rolls_back_is_followed_by_exactly_one(self, reader: User, other_reader: User) -> None:
        def failing() -> Reply:
            wait_until(someone_waits_for_a_lock)
            raise ZeroDivisionError

        results, ran = self.race(reader, failing, losers=5)
        assert isinstance(results[0], ZeroDivisionError)
        assert len(ran) == 1
        assert {reply.body for reply in results[1:]} == {f"run {ran[0]}"}
        assert sorted(reply.replayed for reply in results[1:]) == [False] + [True] * 4


def test_past_the_lock_wait_it_is_503_and_nothing_is_lost(reader: User, other_reader: User, article: Article) -> None:
    api, url = client_of(reader), f"/api/articles/{article.pk}/like/"
    with locked(article):
        (refused,) = at_once([partial(api.put, url, {"liked": True}, format="json", HTTP_IDEMPOTENCY_KEY="tried-twice")])
    assert (refused.status_code, refused.json()["code"], refused["Retry-After"]) == (503, "unavailable", "2")
    assert not IdempotencyKey.objects.exists()
    again = api.put(url, {"liked": True}, format="json", HTTP_IDEMPOTENCY_KEY="tried-twice")
    assert (again.json()["changed"], again.json()["like_count"]) == (True, 1)


def test_a_held_article_delays_no_other_and_no_repeat(reader: User, other_reader: User, article: Article) -> None:
    apply_feedback(profile_id=reader.pk, article_id=article.pk, wish=Wish(liked=True))
    free = ArticleFactory()
    with locked(article):
        other, repeat = at_once(
            [
                partial(apply_feedback, profile_id=other_reader.pk, article_id=free.pk, wish=Wish(liked=True)),
                partial(apply_feedback, profile_id=reader.pk, article_id=article.pk, wish=Wish(liked=True)),
            ]
        )
    assert (other.changed, repeat.changed, repeat.like_count) == (True, False, 1)


class TestKilled:
    def test_before_the_commit_nothing_is_saved_and_the_retry_saves(self, reader: User, article: Article) -> None:
        with LiveServer() as server:
            client = Client(server.url, token_of(reader))
            with locked(article), ThreadPoolExecutor(1) as pool:
                sent = pool.submit(client.like, article.pk, {"liked": True}, **{"Idempotency-Key": "killed-before"})
                wait_until(someone_waits_for_a_lock)
                server.kill()
                assert isinstance(sent.exception(), LOST)
            wait_until(lambda: not Feedback.objects.exists())
            assert (IdempotencyKey.objects.count(), like_count(article)) == (0, 0)
            server.start()
            again = client.like(article.pk, {"liked": True}, **{"Idempotency-Key": "killed-before"})
        assert (again.status, again.json()["changed"], again.json()["like_count"]) == (200, True, 1)

    @pytest.mark.parametrize("method", ["PUT", "POST"])
    def test_after_the_commit_the_retry_finds_it_saved(
        self, reader: User, other_reader: User, article: Article, method: str
    ) -> None:
        """A desired state may be sent again bare; a toggle needs its key."""
        body = {"liked": True} if method == "PUT" else {}
        headers = {} if method == "PUT" else {"Idempotency-Key": "killed-after"}
        apply_feedback(profile_id=other_reader.pk, article_id=article.pk, wish=Wish(liked=True))
        with LiveServer() as server:
            client = Client(server.url, token_of(reader))
            client.send_and_hang_up(method, f"/api/articles/{article.pk}/like/", body, **headers)
            wait_until(lambda: like_count(article) == 2)
            server.kill()
            server.start()
            again = client.like(article.pk, body, method, **headers).json()
        assert (again["liked"], again["like_count"], again["version"]) == (True, 2, 1)
        assert again["changed"] is (method == "POST")  # a replay repeats the first answer
        assert_counts_equal_rows()

    def test_while_ten_clients_write_every_acknowledged_save_is_there(self) -> None:
        readers, articles = UserFactory.create_batch(10), ArticleFactory.create_batch(3)
        with LiveServer() as server:
            writers = [Writer(server.url, reader, articles) for reader in readers]
            with ThreadPoolExecutor(10) as pool:
                runs = [pool.submit(writer.write_until_lost) for writer in writers]
                wait_until(lambda: sum(len(writer.acknowledged) for writer in writers) > 60, 20)
                server.kill()
                for run in runs:
                    run.result(timeout=30)
            server.start()
            for writer in writers:
                writer.assert_acknowledged_saves_are_there()
            assert_counts_equal_rows()
            for writer in writers:
                writer.retry_what_was_lost()
            assert_counts_equal_rows()
            for writer in writers:
                writer.assert_scores_are_fresh()


class Writer:
    """One client that numbers its saves and remembers what was acknowledged and what was lost."""

    def __init__(self, url: str, reader: User, articles: list[Article]) -> None:
        self.client = Client(url, token_of(reader))
        self.reader, self.articles, self.random = reader, articles, random.Random(reader.pk)
        self.acknowledged: list[tuple[int, bool, int]] = []
        self.lost: tuple[int, dict[str, Any]] | None = None

    def write_until_lost(self) -> None:
        for seq in range(1, 100_000):
            article = self.random.choice(self.articles)
            body = {"liked": self.random.random() < 0.6, "not_interested": False, "client": "writer-1", "seq": seq}
            try:
                answer = self.client.like(article.pk, body)
            except LOST:
                self.lost = article.pk, body
                return
            if answer.status == 200:
                self.acknowledged.append((article.pk, bool(body["liked"]), seq))

    def row(self, article_id: int) -> Feedback:
        return Feedback.objects.get(profile_id=self.reader.pk, article_id=article_id)

    def assert_acknowledged_saves_are_there(self) -> None:
        for article_id, liked, seq in {
            article_id: (article_id, liked, seq) for article_id, liked, seq in self.acknowledged
        }.values():
            row = self.row(article_id)
            kept = dict(row.seen)["writer-1"]
            assert kept >= seq
            assert kept > seq or (row.verdict == Verdict.LIKED) is liked

    def retry_what_was_lost(self) -> None:
        assert self.lost is not None
        article_id, body = self.lost
        for _ in range(2):
            answer = self.client.like(article_id, body)
            assert (answer.status, answer.json()["liked"], answer.json()["stale"]) == (200, body["liked"], False)
        assert (self.row(article_id).verdict == Verdict.LIKED) is body["liked"]

    def assert_scores_are_fresh(self) -> None:
        cards = self.client.send("GET", "/api/articles/?view=for-you").json()["results"]
        likes = set(
            Feedback.objects.filter(profile_id=self.reader.pk, verdict=Verdict.LIKED).values_list("article_id", flat=True)
        )
        assert {card["id"] for card in cards if card["liked"]} == likes
        assert {card["match"] is None for card in cards} == {not likes}


def test_six_hundred_mixed_requests_on_three_articles() -> None:
    """No deadlock, nothing but 200 and 503, and no connection left idle in a transaction."""
    readers, articles = UserFactory.create_batch(6), ArticleFactory.create_batch(3)
    dice = random.Random(7)
    with LiveServer(workers=2) as server:
        clients = [Client(server.url, token_of(reader)) for reader in readers]

        def one(n: int) -> int:
            article, client = dice.choice(articles), clients[n % 6]
            kind = n % 5
            if kind == 0:
                return client.like(article.pk, None, "POST").status
            if kind == 1:
                return client.like(article.pk, {"liked": n % 2 == 0}, **{"Idempotency-Key": f"mixed-{n // 10:08}"}).status
            if kind == 2:
                return client.send("PUT", f"/api/articles/{article.pk}/not-interested/", {"not_interested": n % 3 == 0}).status
            if kind == 3:
                return client.send("GET", f"/api/articles/{article.pk}/like/").status
            return client.like(article.pk, {"liked": True, "client": "mixed-client", "seq": n}).status

        with ThreadPoolExecutor(12) as pool:
            statuses = list(pool.map(one, range(600)))
        idle = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%%' AND datname = current_database()"
        assert sql(idle) == 0
    assert set(statuses) <= {200, 422, 503}  # 422: two kinds of content met under one key
    assert statuses.count(503) < 60
    assert_counts_equal_rows()


def until_answered(send: Callable[[], Answer]) -> Answer:
    """A client sends again after a 503."""
    while (answer := send()).status == 503:
        pass
    return answer


def test_a_thousand_replays_from_eight_clients_change_once(reader: User, other_reader: User, article: Article) -> None:
    apply_feedback(profile_id=other_reader.pk, article_id=article.pk, wish=Wish(liked=True))
    with LiveServer(workers=2) as server:
        client = Client(server.url, token_of(reader))
        with ThreadPoolExecutor(8) as pool:
            send = partial(client.like, article.pk, {}, "POST", **{"Idempotency-Key": "a-thousand-times"})
            answers = [future.result() for future in [pool.submit(until_answered, send) for _ in range(1000)]]
    assert {answer.status for answer in answers} == {200}
    assert len({answer.body for answer in answers}) == 1
    assert sum("Idempotency-Replayed" in answer.headers for answer in answers) == 999
    assert Profile.objects.get(pk=reader.pk).interest_version == 1
    assert like_count(article) == 2


class TestStarved:
    def test_a_database_that_is_away(self, reader: User, article: Article) -> None:
        with LiveServer(DATABASE_URL="postgres://nobody:@/nothing?host=/nowhere") as server:
            answer = Client(server.url, token_of(reader)).like(article.pk, {"liked": True})
            page = Client(server.url, "").send("GET", "/")
        assert (answer.status, answer.json()["code"], answer.headers["Retry-After"]) == (503, "unavailable", "2")
        assert (page.status, page.headers["Retry-After"]) == (503, "2")
        assert b"Traceback" not in page.body

    def test_a_database_out_of_connections(self, reader: User, article: Article) -> None:
        with connection.cursor() as cursor:
            cursor.execute("CREATE ROLE starved LOGIN CONNECTION LIMIT 0")
        try:
            with LiveServer(DATABASE_URL=database_url().replace("postgres:@", "starved:@")) as server:
                answer = Client(server.url, token_of(reader)).like(article.pk, {"liked": True})
        finally:
            with connection.cursor() as cursor:
                cursor.execute("DROP ROLE starved")
        assert (answer.status, answer.json()["code"]) == (503, "unavailable")
        assert not Feedback.objects.exists()

    def test_a_cache_that_is_away(self, reader: User, article: Article) -> None:
        """The limits count there, so nothing is written; the page's script sends again by itself after a 503."""
        with LiveServer(CACHE_URL="redis://127.0.0.1:1/0") as server:
            client = Client(server.url, token_of(reader))
            answers = [client.like(article.pk, {"liked": True}), client.send("GET", "/"), client.send("GET", "/readyz")]
        assert [answer.status for answer in answers] == [503, 503, 503]
        assert answers[0].json()["code"] == "unavailable"
        assert not Feedback.objects.exists()
