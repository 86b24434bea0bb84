"""Counters against rows: the commands an operator runs beside traffic."""

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, transaction  # noqa: F401  (connection: for skipif)
from django.utils import timezone

from articles.models import Article, User
from feedback.counts import recount_likes
from feedback.models import Feedback, IdempotencyKey, Verdict
from feedback.services import apply_feedback
from feedback.verdicts import Wish
from tests.concurrency import at_once
from tests.factories import ArticleFactory, FeedbackFactory, profile_of
from tests.test_under_fire import someone_waits_for_a_lock, wait_until


def run(*arguments: str) -> tuple[str, int]:
    out, status = StringIO(), 0
    try:
        call_command(*arguments, stdout=out)
    except SystemExit as end:
        status = int(str(end.code))
    return out.getvalue(), status


@pytest.fixture
def drifted(reader: User, other_reader: User) -> Article:
    """Two likes, an undone one and a mark of another kind; the counter says five."""
    article = ArticleFactory(like_count=5)
    for user in (reader, other_reader):
        FeedbackFactory(profile=profile_of(user), article=article)
    FeedbackFactory(article=article, verdict=Verdict.NONE)
    FeedbackFactory(article=article, verdict=Verdict.NOT_INTERESTED)
    return article


def test_check_reports_a_drift_and_repairs_nothing(drifted: Article, article: Article) -> None:
    out, status = run("recount_likes", "--check")
    assert out == f"article {drifted.pk}: counter 5, rows 2\n1 counters differ.\n"
    assert status == 1
    assert Article.objects.get(pk=drifted.pk).like_count == 5


def test_without_check_a_drift_is_repaired(drifted: Article, article: Article) -> None:
    out, status = run("recount_likes")
    assert out == f"article {drifted.pk}: counter 5, rows 2\n1 counters repaired.\n"
    assert status == 0
    assert Article.objects.get(pk=drifted.pk).like_count == 2
    assert run("recount_likes", "--check") == ("0 counters differ.\n", 0)


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has one writer at a time")
def test_a_recount_that_waited_counts_the_like_it_waited_for(reader: User, other_reader: User, article: Article) -> None:
    apply_feedback(profile_id=other_reader.pk, article_id=article.pk, wish=Wish(liked=True))

    def like_slowly() -> None:
        with transaction.atomic():
            apply_feedback(profile_id=reader.pk, article_id=article.pk, wish=Wish(liked=True))
            holding.append(True)
            wait_until(someone_waits_for_a_lock)

    def recount() -> int:
        wait_until(lambda: bool(holding))
        return recount_likes(article.pk)

    holding: list[bool] = []
    assert at_once([like_slowly, recount])[1] == 2
    assert Article.objects.get().like_count == 2


def test_only_expired_keys_are_pruned_in_batches(reader: User, other_reader: User) -> None:
    now = timezone.now()
    for n, hours in enumerate([1, 23, 25, 26, 400]):
        owner = (reader, other_reader)[n % 2]
        made: Any = {"fingerprint": "f", "status": 200, "created_at": now - timedelta(hours=hours)}
        IdempotencyKey.objects.create(reader=owner, key=f"key-number-{hours}", **made)
    assert run("prune_idempotency_keys", "--batch", "2") == ("3 expired keys deleted.\n", 0)
    assert sorted(IdempotencyKey.objects.values_list("key", flat=True)) == ["key-number-1", "key-number-23"]
    assert run("prune_idempotency_keys")[0] == "0 expired keys deleted.\n"


def test_no_counter_is_touched_by_what_is_not_a_like(reader: User, article: Article) -> None:
    apply_feedback(profile_id=reader.pk, article_id=article.pk, wish=Wish(not_interested=True))
    assert (Feedback.objects.count(), run("recount_likes", "--check")[1]) == (1, 0)
