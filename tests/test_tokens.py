"""A reader's API tokens: made, shown once, listed with their day of last use, revoked; and how that day is written."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core.cache import cache
from django.db import DatabaseError, OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext, override_settings
from django.utils import timezone
from rest_framework.test import APIClient

from articles import token_pages
from articles.models import ApiToken, Article, User
from feedback.models import Feedback
from tests.factories import token_of
from tests.pages import page_of

ADDRESS, REVOKE = "/account/tokens/", "/account/tokens/revoke/"


def with_token(secret: str) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {secret}")
    return client


def make(client: Client, name: str = "Home script") -> str:
    """A new token as the page shows it."""
    response = client.post(ADDRESS, {"name": name})
    assert (response.status_code, "no-store" in response["Cache-Control"]) == (200, True)
    return page_of(response).one("code", class_="token").text


def listed(client: Client) -> list[str]:
    return [item.text for item in page_of(client.get(ADDRESS)).all("li", class_="item")]


@pytest.fixture
def mine(client: Client, reader: User, other_reader: User) -> Client:
    """The reader's browser; the other reader has a token too."""
    token_of(other_reader, name="Not yours")
    client.force_login(reader)
    return client


def test_a_token_is_shown_once_works_and_is_stored_as_a_digest(mine: Client, reader: User, article: Article) -> None:
    secret = make(mine, "  Chrome extension, desk  ")
    stored = ApiToken.objects.get(user=reader)
    assert (stored.name, stored.expiry, secret in (stored.digest, stored.token_key)) == ("Chrome extension, desk", None, False)
    assert secret not in mine.get(ADDRESS).content.decode()
    answer = with_token(secret).put(f"/api/articles/{article.pk}/like/", {"liked": True}, format="json")
    assert (answer.status_code, Feedback.objects.get().profile_id) == (200, reader.pk)


def test_the_list_tells_names_and_days_of_this_reader_only(mine: Client, reader: User) -> None:
    with time_machine.travel(datetime(2026, 9, 2, 12, tzinfo=UTC), tick=False):
        token_of(reader, name="Laptop <b>", last_used_on=timezone.localdate())
        token_of(reader, last_used_on=None)
    day = "Sept. 2, 2026"
    told = [f"Laptop <b>Made on {day}. Last used: {day}. Revoke", f"Without a nameMade on {day}. Never used. Revoke"]
    assert sorted(listed(mine)) == told
    ApiToken.objects.filter(user=reader).update(last_used_on=timezone.localdate())
    assert all("Last used: today." in text for text in listed(mine))


def test_a_revoked_token_is_refused_and_the_others_go_on(mine: Client, reader: User, article: Article) -> None:
    first, second = make(mine, "Old phone"), make(mine, "New phone")
    page = page_of(mine.get(ADDRESS))
    old = next(item for item in page.all("li", class_="item") if "Old phone" in item.text)
    form = old.one("form")
    assert form.attributes["action"] == REVOKE
    assert mine.post(REVOKE, form.fields(), follow=True).redirect_chain == [(ADDRESS, 302)]
    statuses = [with_token(secret).get(f"/api/articles/{article.pk}/like/").status_code for secret in (first, second)]
    assert (statuses, len(listed(mine))) == ([401, 200], 1)
    assert mine.post(REVOKE, form.fields()).status_code == 302


def test_nobody_revokes_anothers_token(mine: Client, other_reader: User) -> None:
    theirs = ApiToken.objects.get(user=other_reader)
    for token in (theirs.pk, "", "x" * 500):
        assert mine.post(REVOKE, {"token": token}).status_code == 302
    assert ApiToken.objects.filter(pk=theirs.pk).exists()


@pytest.mark.parametrize("name", ["", "   ", "x" * 101])
def test_a_token_needs_a_name_of_at_most_a_hundred_characters(mine: Client, reader: User, name: str) -> None:
    response = mine.post(ADDRESS, {"name": name})
    assert page_of(response).all("div", class_="err")
    assert not ApiToken.objects.filter(user=reader).exists()


def test_tokens_are_bounded(mine: Client, reader: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_pages, "MAX_TOKENS", 1)
    make(mine)
    assert "You have 1 tokens." in page_of(mine.post(ADDRESS, {"name": "One more"})).one("div", class_="box bad").text
    assert ApiToken.objects.filter(user=reader).count() == 1


def test_the_pages_are_for_readers_and_their_forms_need_csrf(client: Client, reader: User) -> None:
    assert client.get(ADDRESS)["Location"] == f"/login/?next={ADDRESS}"
    assert client.post(REVOKE, {"token": "x"}).status_code == 302
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(reader)
    assert [strict.post(address, {"name": "x"}).status_code for address in (ADDRESS, REVOKE)] == [403, 403]


def test_the_account_menu_leads_to_tokens_and_data(mine: Client) -> None:
    links = [link.attributes["href"] for link in page_of(mine.get("/")).one("details", class_="menu").all("a")]
    assert links[:2] == [ADDRESS, "/account/data/"]


# The day of last use


def updates(call: Any) -> int:
    with CaptureQueriesContext(connection) as statements:
        assert call().status_code == 200
    return sum(bool(re.search('UPDATE "articles_apitoken"', query["sql"])) for query in statements)


@pytest.mark.django_db(transaction=True)
def test_the_day_of_use_is_written_once_a_day_and_in_no_transaction(reader: User, other_reader: User, article: Article) -> None:
    client, other = with_token(token_of(reader, last_used_on=None)), token_of(other_reader, last_used_on=None)

    def save() -> Any:
        return client.put(f"/api/articles/{article.pk}/like/", {"liked": True}, format="json")

    with CaptureQueriesContext(connection) as statements:
        save()
    words = [query["sql"].split()[0] for query in statements]
    assert words.index("UPDATE") < words.index("BEGIN")
    assert [updates(save) for _ in range(3)] == [0, 0, 0]
    with time_machine.travel(timezone.now() + timedelta(days=1)):
        assert [updates(save) for _ in range(3)] == [1, 0, 0]
        assert ApiToken.objects.get(user=reader).last_used_on == timezone.localdate()
    assert ApiToken.objects.get(user=other_reader).last_used_on is None
    assert with_token(other).get(f"/api/articles/{article.pk}/").status_code == 200


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("error", [OperationalError("database is locked"), DatabaseError("read-only transaction")])
def test_a_database_that_cannot_write_is_read_all_the_same(reader: User, article: Article, error: DatabaseError) -> None:
    client, tries = with_token(token_of(reader, last_used_on=None)), []

    def refuse_writes(execute: Any, sql: str, *arguments: Any) -> Any:
        if sql.startswith("UPDATE"):
            tries.append(sql)
            raise error
        return execute(sql, *arguments)

    with connection.execute_wrapper(refuse_writes):
        answers = [client.get(f"/api/articles/{article.pk}/like/").status_code for _ in range(3)]
    assert (answers, len(tries)) == ([200] * 3, 1)
    cache.clear()  # a minute later
    assert client.get(f"/api/articles/{article.pk}/like/").status_code == 200
    assert ApiToken.objects.get().last_used_on == timezone.localdate()


def test_a_refused_token_leaves_no_day(reader: User, article: Article) -> None:
    secret = token_of(reader, last_used_on=None)
    ApiToken.objects.update(expiry=timezone.now() - timedelta(days=1))
    assert with_token(secret).get(f"/api/articles/{article.pk}/").status_code == 401
    assert ApiToken.objects.get().last_used_on is None


# Who is asking


def test_a_token_beside_anothers_session_acts_for_its_owner(reader: User, other_reader: User, article: Article) -> None:
    client = with_token(token_of(reader))
    client.force_login(other_reader)
    file = {"verdicts": [{"url": article.url, "liked": True, "not_interested": False}]}
    assert client.post("/api/feedback/import/", file, format="json").json()["changed"] == 1
    assert client.get("/api/feedback/").json()["results"][0]["article"] == article.pk
    assert list(Feedback.objects.values_list("profile_id", flat=True)) == [reader.pk]


ORIGIN = "chrome-extension://abcdefghijklmnopabcdefghijklmnop"


@pytest.mark.parametrize("address", ["/api/articles/7/like/", "/api/articles/", "/api/feedback/", "/api/feedback/import/"])
@pytest.mark.parametrize("method", ["GET", "PUT", "POST"])
def test_an_extension_may_ask_with_every_header_it_needs(client: Client, db: None, address: str, method: str) -> None:
    wanted = "authorization,content-type,idempotency-key,if-none-match,x-client-version,x-csrftoken,x-devpick-reader"
    asks = {"HTTP_ACCESS_CONTROL_REQUEST_METHOD": method, "HTTP_ACCESS_CONTROL_REQUEST_HEADERS": wanted}
    with override_settings(CORS_ALLOWED_ORIGINS=[ORIGIN]):
        answer = client.options(address, HTTP_ORIGIN=ORIGIN, **asks)
        stranger = client.options(address, HTTP_ORIGIN="https://evil.example", **asks)
    assert (answer.status_code, answer["Access-Control-Allow-Origin"]) == (200, ORIGIN)
    assert method in answer["Access-Control-Allow-Methods"].split(", ")
    assert set(wanted.split(",")) <= set(answer["Access-Control-Allow-Headers"].split(", "))
    assert not stranger.has_header("Access-Control-Allow-Origin")


def test_an_extension_sees_the_headers_it_needs(api: APIClient, article: Article) -> None:
    with override_settings(CORS_ALLOWED_ORIGINS=[ORIGIN]):
        answer = api.get("/api/articles/", HTTP_ORIGIN=ORIGIN)
    seen = set(answer["Access-Control-Expose-Headers"].split(", "))
    assert seen == {"Content-Disposition", "Deprecation", "ETag", "Idempotency-Replayed", "Link", "Retry-After"}
