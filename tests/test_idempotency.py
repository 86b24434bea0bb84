"""Idempotency-Key: the same key gets the same bytes, and its effect happens once."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from articles.models import Article, Profile, User
from feedback.models import Feedback, IdempotencyKey, Verdict
from tests.factories import ArticleFactory

KEY = "0123456789-abc"


def send(api: APIClient, article: Article, body: Any = None, key: str = KEY, method: str = "post", **extra: Any) -> Any:
    url = f"/api/articles/{article.pk}/like/"
    return getattr(api, method)(url, body, format="json", HTTP_IDEMPOTENCY_KEY=key, **extra)


def test_a_toggle_sent_again_with_its_key_toggles_once(
    api: APIClient, other_api: APIClient, reader: User, article: Article
) -> None:
    send(other_api, article)
    first, second = send(api, article), send(api, article)
    assert (second.status_code, second.content) == (200, first.content)
    assert not first.has_header("Idempotency-Replayed")
    assert second["Idempotency-Replayed"] == "true"
    for header in ("Content-Type", "Cache-Control", "Deprecation", "Link"):
        assert second[header] == first[header]
    assert first.json()["like_count"] == 2
    assert Profile.objects.get(pk=reader.pk).interest_version == 1


def test_a_replay_repeats_history_and_writes_nothing(api: APIClient, article: Article) -> None:
    first = send(api, article, {"liked": True})
    api.put(f"/api/articles/{article.pk}/like/", {"liked": False}, format="json")
    rows = [list(model.objects.values()) for model in (Feedback, Profile, Article, IdempotencyKey)]
    assert send(api, article, {"liked": True}).content == first.content
    assert [list(model.objects.values()) for model in (Feedback, Profile, Article, IdempotencyKey)] == rows
    assert api.get(f"/api/articles/{article.pk}/like/").json()["liked"] is False


def test_a_replay_leaves_no_log_line(api: APIClient, article: Article, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="feedback.toggles"):
        send(api, article)
        send(api, article)
    assert [record.name for record in caplog.records].count("feedback.toggles") == 1


def test_a_replay_needs_no_article(api: APIClient, article: Article) -> None:
    first = send(api, article, {"liked": False})
    Article.objects.all().delete()
    assert send(api, article, {"liked": False}).content == first.content
    assert send(api, article, {"liked": False}, key="another-key").status_code == 404


def test_the_quotes_are_not_part_of_the_key(api: APIClient, article: Article) -> None:
    send(api, article, {"liked": True})
    assert send(api, article, {"liked": True}, key=f'"{KEY}"').has_header("Idempotency-Replayed")


@pytest.mark.parametrize(
    "key", ["", "short", "x" * 129, "with space 1", '"12345678', '12345678"', '""12345678""', "a,b,c,d,e,f", "schlüssel1"]
)
def test_a_malformed_key_is_refused(api: APIClient, article: Article, key: str) -> None:
    answer = send(api, article, {"liked": True}, key=key)
    assert (answer.status_code, answer.json()["code"]) == (400, "idempotency_key_invalid")
    assert not Feedback.objects.exists()


@pytest.mark.parametrize("key", ["12345678", "x" * 128, "AZaz09._:~-"])
def test_every_allowed_key(api: APIClient, article: Article, key: str) -> None:
    assert send(api, article, {"liked": True}, key=key).status_code == 200


def test_b65_the_content_counts_and_not_its_bytes(api: APIClient, article: Article) -> None:
    url = f"/api/articles/{article.pk}/like/"
    whole = {"HTTP_IDEMPOTENCY_KEY": KEY, "content_type": "application/json"}
    first = api.post(url, '{"liked":true,"not_interested":false}', **whole)
    assert api.post(url, ' { "not_interested" : false, "liked" : true, "x": 1 } ', **whole).content == first.content
    assert api.put(url, '{"liked":true,"not_interested":false}', **whole).content == first.content
    form = whole | {"content_type": "application/x-www-form-urlencoded"}
    assert api.post(url, "liked=true&not_interested=false", **form).content == first.content


@pytest.mark.parametrize(
    "body",
    [{"liked": False}, {}, {"liked": True, "not_interested": False}, {"liked": True, "client": "browser-1", "seq": 1}],
)
def test_another_content_under_the_same_key_is_422(api: APIClient, article: Article, body: Any) -> None:
    send(api, article, {"liked": True})
    answer = send(api, article, body)
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")
    assert Feedback.objects.get().verdict == Verdict.LIKED


def test_another_article_or_endpoint_under_the_same_key_is_422(api: APIClient, article: Article) -> None:
    send(api, article)
    assert send(api, ArticleFactory()).status_code == 422
    address = f"/api/articles/{article.pk}/not-interested/"
    assert api.post(address, HTTP_IDEMPOTENCY_KEY=KEY).status_code == 422
    assert Feedback.objects.count() == 1


def test_two_readers_may_use_one_key(api: APIClient, other_api: APIClient, article: Article) -> None:
    mine, theirs = send(api, article), send(other_api, article)
    assert (mine.json()["like_count"], theirs.json()["like_count"]) == (1, 2)
    assert not theirs.has_header("Idempotency-Replayed")


def test_nobody_learns_of_a_used_key(api: APIClient, anonymous_api: APIClient, article: Article) -> None:
    send(api, article)
    used, unused = send(anonymous_api, article), send(anonymous_api, article, key="never-used-1")
    assert (used.status_code, used.content) == (401, unused.content)


def test_an_error_is_never_stored(api: APIClient, article: Article) -> None:
    missing = f"/api/articles/{article.pk + 1000}/like/"
    for _ in range(2):
        assert api.post(missing, {"liked": True}, format="json", HTTP_IDEMPOTENCY_KEY=KEY).status_code == 404
    assert send(api, article, {"liked": "yes"}).status_code == 400
    assert not IdempotencyKey.objects.exists()
    assert send(api, article, {"liked": True}).json()["changed"] is True


def test_a_stale_answer_is_stored(api: APIClient, article: Article) -> None:
    api.put(f"/api/articles/{article.pk}/like/", {"liked": False, "client": "browser-1", "seq": 9}, format="json")
    late = {"liked": True, "client": "browser-1", "seq": 8}
    first = send(api, article, late)
    assert first.json()["stale"] is True
    assert send(api, article, late).content == first.content


def test_a_key_lives_for_a_day(api: APIClient, article: Article) -> None:
    send(api, article)
    IdempotencyKey.objects.update(created_at=timezone.now() - timedelta(hours=23, minutes=59))
    assert send(api, article).has_header("Idempotency-Replayed")
    IdempotencyKey.objects.update(created_at=timezone.now() - timedelta(hours=24, seconds=1))
    again = send(api, article)
    assert not again.has_header("Idempotency-Replayed")
    assert again.json()["liked"] is False
    assert IdempotencyKey.objects.count() == 1


def test_a_replay_is_two_statements(api: APIClient, article: Article) -> None:
    send(api, article, {"liked": True})
    with CaptureQueriesContext(
        connection,
    ) as statements:
        send(api, article, {"liked": True})
    assert len(statements) == 2
