"""Twenty at once: one change, right counts, whatever the order. Run on both databases."""

from functools import partial
from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from articles.models import Article, Profile, User
from feedback.counts import recount_likes
from feedback.models import Feedback, IdempotencyKey, Verdict
from feedback.services import FeedbackResult, apply_feedback
from feedback.verdicts import Order, Wish
from tests.concurrency import at_once
from tests.conftest import client_of
from tests.factories import ArticleFactory, UserFactory

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("patient_locks")]

LIKE, UNLIKE, HIDE = Wish(liked=True), Wish(liked=False), Wish(not_interested=True)
TOGGLE = Wish(toggle=Verdict.LIKED)


def save(user: User, article: Article, wish: Wish, order: Order | None = None) -> FeedbackResult:
    return apply_feedback(profile_id=user.pk, article_id=article.pk, wish=wish, order=order)


def assert_counts_equal_rows() -> None:
    for article in Article.objects.all():
        assert article.like_count == Feedback.objects.filter(article=article, verdict=Verdict.LIKED).count()


@pytest.mark.parametrize("round_", range(5))
def test_twenty_identical_saves_change_once(reader: User, other_reader: User, article: Article, round_: int) -> None:
    save(other_reader, article, LIKE)
    results = at_once([partial(save, reader, article, LIKE)] * 20)
    assert sorted(result.changed for result in results) == [False] * 19 + [True]
    assert {(r.liked, r.like_count, r.version) for r in results} == {(True, 2, 1)}
    assert Profile.objects.get(pk=reader.pk).interest_version == 1
    assert_counts_equal_rows()


def test_twenty_toggles_flip_twenty_times(reader: User, other_reader: User, article: Article) -> None:
    save(other_reader, article, LIKE)
    results = at_once([partial(save, reader, article, TOGGLE)] * 20)
    assert all(result.changed for result in results)
    assert sorted(result.version for result in results) == list(range(1, 21))
    assert {(r.liked, r.like_count) for r in results} == {(True, 2), (False, 1)}
    assert Feedback.objects.get(profile_id=reader.pk).verdict == Verdict.NONE
    assert_counts_equal_rows()


def test_opposite_saves_end_as_one_of_them(reader: User, other_reader: User, article: Article) -> None:
    save(other_reader, article, LIKE)
    results = at_once([partial(save, reader, article, wish) for wish in [LIKE, HIDE] * 10])
    versions = sorted(result.version for result in results if result.changed)
    assert versions == list(range(1, len(versions) + 1))
    assert Profile.objects.get(pk=reader.pk).interest_version == len(versions)
    assert_counts_equal_rows()


@pytest.mark.parametrize("round_", range(10))
def test_b07_two_removals_of_one_like_remove_it_once(reader: User, other_reader: User, article: Article, round_: int) -> None:
    save(reader, article, LIKE)
    save(other_reader, article, LIKE)
    results = at_once([partial(save, reader, article, UNLIKE)] * 2)
    assert sorted(result.changed for result in results) == [False, True]
    assert {result.like_count for result in results} == {1}
    assert_counts_equal_rows()


def test_b31_twenty_requests_of_one_reader_never_fail(reader: User, other_reader: User, article: Article) -> None:
    url, token = f"/api/articles/{article.pk}/like/", client_of(reader)
    clients = [client_of(reader) for _ in range(20)]
    answers = at_once([partial(client.put, url, {"liked": True}, format="json") for client in clients])
    assert {answer.status_code for answer in answers} == {200}
    assert sorted(answer.json()["changed"] for answer in answers) == [False] * 19 + [True]
    assert {answer.json()["like_count"] for answer in answers} == {1}
    assert Feedback.objects.count() == 1
    assert token.get(url).json()["liked"] is True


@pytest.mark.parametrize("round_", range(10))
def test_b33_two_old_clients_toggle_one_after_the_other(reader: User, other_reader: User, article: Article, round_: int) -> None:
    save(other_reader, article, LIKE)
    results = at_once([partial(save, reader, article, TOGGLE)] * 2)
    assert sorted((r.liked, r.like_count, r.changed) for r in results) == [(False, 1, True), (True, 2, True)]
    assert Feedback.objects.filter(profile_id=reader.pk).count() == 1


def test_many_readers_like_one_article(article: Article) -> None:
    readers = UserFactory.create_batch(20)
    results = at_once([partial(save, reader, article, LIKE) for reader in readers])
    assert sorted(result.like_count for result in results) == list(range(1, 21))
    assert_counts_equal_rows()


def test_one_reader_likes_many_articles_and_every_version_is_given_once(reader: User) -> None:
    articles = ArticleFactory.create_batch(20)
    results = at_once([partial(save, reader, article, LIKE) for article in articles])
    assert sorted(result.version for result in results) == list(range(1, 21))
    assert_counts_equal_rows()


def test_the_newest_seq_wins_whatever_arrives_last(reader: User, other_reader: User, article: Article) -> None:
    save(other_reader, article, LIKE)
    wishes = [
        Wish(liked=True, not_interested=False),
        Wish(liked=False, not_interested=False),
        Wish(liked=False, not_interested=True),
    ]
    sends = [partial(save, reader, article, wishes[seq % 3], Order("browser-1", seq)) for seq in range(21)]
    results = at_once(sends)
    last = Feedback.objects.get(profile_id=reader.pk)
    assert (last.verdict, last.seen) == (Verdict.NOT_INTERESTED, [["browser-1", 20]])
    assert sum(result.changed for result in results) == Profile.objects.get(pk=reader.pk).interest_version
    assert_counts_equal_rows()


def test_recounts_beside_saves_leave_the_truth(article: Article) -> None:
    readers = UserFactory.create_batch(10)
    Article.objects.update(like_count=33)
    at_once([partial(save, reader, article, LIKE) for reader in readers] + [partial(recount_likes, article.pk)] * 5)
    recount_likes(article.pk)
    assert_counts_equal_rows()


class TestKeys:
    def send(self, user: User, article: Article, key: str, body: Any = None) -> Any:
        client: APIClient = client_of(user)
        return partial(client.post, f"/api/articles/{article.pk}/like/", body or {}, format="json", HTTP_IDEMPOTENCY_KEY=key)

    @pytest.mark.parametrize("body", [{}, {"liked": True}])
    def test_twenty_with_one_key_have_one_effect(self, reader: User, other_reader: User, article: Article, body: Any) -> None:
        save(other_reader, article, LIKE)
        answers = at_once([self.send(reader, article, "one-key-for-all", body) for _ in range(20)])
        assert {answer.status_code for answer in answers} == {200}
        assert len({answer.content for answer in answers}) == 1
        assert sum(answer.has_header("Idempotency-Replayed") for answer in answers) == 19
        assert (answers[0].json()["liked"], answers[0].json()["like_count"]) == (True, 2)
        assert Profile.objects.get(pk=reader.pk).interest_version == 1
        assert_counts_equal_rows()

    def test_twenty_keys_change_once(self, reader: User, other_reader: User, article: Article) -> None:
        answers = at_once([self.send(reader, article, f"key-number-{n}", {"liked": True}) for n in range(20)])
        assert sorted(answer.json()["changed"] for answer in answers) == [False] * 19 + [True]
        assert not any(answer.has_header("Idempotency-Replayed") for answer in answers)
        assert IdempotencyKey.objects.count() == 20

    def test_two_readers_with_one_key_have_two_effects(self, reader: User, other_reader: User, article: Article) -> None:
        answers = at_once([self.send(user, article, "the-same-key") for user in (reader, other_reader)])
        assert sorted(answer.json()["like_count"] for answer in answers) == [1, 2]
        assert not any(answer.has_header("Idempotency-Replayed") for answer in answers)

    def test_b64_an_expired_key_is_new_for_one_of_twenty(
        self, reader: User, other_reader: User, article: Article, time_machine: Any
    ) -> None:
        self.send(reader, article, "an-old-key-1", {"liked": True})()
        IdempotencyKey.objects.update(created_at="2020-01-01T00:00Z")
        answers = at_once([self.send(reader, article, "an-old-key-1") for _ in range(20)])
        assert {answer.status_code for answer in answers} == {200}
        assert sum(answer.has_header("Idempotency-Replayed") for answer in answers) == 19
        assert {answer.json()["liked"] for answer in answers} == {False}
        assert_counts_equal_rows()


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has one writer at a time")
def test_a_slow_save_of_one_article_delays_no_other(reader: User, other_reader: User) -> None:
    held, free = ArticleFactory.create_batch(2)
    with connection.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("SELECT 1 FROM articles_article WHERE id = %s FOR UPDATE", [held.pk])
        (result,) = at_once([partial(save, other_reader, free, LIKE)])
        cursor.execute("ROLLBACK")
    assert result.changed
