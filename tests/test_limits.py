"""How often one may ask: per reader, per address, and never by a header that anyone can send."""

from typing import Any

import pytest
from django.core import mail
from django.test import Client, RequestFactory
from rest_framework.test import APIClient

from articles.addresses import client_address
from articles.models import Article, User
from feedback.models import Feedback
from tests.conftest import client_of
from tests.factories import PASSWORD, UserFactory


@pytest.fixture(autouse=True)
def in_the_middle_of_a_minute(time_machine: Any) -> None:
    time_machine.move_to("2026-11-30T12:00:20Z", tick=False)


def limit(settings: Any, **limits: int) -> None:
    settings.LIMITS = settings.LIMITS | {name.replace("_", "-"): number for name, number in limits.items()}


def like(api: APIClient, article: Article, **extra: Any) -> Any:
    return api.put(f"/api/articles/{article.pk}/like/", {"liked": True}, format="json", **extra)


def test_a_reader_over_the_limit_is_told_when_to_come_back(
    api: APIClient, other_api: APIClient, article: Article, settings: Any, time_machine: Any
) -> None:
    limit(settings, write_reader=2)
    assert [like(api, article).status_code for _ in range(3)] == [200, 200, 429]
    refused = like(api, article)
    assert (refused.json()["code"], refused["Retry-After"]) == ("throttled", "40")
    assert like(other_api, article).status_code == 200
    time_machine.shift(40)
    assert like(api, article).status_code == 200


def test_an_address_over_the_limit_is_refused_whoever_asks(article: Article, settings: Any) -> None:
    limit(settings, write_address=2)
    answers = [like(client_of(UserFactory()), article) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert like(client_of(UserFactory()), article, REMOTE_ADDR="192.0.2.7").status_code == 200
    assert Feedback.objects.count() == 3


def test_reading_is_not_limited_and_a_wrong_method_is_said_first(api: APIClient, article: Article, settings: Any) -> None:
    limit(settings, write_reader=0)
    assert api.get(f"/api/articles/{article.pk}/like/").status_code == 200
    assert api.patch(f"/api/articles/{article.pk}/like/").status_code == 405
    assert api.put(f"/api/articles/{article.pk}/like/", b"x" * 5000, content_type="text/plain").status_code == 429


@pytest.mark.parametrize(
    ("peer", "forwarded", "proxies", "client"),
    [
        ("192.0.2.1", "", [], "192.0.2.1"),
        ("192.0.2.1", "198.51.100.9", [], "192.0.2.1"),
        ("10.0.0.1", "198.51.100.9", ["10.0.0.0/8"], "198.51.100.9"),
        ("10.0.0.1", "203.0.113.5, 198.51.100.9, 10.0.0.2", ["10.0.0.0/8"], "198.51.100.9"),
        ("10.0.0.1", "", ["10.0.0.0/8"], "10.0.0.1"),
        ("", "198.51.100.9", ["unix"], "198.51.100.9"),
        ("", "198.51.100.9", [], "unknown"),
        ("10.0.0.1", "nonsense", ["10.0.0.0/8"], "unknown"),
        ("::ffff:192.0.2.1", "", [], "192.0.2.1"),
        ("::ffff:10.0.0.1", "::ffff:198.51.100.9", ["10.0.0.0/8"], "198.51.100.9"),
        ("2001:db8::1:2", "", [], "2001:db8::/64"),
        ("2001:db8::ffff", "", [], "2001:db8::/64"),
    ],
)
def test_the_address_is_the_nearest_that_is_no_trusted_proxy(
    peer: str, forwarded: str, proxies: list[str], client: str, settings: Any
) -> None:
    settings.TRUSTED_PROXIES = proxies
    request = RequestFactory().get("/", REMOTE_ADDR=peer, HTTP_X_FORWARDED_FOR=forwarded)
    assert client_address(request) == client


def test_two_readers_behind_one_proxy_have_addresses_of_their_own(settings: Any, article: Article, reader: User) -> None:
    settings.TRUSTED_PROXIES = ["127.0.0.1"]
    limit(settings, write_address=1)
    api = client_of(reader)
    answers = [
        like(api, article, HTTP_X_FORWARDED_FOR=address).status_code for address in ("192.0.2.1", "192.0.2.2", "192.0.2.1")
    ]
    assert answers == [200, 200, 429]


class TestForms:
    def test_a_press_without_javascript_is_a_write_too(
        self, client: Client, reader: User, article: Article, settings: Any
    ) -> None:
        limit(settings, write_reader=1)
        client.force_login(reader)
        press = {"liked": "true", "not_interested": "false", "next": "/"}
        answers = [client.post(f"/articles/{article.pk}/feedback", press) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [303, 429]
        assert answers[1]["Retry-After"] == "40"

    @pytest.mark.parametrize("address", ["/login/", "/signup/", "/password/reset/", "/admin/login/"])
    def test_an_address_may_not_guess_for_ever(self, client: Client, db: None, settings: Any, address: str) -> None:
        limit(settings, account_address=2)
        assert [client.post(address, {}).status_code for _ in range(3)] == [200, 200, 429]
        assert client.get(address).status_code == 200
        assert client.post(address, {}, REMOTE_ADDR="192.0.2.9").status_code == 200

    def test_one_name_is_not_guessed_from_many_addresses(self, client: Client, reader: User, settings: Any) -> None:
        limit(settings, login_name=2)
        guesses = [
            client.post("/login/", {"username": name, "password": "wrong"}, REMOTE_ADDR=f"192.0.2.{n}").status_code
            for n, name in enumerate([reader.username, f" {reader.username.upper()} ", f"ｒ{reader.username[1:]}"])
        ]
        assert guesses == [200, 200, 429]

    def test_a_press_is_no_log_in_whose_tries_nobody_counts(self, client: Client, reader: User, article: Article) -> None:
        press = {"liked": "true", "not_interested": "false", "username": reader.username, "password": PASSWORD}
        answer = client.post(f"/articles/{article.pk}/feedback", press)
        assert (answer.status_code, "sessionid" in client.cookies) == (200, False)

    def test_one_mailbox_is_not_filled_from_many_addresses(self, client: Client, reader: User, settings: Any) -> None:
        limit(settings, login_name=2)
        fields = {"email": reader.email.upper()}
        answers = [client.post("/password/reset/", fields, REMOTE_ADDR=f"192.0.2.{n}").status_code for n in range(3)]
        assert (answers, len(mail.outbox)) == ([302, 302, 429], 2)

    def test_a_readers_own_password_is_not_guessed_from_many_addresses(self, client: Client, reader: User, settings: Any) -> None:
        limit(settings, login_name=2)
        client.force_login(reader)
        guesses = [
            client.post("/account/email/", {"email": f"{n}@example.com", "password": "wrong"}, REMOTE_ADDR=f"192.0.2.{n}")
            for n in range(3)
        ]
        assert [guess.status_code for guess in guesses] == [200, 200, 429]


def test_what_no_method_allows_is_no_write(api: APIClient, article: Article, settings: Any) -> None:
    limit(settings, write_reader=1, import_reader=1)
    for _time in range(3):
        assert api.get("/api/feedback/import/").status_code == 405
        assert api.post(f"/api/articles/{article.pk}/read/").status_code == 405
    assert like(api, article).status_code == 200
