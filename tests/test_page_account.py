"""A reader's account by its pages: sign up, log in and out, change, reset by mail, delete."""

import re
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from articles.models import Article, User
from feedback.models import Feedback
from feedback.services import apply_feedback
from feedback.verdicts import Wish
from tests.factories import PASSWORD, UserFactory
from tests.pages import page_of

NEW_PASSWORD = "another horse, other staple"


def reader_of(client: Client) -> int | None:
    """Whom the session of this browser is logged in as."""
    found = client.session.get("_auth_user_id")
    return int(found) if found else None


def errors(response: Any) -> dict[str, str]:
    """What the form says is wrong, by field; every error belongs to its field for a screen reader too."""
    assert response.status_code == 200
    page = page_of(response)
    found = {}
    for field in page.all("input", aria_invalid="true"):
        described = field.attributes["aria-describedby"].split()
        found[field.attributes["name"]] = page.one("div", id=next(i for i in described if i.endswith("_error"))).text
    return found


def box_of(client: Client) -> str:
    return page_of(client.get("/")).one("p", class_="box").text


def sign_up(client: Client, **fields: str) -> Any:
    return client.post("/signup/", {"username": "mika", "password1": PASSWORD, "password2": PASSWORD, "email": ""} | fields)


def test_sign_up_logs_in_and_leads_back(client: Client, db: None) -> None:
    response = sign_up(client, next="/?view=latest", email="mika@example.com")
    user = User.objects.get(username="mika")
    assert (response.status_code, response["Location"], reader_of(client)) == (302, "/?view=latest", user.pk)
    assert user.email == "mika@example.com"


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"username": ""}, {"username": "This field is required."}),
        ({"username": "MIKA"}, {"username": "A user with that username already exists."}),
        ({"username": "new", "password2": "x"}, {"password2": "The two password fields didn’t match."}),
        ({"username": "new", "email": "x"}, {"email": "Enter a valid email address."}),
        (
            {"username": "new", "password1": "password", "password2": "password"},
            {"password2": "This password is too common."},
        ),
    ],
)
def test_sign_up_says_what_is_wrong_at_the_field(client: Client, db: None, fields: Any, wrong: dict[str, str]) -> None:
    UserFactory(username="mika")
    response = sign_up(client, **fields)
    assert errors(response) == wrong
    assert page_of(response).one("div", role="alert").text == "One thing needs another look; it is marked below."
    assert (User.objects.count(), reader_of(client)) == (1, None)


def test_log_in_and_out(client: Client, reader: User, other_reader: User) -> None:
    client.post("/login/", {"username": reader.username, "password": PASSWORD})
    assert (reader_of(client), page_of(client.get("/")).one("span", class_="name").text) == (reader.pk, reader.username)
    assert client.get("/logout/").status_code == 405
    assert client.post("/logout/")["Location"] == "/"
    assert reader_of(client) is None


def test_a_wrong_password_is_said_and_logs_nobody_in(client: Client, reader: User) -> None:
    response = client.post("/login/", {"username": reader.username, "password": "wrong"})
    assert "correct username and password" in page_of(response).one("div", role="alert").text
    assert reader_of(client) is None


@pytest.mark.parametrize("address", ["https://evil.example/", "//evil.example", "/\\evil.example"])
def test_log_in_and_sign_up_never_lead_off_the_site(client: Client, reader: User, address: str) -> None:
    logged_in = client.post("/login/", {"username": reader.username, "password": PASSWORD, "next": address})
    assert (logged_in["Location"], sign_up(Client(), next=address)["Location"]) == ("/", "/")


def test_changing_the_password_logs_other_browsers_out(client: Client, reader: User) -> None:
    elsewhere = Client()
    for browser in (client, elsewhere):
        browser.force_login(reader)
    response = client.post(
        "/password/change/", {"old_password": PASSWORD, "new_password1": NEW_PASSWORD, "new_password2": NEW_PASSWORD}
    )
    assert response["Location"] == "/"
    assert box_of(client) == "Your password is changed. Other browsers are logged out; API tokens stay valid."
    shown = [bool(page_of(browser.get("/")).all("span", class_="name")) for browser in (client, elsewhere)]
    assert shown == [True, False]
    reader.refresh_from_db()
    assert reader.check_password(NEW_PASSWORD)


def test_changing_the_password_needs_the_old_one(client: Client, reader: User) -> None:
    client.force_login(reader)
    fields = {"old_password": "wrong", "new_password1": NEW_PASSWORD, "new_password2": NEW_PASSWORD}
    assert set(errors(client.post("/password/change/", fields))) == {"old_password"}
    reader.refresh_from_db()
    assert reader.check_password(PASSWORD)


def ask_for_reset(client: Client, email: str) -> str:
    """The link of the mail that was sent."""
    response = client.post("/password/reset/", {"email": email})
    assert response["Location"] == "/password/reset/sent/"
    return re.search(r"http://testserver(/password/reset/\S+)", str(mail.outbox[-1].body))[1]  # type: ignore[index]


def set_password(client: Client, link: str) -> Any:
    form = client.get(link, follow=True)
    address = form.redirect_chain[-1][0] if form.redirect_chain else link
    return client.post(address, {"new_password1": NEW_PASSWORD, "new_password2": NEW_PASSWORD})


def test_a_forgotten_password_is_reset_by_mail(client: Client, reader: User, other_reader: User) -> None:
    link = ask_for_reset(client, reader.email)
    message = mail.outbox[0]
    assert (message.to, message.subject) == ([reader.email], "Your new password for DevPick")
    assert f"Hello {reader.username}," in message.body
    assert set_password(client, link)["Location"] == "/"
    assert reader_of(client) == reader.pk
    assert box_of(client) == "Your new password is set, and you are logged in. API tokens stay valid."
    assert [User.objects.get(pk=user.pk).check_password(NEW_PASSWORD) for user in (reader, other_reader)] == [True, False]


def test_a_second_request_leaves_the_first_link_valid_until_one_is_used(client: Client, reader: User) -> None:
    first, second = ask_for_reset(client, reader.email), ask_for_reset(client, reader.email)
    assert all("Choose a new password" in Client().get(link, follow=True).content.decode() for link in (first, second))
    set_password(client, first)
    spent = page_of(Client().get(second, follow=True))
    assert spent.one("h1").text == "This link does not work any more"
    assert page_of(Client().get(first, follow=True)).one("h1").text == "This link does not work any more"


def test_an_unknown_address_gets_the_same_answer_and_no_mail(client: Client, reader: User) -> None:
    response = client.post("/password/reset/", {"email": "nobody@example.com"})
    assert (response["Location"], mail.outbox) == ("/password/reset/sent/", [])
    assert page_of(client.get("/password/reset/sent/")).one("h1").text == "Look into your mail"


def test_deleting_the_account_asks_for_the_password(client: Client, reader: User, other_reader: User, article: Article) -> None:
    client.force_login(reader)
    for user in (reader, other_reader):
        apply_feedback(profile_id=user.pk, article_id=article.pk, wish=Wish(liked=True))
    assert client.get("/account/delete/").status_code == 200
    wrong = client.post("/account/delete/", {"password": "wrong"})
    assert errors(wrong) == {"password": "This is not your password, so nothing was done."}
    assert User.objects.count() == 2
    client.post("/account/delete/", {"password": PASSWORD})
    article.refresh_from_db()
    assert (list(User.objects.all()), article.like_count) == ([other_reader], 1)
    assert (list(Feedback.objects.values_list("profile", flat=True)), reader_of(client)) == ([other_reader.pk], None)
    assert box_of(client) == "Your account is deleted, and everything you marked with it."


def test_an_address_given_later_resets_a_password_too(client: Client, reader: User, other_reader: User) -> None:
    User.objects.update(email="")
    client.force_login(reader)
    unreadable = client.post("/account/email/", {"email": "x", "password": PASSWORD})
    assert errors(unreadable) == {"email": "Enter a valid email address."}
    wrong = client.post("/account/email/", {"email": "new@example.com", "password": "wrong"})
    assert errors(wrong) == {"password": "This is not your password, so nothing was done."}
    assert not User.objects.exclude(email="").exists()
    assert client.post("/account/email/", {"email": "new@example.com", "password": PASSWORD})["Location"] == "/"
    assert box_of(client) == "Your e-mail address is saved."
    assert page_of(client.get("/account/email/")).one("input", name="email").attributes["value"] == "new@example.com"
    client.post("/password/reset/", {"email": "new@example.com"})
    assert [(message.to, reader.username in message.body) for message in mail.outbox] == [(["new@example.com"], True)]
    assert reader_of(client) == reader.pk


def test_an_address_can_be_taken_out_again(client: Client, reader: User, other_reader: User) -> None:
    client.force_login(reader)
    client.post("/account/email/", {"email": "", "password": PASSWORD})
    assert [User.objects.get(pk=user.pk).email for user in (reader, other_reader)] == ["", other_reader.email]


@pytest.mark.parametrize("address", ["/account/delete/", "/account/email/", "/password/change/"])
def test_account_pages_ask_visitors_to_log_in(client: Client, db: None, address: str) -> None:
    for response in (client.get(address), client.post(address, {"password": "x"})):
        assert response["Location"] == f"/login/?next={address}"


@pytest.mark.parametrize("address", ["/login/", "/signup/", "/password/reset/", "/password/reset/x/y/", "/help/toggles/"])
def test_pages_for_visitors_are_whole(client: Client, db: None, address: str) -> None:
    response = client.get(address)
    page = page_of(response)
    assert (response.status_code, len(page.all("h1")), len(page.all("p", role="status"))) == (200, 1, 1)
    assert all(field.attributes.get("id") in labelled(page) for field in page.all("input") if visible(field))


def labelled(page: Any) -> set[str]:
    return {label.attributes["for"] for label in page.all("label")}


def visible(field: Any) -> bool:
    return bool(field.attributes["type"] != "hidden")


@pytest.mark.parametrize("address", ["/login/", "/signup/", "/account/delete/"])
def test_forms_with_a_password_are_never_stored(client: Client, reader: User, address: str) -> None:
    client.force_login(reader)
    assert "no-store" in client.get(address)["Cache-Control"]


def test_the_upgrade_notes_name_this_site(client: Client, db: None) -> None:
    text = page_of(client.get("/help/toggles/")).text
    assert "curl -X PUT http://testserver/api/articles/7/like/" in text
    assert "Idempotency-Key" in text


def test_the_admin_keeps_its_own_look(client: Client, db: None) -> None:
    client.force_login(UserFactory(is_staff=True, is_superuser=True))
    for address in ("/admin/", "/admin/password_change/"):
        content = client.get(address).content.decode()
        assert "Django administration" in content
        assert "devpick" not in content
