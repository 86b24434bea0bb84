"""“Log in to save”: a visitor's press is kept in one signed field through log-in or sign-up, and saved by nobody else."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core import signing
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone

from articles.models import Article, User
from feedback import intents
from tests.factories import PASSWORD, ArticleFactory
from tests.pages import Element, page_of
from tests.test_page_feedback import DISLIKE, LIKE, NOTHING, press, stored


def log_in_form(response: Any) -> dict[str, str]:
    """The log-in form of an answer, as its fields stand."""
    assert response.status_code == 200
    assert not page_of(response).all("div", class_="err")
    return page_of(response).one("form", action="/login/", class_="stack").fields()


def log_in(client: Client, user: User, fields: dict[str, str]) -> Any:
    return client.post("/login/", fields | {"username": user.username, "password": PASSWORD})


def box(client: Client, address: str) -> Element:
    """What the page says last above the list."""
    return [box for box in page_of(client.get(address)).all("p") if box.attributes.get("class", "").startswith("box")][-1]


def test_a_visitors_like_is_saved_by_logging_in(client: Client, reader: User, other_reader: User) -> None:
    article = ArticleFactory(title="ロック待ちを読む", language="ja")
    kept = press(client, article, LIKE | {"reader": "", "next": "/?view=latest"})
    assert stored(article) == (0, [])
    told = page_of(kept).one("p", class_="box")
    assert told.text == "Your like of “ロック待ちを読む” is kept for ten minutes. It is saved when you log in."
    assert told.one("span", lang="ja").text == "ロック待ちを読む"
    assert not page_of(kept).one("header", class_="top").all("a", href="/login/")  # it would lose what is kept
    response = log_in(client, reader, log_in_form(kept))
    assert (response.status_code, response["Location"]) == (302, f"/?view=latest&kept={article.pk}#article-{article.pk}")
    assert stored(article) == (1, [(reader.pk, "liked")])
    page = page_of(client.get(response["Location"]))
    assert page.one("p", class_="box").text == "Your like of “ロック待ちを読む” was saved."
    card = page.one("article-card", id=f"article-{article.pk}")
    assert (card.attributes["data-liked"], card.one("p", class_="note").one("b").text) == ("true", "Saved.")


@pytest.mark.parametrize(
    ("fields", "verdict", "said"),
    [(DISLIKE, "not_interested", "“Locks” was saved as not interesting."), (NOTHING, "", "Your mark on “Locks” was taken back.")],
)
def test_other_verdicts_are_carried_the_same_way(client: Client, reader: User, fields: Any, verdict: str, said: str) -> None:
    article = ArticleFactory(title="Locks")
    response = log_in(client, reader, log_in_form(press(client, article, fields)))
    assert stored(article) == (0, [(reader.pk, verdict)] if verdict else [])
    assert box(client, response["Location"]).text == said


def test_signing_up_saves_it_too(client: Client, other_reader: User, article: Article) -> None:
    kept = page_of(press(client, article, LIKE | {"next": "/?view=latest"}))
    handed_on = client.post("/signup/", kept.one("form", action="/signup/").fields())
    page = page_of(handed_on)
    assert (handed_on.status_code, page.all("div", class_="err"), len(page.all("p", class_="box"))) == (200, [], 1)
    fields = page.one("form", action="/signup/").fields() | {"username": "new", "password1": PASSWORD, "password2": PASSWORD}
    response = client.post("/signup/", fields)
    assert response["Location"] == f"/?view=latest&kept={article.pk}#article-{article.pk}"
    assert stored(article) == (1, [(User.objects.get(username="new").pk, "liked")])


def test_sign_up_hands_it_back_to_log_in(client: Client, reader: User, article: Article) -> None:
    page = page_of(press(client, article, LIKE))
    for address in ("/signup/", "/login/"):
        page = page_of(client.post(address, page.one("form", action=address, class_="quiet instead").fields()))
    log_in(client, reader, page.one("form", action="/login/", class_="stack").fields())
    assert stored(article) == (1, [(reader.pk, "liked")])


def test_a_wrong_password_keeps_it(client: Client, reader: User, article: Article) -> None:
    kept = log_in_form(press(client, article, LIKE))
    again = client.post("/login/", kept | {"username": reader.username, "password": "wrong"})
    assert stored(article) == (0, [])
    log_in(client, reader, log_in_form(again))
    assert stored(article) == (1, [(reader.pk, "liked")])


@pytest.mark.parametrize("order", [{}, {"client": "browser-1", "seq": "7"}])
def test_a_doubled_log_in_does_not_bring_a_taken_back_like_again(
    client: Client, reader: User, article: Article, order: dict[str, str]
) -> None:
    fields = log_in_form(press(client, article, LIKE | order))
    log_in(client, reader, fields)
    press(client, article, NOTHING | ({"client": "browser-1", "seq": "8"} if order else {}))
    response = log_in(client, reader, fields)
    assert stored(article) == (0, [])
    assert box(client, response["Location"]).text == (
        "What you pressed before logging in was not saved: a later press of yours stands."
    )


def test_the_order_of_the_press_is_kept(client: Client, reader: User, article: Article) -> None:
    fields = log_in_form(press(client, article, LIKE | {"client": "browser-1", "seq": "7"}))
    other_tab = Client()
    other_tab.force_login(reader)
    press(other_tab, article, DISLIKE | {"client": "browser-1", "seq": "8"})
    log_in(client, reader, fields)
    assert stored(article) == (0, [(reader.pk, "not_interested")])


def test_an_expired_sessions_press_is_saved_for_its_own_reader(client: Client, reader: User, article: Article) -> None:
    log_in(client, reader, log_in_form(press(client, article, LIKE | {"reader": str(reader.pk)})))
    assert stored(article) == (1, [(reader.pk, "liked")])


def test_another_reader_who_logs_in_does_not_get_it(client: Client, reader: User, other_reader: User, article: Article) -> None:
    fields = log_in_form(press(client, article, LIKE | {"reader": str(reader.pk), "next": "/?view=latest"}))
    response = log_in(client, other_reader, fields)
    assert (response["Location"], stored(article)) == ("/?view=latest", (0, []))
    said = box(client, "/?view=latest")
    assert said.text == "What was pressed before you logged in was not saved: it was another reader's."
    assert said.attributes["class"] == "box bad"


def test_after_ten_minutes_log_in_works_and_says_that_nothing_was_saved(client: Client, reader: User, article: Article) -> None:
    fields = log_in_form(press(client, article, LIKE))
    with time_machine.travel(timezone.now() + timedelta(minutes=10, seconds=2)):
        late = client.post("/login/", {"intent": fields["intent"]})
        assert page_of(late).one("p", class_="box").text == "What you pressed is too old to be saved. Log in and press once more."
        response = log_in(client, reader, fields)
        said = box(client, response["Location"]).text
    assert said == "What you pressed before logging in was not saved: it is too old. Press once more."
    assert stored(article) == (0, [])
    assert client.session["_auth_user_id"] == str(reader.pk)


@pytest.mark.parametrize("change", [lambda intent: intent[:-1], lambda intent: "x" + intent, lambda intent: "{}"])
def test_a_changed_intent_is_not_saved(client: Client, reader: User, article: Article, change: Any) -> None:
    fields = log_in_form(press(client, article, LIKE))
    response = log_in(client, reader, fields | {"intent": change(fields["intent"])})
    assert (response.status_code, stored(article)) == (302, (0, []))


def test_an_article_deleted_meanwhile_is_said(client: Client, reader: User, article: Article) -> None:
    fields = log_in_form(press(client, article, LIKE))
    article.delete()
    response = log_in(client, reader, fields)
    assert box(client, response["Location"]).text == (
        "What you pressed before logging in was not saved: the article is no longer available."
    )


def test_neither_reading_nor_the_session_keeps_or_saves_it(client: Client, reader: User, article: Article) -> None:
    fields = log_in_form(press(client, article, LIKE))
    client.get("/login/", fields)
    client.get("/signup/", fields)
    log_in(client, reader, {"next": "/"})
    client.get("/", fields)
    assert stored(article) == (0, [])


def test_the_way_back_after_log_in_never_leaves_the_site(client: Client, reader: User, article: Article) -> None:
    fields = log_in_form(press(client, article, LIKE | {"next": "https://evil.example/"}))
    assert log_in(client, reader, fields)["Location"] == f"/?kept={article.pk}#article-{article.pk}"


def test_after_the_log_in_nobody_is_led_to_another_site(client: Client, reader: User, article: Article) -> None:
    fields = log_in_form(press(client, article, LIKE | {"reader": ""})) | {"next": "http://testserver//evil.example/x"}
    assert log_in(client, reader, fields)["Location"].startswith("/evil.example/x?kept=")


def test_a_save_that_fails_at_the_log_in_is_made_by_sending_the_form_again(
    client: Client, reader: User, article: Article
) -> None:
    fields = log_in_form(press(client, article, LIKE | {"reader": ""}))
    token = client.cookies["csrftoken"].value

    def busy(execute: Any, sql: str, *rest: Any) -> Any:
        if "feedback_feedback" in sql:
            raise OperationalError("the row is locked")
        return execute(sql, *rest)

    with connection.execute_wrapper(busy):
        assert log_in(client, reader, fields).status_code == 503
    assert client.cookies["csrftoken"].value == token  # the form's own is good still
    assert log_in(client, reader, fields).status_code == 302
    assert stored(article) == (1, [(reader.pk, "liked")])


def test_an_intent_of_another_release_is_said_to_be_too_old(client: Client, reader: User, article: Article) -> None:
    fields = log_in_form(press(client, article, LIKE | {"reader": ""}))
    fields["intent"] = signing.dumps({"article": article.pk, "wish": "like"}, salt=intents.SALT)
    told = box(client, log_in(client, reader, fields)["Location"]).text
    assert (told, stored(article)) == (str(intents.WAS_NOT_SAVED[intents.Outcome.UNREADABLE]), (0, []))
