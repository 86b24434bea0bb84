"""What a save costs in statements, BEGIN and COMMIT counted, and that an unchanged repeat writes nothing at all."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from articles.models import Article, User
from tests.factories import ArticleFactory

pytestmark = pytest.mark.django_db(transaction=True)


def statements(call: Callable[[], Any]) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert call().status_code == 200
    return len(captured)


def like(api: APIClient, article: Article, liked: bool = True, **headers: Any) -> Callable[[], Any]:
    return lambda: api.put(f"/api/articles/{article.pk}/like/", {"liked": liked}, format="json", **headers)


def session_of(user: User) -> APIClient:
    client = APIClient()
    client.force_login(user)
    return client


def test_statements_with_a_token(api: APIClient, other_api: APIClient, article: Article) -> None:
    like(other_api, article)()
    counts = [statements(like(api, article)), statements(like(api, article)), statements(like(api, article, False))]
    another = statements(like(api, ArticleFactory()))
    assert (counts, another) == ([10, 2, 8], 9)


def test_statements_with_a_session_are_one_more(reader: User, other_reader: User, article: Article) -> None:
    client = session_of(reader)
    assert [statements(like(client, article)) for _ in range(2)] == [11, 3]


def test_statements_with_a_key(api: APIClient, other_reader: User, article: Article) -> None:
    like(api, article, False)()
    first = like(api, article, HTTP_IDEMPOTENCY_KEY="counted-key-1")
    locks_the_reader = connection.vendor == "postgresql"
    assert [statements(first) for _ in range(2)] == [14 + locks_the_reader, 2]


def versions_of_rows() -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        rows = []
        for table in (
            "feedback_feedback",
            "articles_profile",
            "articles_article",
            "feedback_idempotencykey",
            "articles_apitoken",
        ):
            cursor.execute(f"SELECT xmin::text, ctid::text, t::text FROM {table} t ORDER BY 3")
            rows += cursor.fetchall()
        return rows


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="asks PostgreSQL for its row versions")
def test_unchanged_repeats_touch_no_row(api: APIClient, other_api: APIClient, article: Article) -> None:
    ordered = {"liked": True, "client": "browser-1", "seq": 5}
    keyed = {"HTTP_IDEMPOTENCY_KEY": "replayed-key"}
    calls = [
        like(api, article),
        lambda: api.put(f"/api/articles/{article.pk}/like/", ordered, format="json"),
        lambda: api.put(f"/api/articles/{article.pk}/like/", ordered | {"seq": 4}, format="json"),
        like(api, article, True, **keyed),
        lambda: api.get(f"/api/articles/{article.pk}/like/"),
    ]
    like(other_api, article)()
    for call in calls:
        call()
    before = versions_of_rows()
    for call in calls * 4:
        assert call().status_code == 200
    assert versions_of_rows() == before
