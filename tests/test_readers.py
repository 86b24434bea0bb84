"""Readers come and go, and every like count stays the number of its like rows."""

from functools import partial
from threading import Event

import pytest
from django.db import IntegrityError, connection
from rest_framework.test import APIClient

from articles.models import ApiToken, Article, Profile, User
from feedback.idempotency import Reply, answer_once
from feedback.models import Feedback, IdempotencyKey, Verdict
from feedback.readers import NameTaken, delete_account, sign_up
from feedback.services import apply_feedback
from feedback.verdicts import Wish
from tests.concurrency import at_once
from tests.factories import PASSWORD, ArticleFactory, UserFactory, token_of
from tests.test_under_fire import someone_waits_for_a_lock, wait_until


def mark(user: User, article: Article, *, liked: bool = True) -> None:
    apply_feedback(profile_id=user.pk, article_id=article.pk, wish=Wish(liked, not liked))


def counts_and_rows() -> list[tuple[int, int]]:
    """(count, like rows) of every article by id."""
    counts = Article.objects.order_by("pk").values_list("pk", "like_count")
    return [(count, Feedback.objects.filter(article=key, verdict=Verdict.LIKED).count()) for key, count in counts]


def test_a_new_reader_can_be_recognised_by_password(db: None) -> None:
    user = sign_up(username="mika", password=PASSWORD)
    assert (User.objects.get(username="mika"), user.check_password(PASSWORD), user.email) == (user, True, "")


def test_a_name_that_is_taken_makes_no_second_reader(db: None) -> None:
    sign_up(username="mika", password=PASSWORD)
    with pytest.raises(NameTaken):
        sign_up(username="mika", password=PASSWORD)
    assert User.objects.count() == 1


def test_deleting_a_reader_takes_their_likes_and_nothing_else(reader: User, other_reader: User) -> None:
    shared, own, hidden, _untouched = ArticleFactory.create_batch(4)
    for article in (shared, own):
        mark(reader, article)
    mark(reader, hidden, liked=False)
    for article in (shared, hidden):
        mark(other_reader, article)
    for user in (reader, other_reader):
        token_of(user)
    delete_account(reader.pk)
    assert counts_and_rows() == [(1, 1), (0, 0), (1, 1), (0, 0)]
    assert list(User.objects.all()) == [other_reader]
    left = [list(model.objects.values_list(key, flat=True)) for model, key in ((Profile, "pk"), (ApiToken, "user"))]
    assert left == [[other_reader.pk], [other_reader.pk]]
    assert set(Feedback.objects.values_list("profile", "article")) == {(other_reader.pk, a.pk) for a in (shared, hidden)}


def test_deleting_a_reader_who_never_said_anything(reader: User, other_reader: User, article: Article) -> None:
    mark(other_reader, article)
    delete_account(reader.pk)
    assert (counts_and_rows(), list(User.objects.all())) == ([(1, 1)], [other_reader])


def test_deleting_twice_is_deleting_once(reader: User, other_reader: User, article: Article) -> None:
    for user in (reader, other_reader):
        mark(user, article)
    for _ in range(2):
        delete_account(reader.pk)
    assert counts_and_rows() == [(1, 1)]


def test_a_readers_idempotency_keys_go_too(api: APIClient, reader: User, article: Article) -> None:
    address = f"/api/articles/{article.pk}/like/"
    api.put(address, {"liked": True}, format="json", HTTP_IDEMPOTENCY_KEY="key-of-reader")
    assert IdempotencyKey.objects.count() == 1
    delete_account(reader.pk)
    assert IdempotencyKey.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_two_deletions_of_one_reader_at_once_count_once() -> None:
    reader, other = UserFactory.create_batch(2)
    for article in ArticleFactory.create_batch(3):
        for user in (reader, other):
            mark(user, article)
    at_once([partial(delete_account, reader.pk)] * 2)
    assert counts_and_rows() == [(1, 1)] * 3


@pytest.mark.django_db(transaction=True)
def test_many_readers_leave_at_once() -> None:
    articles = ArticleFactory.create_batch(10)
    readers = UserFactory.create_batch(6)
    for number, user in enumerate(readers):
        for article in articles if number % 2 else reversed(articles):
            mark(user, article)
    at_once([partial(delete_account, user.pk) for user in readers[1:]])
    assert counts_and_rows() == [(1, 1)] * 10
    assert list(User.objects.all()) == [readers[0]]


@pytest.mark.django_db(transaction=True)
def test_saves_beside_a_deletion_leave_no_like_behind() -> None:
    for _ in range(5):
        reader, other = UserFactory.create_batch(2)
        liked, new = ArticleFactory.create_batch(2)
        mark(reader, liked)
        saves = [partial(save_if_still_there, user, article) for user in (reader, other) for article in (liked, new)]
        at_once([partial(delete_account, reader.pk), *saves])
        assert not User.objects.filter(pk=reader.pk).exists()
    assert counts_and_rows() == [(1, 1)] * 10


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one lock, for which nobody can wait twice")
@pytest.mark.django_db(transaction=True)
def test_a_save_with_a_key_and_a_deletion_do_not_wait_for_each_other() -> None:
    (reader, other), article, saved = UserFactory.create_batch(2), ArticleFactory(), Event()
    for user in (reader, other):
        mark(user, article)

    def save_slowly() -> Reply:
        mark(reader, article, liked=False)
        saved.set()
        wait_until(someone_waits_for_a_lock)
        return Reply(200, "{}")

    def save() -> None:
        answer_once(profile_id=reader.pk, key="key-of-reader", fingerprint="", action=save_slowly)

    def delete() -> None:
        assert saved.wait(10)
        delete_account(reader.pk)

    at_once([save, delete])
    assert (counts_and_rows(), list(User.objects.all())) == ([(1, 1)], [other])


def save_if_still_there(user: User, article: Article) -> None:
    """A save that meets the deletion may fail, but then it has saved nothing."""
    try:
        mark(user, article)
    except (Feedback.DoesNotExist, IntegrityError):
        assert not User.objects.filter(pk=user.pk).exists()
