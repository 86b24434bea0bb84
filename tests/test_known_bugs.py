"""Failures met by other products with a like button, each by the number of its case."""

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from articles.feeds.document import ParsedEntry, ParsedFeed
from articles.feeds.store import store
from articles.models import Article, User
from feedback.models import Feedback, Verdict
from feedback.services import apply_feedback
from feedback.verdicts import Wish
from tests.concurrency import at_once
from tests.factories import FeedFactory

EXTENSION = "chrome-extension://abcdefghijklmnopabcdefghijklmnop"


def like_url(article: Article) -> str:
    return f"/api/articles/{article.pk}/like/"


def hide_url(article: Article) -> str:
    return f"/api/articles/{article.pk}/not-interested/"


def likes(article: Article) -> tuple[int, int]:
    """The counter and the rows it stands for."""
    return Article.objects.get(pk=article.pk).like_count, article.feedback.filter(verdict=Verdict.LIKED).count()


def test_b09_switching_up_down_up_counts_once(api: APIClient, other_api: APIClient, article: Article) -> None:
    other_api.put(like_url(article), {"liked": True}, format="json")
    for url, field in [(like_url, "liked"), (hide_url, "not_interested")] * 2 + [(like_url, "liked")]:
        answer = api.put(url(article), {field: True}, format="json").json()
        assert answer["liked"] + answer["not_interested"] == 1
    assert likes(article) == (2, 2)


def test_b13_a_repeat_after_a_lost_reply_is_no_error(api: APIClient, other_api: APIClient, article: Article) -> None:
    other_api.put(like_url(article), {"liked": True}, format="json")
    api.put(like_url(article), {"liked": True}, format="json")  # saved; this reply is lost
    again = api.put(like_url(article), {"liked": True}, format="json")
    assert (again.status_code, again.json()["liked"], again.json()["changed"], again.json()["like_count"]) == (
        200,
        True,
        False,
        2,
    )


@pytest.mark.parametrize("type_", ["application/json", "application/x-www-form-urlencoded"])
def test_b23_a_text_is_never_a_toggle(api: APIClient, article: Article, type_: str) -> None:
    api.put(like_url(article), {"liked": True}, format="json")
    body = '{"liked": "true"}' if type_ == "application/json" else "liked=True"
    assert api.post(like_url(article), body, content_type=type_).status_code == 400
    assert likes(article) == (1, 1)


@pytest.mark.parametrize("value", [0, 1, "on", "off", "yes", "f", "FALSE", "", None, [], {}, 2, "maybe"])
def test_b25_other_spellings_of_a_boolean_are_refused(api: APIClient, article: Article, value: Any) -> None:
    answer = api.post(like_url(article), {"liked": value}, format="json")
    assert (answer.status_code, answer.json()["errors"]) == (400, {"liked": ["Send true or false."]})
    assert not Feedback.objects.exists()


@pytest.mark.parametrize("type_", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_b27_an_old_clients_form_without_the_field_toggles(api: APIClient, article: Article, type_: str) -> None:
    body = b"--x--\r\n" if "multipart" in type_ else b""
    answers = [api.generic("POST", like_url(article), body, type_).json() for _ in range(2)]
    assert [(answer["liked"], answer["changed"]) for answer in answers] == [(True, True), (False, True)]


def test_b29_what_the_server_knows_is_not_taken_from_the_client(
    api: APIClient, reader: User, other_reader: User, article: Article
) -> None:
    body = {"liked": True, "changed": False, "like_count": 999, "version": 77, "user": other_reader.pk, "article": 0}
    answer = api.post(like_url(article), body, format="json").json()
    assert (answer["changed"], answer["like_count"], answer["version"], answer["article"]) == (True, 1, 1, article.pk)
    assert list(Feedback.objects.values_list("profile_id", flat=True)) == [reader.pk]


def test_b47_a_page_of_one_reader_is_stored_by_no_shared_cache(client: Client, reader: User, article: Article) -> None:
    anonymous = client.get("/")
    client.force_login(reader)
    for page in (anonymous, client.get("/")):
        assert "public" not in page["Cache-Control"]
        assert "private" in page["Cache-Control"]
        assert "Cookie" in page["Vary"]


@pytest.mark.parametrize("secure", [False, True])
def test_b49_an_extension_posts_with_a_token_and_never_with_a_cookie_alone(
    api: APIClient, reader: User, article: Article, settings: Any, secure: bool
) -> None:
    settings.CORS_ALLOWED_ORIGINS = [EXTENSION]
    by_token = api.post(like_url(article), HTTP_ORIGIN=EXTENSION, secure=secure)
    assert (by_token.json()["liked"], by_token["Access-Control-Allow-Origin"]) == (True, EXTENSION)
    by_cookie = APIClient(enforce_csrf_checks=True)
    by_cookie.force_login(reader)
    for origin in (EXTENSION, "chrome-extension://" + "b" * 32, "https://elsewhere.example"):
        answer = by_cookie.post(like_url(article), HTTP_ORIGIN=origin, secure=secure)
        assert (answer.status_code, answer.json()["code"]) == (403, "csrf_failed")
    assert likes(article) == (1, 1)


def test_b49_a_preflight_of_a_listed_extension_allows_what_it_sends(
    anonymous_api: APIClient, article: Article, settings: Any
) -> None:
    settings.CORS_ALLOWED_ORIGINS = [EXTENSION]
    asked = {
        "HTTP_ACCESS_CONTROL_REQUEST_METHOD": "PUT",
        "HTTP_ACCESS_CONTROL_REQUEST_HEADERS": "authorization,content-type,idempotency-key",
    }
    answer = anonymous_api.options(like_url(article), HTTP_ORIGIN=EXTENSION, **asked)
    assert (answer.status_code, answer["Access-Control-Allow-Origin"]) == (200, EXTENSION)
    assert {"authorization", "content-type", "idempotency-key", "x-devpick-reader"} <= set(
        answer["Access-Control-Allow-Headers"].split(", ")
    )
    stranger = anonymous_api.options(like_url(article), HTTP_ORIGIN="chrome-extension://" + "b" * 32, **asked)
    assert not stranger.has_header("Access-Control-Allow-Origin")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("first", ["import", "like"])
def test_b37_an_import_never_takes_a_like_back(reader: User, other_reader: User, first: str) -> None:
    """The feed is stored while its article is liked, in either order; the import brings a new title."""
    feed = FeedFactory()
    entry = ParsedEntry(guid="a", url="https://example.com/a", title="Old", summary="", tags=[], published_at=None)
    store(feed, ParsedFeed("Feed", "", "en", [entry]), now=timezone.now())
    article = Article.objects.get()
    like = partial(apply_feedback, profile_id=reader.pk, article_id=article.pk, wish=Wish(liked=True))
    update = partial(store, feed, ParsedFeed("Feed", "", "en", [replace(entry, title="New")]), now=timezone.now())
    apply_feedback(profile_id=other_reader.pk, article_id=article.pk, wish=Wish(liked=True))
    at_once([update, like] if first == "import" else [like, update])
    assert (Article.objects.get().title, likes(article)) == ("New", (2, 2))
