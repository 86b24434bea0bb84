"""A press without JavaScript: a form with the whole verdict, and the way back to the list."""

from io import BytesIO
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from articles.models import Article, User
from feedback.models import Feedback
from tests.factories import ArticleFactory
from tests.pages import cards_of, page_of

LIKE = {"liked": "true", "not_interested": "false"}
DISLIKE = {"liked": "false", "not_interested": "true"}
NOTHING = {"liked": "false", "not_interested": "false"}
FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def site(client: Client, reader: User) -> Client:
    client.force_login(reader)
    return client


def press(client: Client, article: Article, fields: dict[str, Any]) -> Any:
    return send(client, f"/articles/{article.pk}/feedback", fields)


def send(client: Client, address: str, fields: dict[str, Any]) -> Any:
    """As a browser sends a form; the test client's own default is multipart."""
    return client.post(address, urlencode(fields), content_type=FORM)


def stored(article: Article) -> tuple[int, list[tuple[int, str]]]:
    """The count, and (reader, verdict) by reader of what somebody said."""
    article.refresh_from_db()
    said = Feedback.objects.filter(article=article).exclude(verdict="").order_by("profile_id")
    return article.like_count, list(said.values_list("profile_id", "verdict"))


def test_a_press_saves_and_goes_back_to_its_card(site: Client, reader: User, other_reader: User, article: Article) -> None:
    other = Client()
    other.force_login(other_reader)
    press(other, article, LIKE)
    response = press(site, article, LIKE | {"next": "/?view=latest&tag=python"})
    assert (response.status_code, response["Location"]) == (
        303,
        f"/?view=latest&tag=python&kept={article.pk}#article-{article.pk}",
    )
    assert stored(article) == (2, [(reader.pk, "liked"), (other_reader.pk, "liked")])


def test_the_form_on_the_page_does_what_its_button_says(site: Client, reader: User, article: Article) -> None:
    expected = [("liked", "liked"), ("not_interested", "not_interested"), ("undo", ""), ("not_interested", "not_interested")]
    for verdict, after in expected:
        card = cards_of(site.get(f"/?view=latest&kept={article.pk}"))[article.pk]
        form = card.one("form", data_verdict=verdict)
        send(site, form.attributes["action"], form.fields())
        assert stored(article)[1] == ([(reader.pk, after)] if after else [])


def test_pressing_the_same_form_twice_changes_nothing_more(site: Client, reader: User, article: Article) -> None:
    for _ in range(2):
        assert press(site, article, LIKE).status_code == 303
    assert stored(article) == (1, [(reader.pk, "liked")])


def test_a_hidden_card_stays_once_folded_with_undo(site: Client, article: Article) -> None:
    ArticleFactory()
    back = press(site, article, DISLIKE | {"next": "/?view=latest"})["Location"]
    card = cards_of(site.get(back))[article.pk]
    assert ("data-folded" in card.attributes, card.one("p", class_="note").text) == (True, "Hidden. Similar ones sink. Undo")
    assert article.pk not in cards_of(site.get("/?view=latest"))


def test_a_card_taken_back_stays_once_in_the_liked_list(site: Client, article: Article) -> None:
    press(site, article, LIKE)
    back = press(site, article, NOTHING | {"next": "/?view=liked"})["Location"]
    card = cards_of(site.get(back))[article.pk]
    assert (card.attributes["data-liked"], card.one("p", class_="note").text[:6]) == ("false", "Saved.")
    assert not cards_of(site.get("/?view=liked"))


def test_only_the_last_card_is_kept(site: Client) -> None:
    first, second = ArticleFactory.create_batch(2)
    back = press(site, first, DISLIKE | {"next": "/?view=latest"})["Location"]
    back = press(site, second, DISLIKE | {"next": back.split("#")[0]})["Location"]
    assert back == f"/?view=latest&kept={second.pk}#article-{second.pk}"
    assert set(cards_of(site.get(back))) == {second.pk}


@pytest.mark.parametrize(
    "elsewhere",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "///evil.example",
        "javascript:alert(1)",
        "x",
        "",
        "/\t/evil.example",
    ],
)
def test_the_way_back_never_leaves_the_site(site: Client, article: Article, elsewhere: str) -> None:
    response = press(site, article, LIKE | {"next": elsewhere})
    assert response["Location"] == f"/?kept={article.pk}#article-{article.pk}"


@pytest.mark.parametrize(
    "body",
    [
        "liked=true",
        "not_interested=false",
        "liked=&not_interested=false",
        "liked=1&not_interested=false",
        "liked=True&not_interested=false",
        "liked=true&not_interested=true",
        "liked=true&liked=false&not_interested=false",
        "liked=true&not_interested=false&not_interested=false",
        "liked=true&not_interested=false&client=short&seq=1",
        "liked=true&not_interested=false&client=long-enough",
        "liked=true&not_interested=false&seq=1",
        "liked=true&not_interested=false&client=long-enough&seq=-1",
    ],
)
def test_a_missing_or_malformed_field_is_a_page_and_never_a_toggle(site: Client, article: Article, body: str) -> None:
    press(site, article, LIKE)
    before = stored(article)
    response = site.post(f"/articles/{article.pk}/feedback", body, content_type=FORM)
    assert (response.status_code, page_of(response).one("h1").text) == (400, "This press could not be read")
    assert stored(article) == before


def test_a_verdict_in_the_address_counts_for_nothing(site: Client, article: Article) -> None:
    response = site.post(f"/articles/{article.pk}/feedback?liked=true&not_interested=false", "reader=", content_type=FORM)
    assert (response.status_code, stored(article)) == (400, (0, []))


def test_a_body_cut_anywhere_saves_nothing(site: Client, reader: User, article: Article) -> None:
    body = f"liked=true&not_interested=false&client=browser-1&seq=1764547200000&reader={reader.pk}&next=%2F"
    statuses = set()
    for end in range(len(body)):
        arrived = {"CONTENT_LENGTH": str(len(body)), "CONTENT_TYPE": FORM, "wsgi.input": BytesIO(body[:end].encode())}
        statuses.add(site.generic("POST", f"/articles/{article.pk}/feedback", **arrived).status_code)
    assert (statuses, stored(article)) == ({400}, (0, []))


@pytest.mark.parametrize("kind", ["application/json", "text/plain", ""])
def test_other_bodies_than_a_form_save_nothing(site: Client, article: Article, kind: str) -> None:
    response = site.post(f"/articles/{article.pk}/feedback", b'{"liked": true, "not_interested": false}', content_type=kind)
    assert (response.status_code, stored(article)) == (415, (0, []))


def test_a_multipart_form_is_a_form_too(article: Article, reader: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(reader)
    client.cookies["csrftoken"] = "a" * 32
    press = {"liked": "true", "not_interested": "false", "next": "/", "csrfmiddlewaretoken": "a" * 32}
    assert client.post(f"/articles/{article.pk}/feedback", press).status_code == 303
    assert stored(article)[0] == 1
    cut = b'--x\r\nContent-Disposition: form-data; name="liked"\r\n\r\nfal'
    refused = client.post(
        f"/articles/{article.pk}/feedback", cut, content_type="multipart/form-data; boundary=x", headers={"X-CSRFToken": "a" * 32}
    )
    assert refused.status_code == 400
    assert stored(article)[0] == 1


@pytest.mark.parametrize("number", ["0", "999999999999999999"])
def test_an_unknown_article_is_a_page_not_found(site: Client, db: None, number: str) -> None:
    for client in (site, Client()):
        response = send(client, f"/articles/{number}/feedback", LIKE)
        assert (response.status_code, page_of(response).one("h1").text) == (404, "There is no such page")


@pytest.mark.parametrize("number", ["9" * 19, "x", "-1", ""])
def test_an_address_without_an_article_number_is_not_found(site: Client, db: None, number: str) -> None:
    assert send(site, f"/articles/{number}/feedback", LIKE).status_code == 404


def test_a_form_of_another_reader_saves_for_nobody(site: Client, other_reader: User, article: Article) -> None:
    response = press(site, article, LIKE | {"reader": str(other_reader.pk)})
    assert (response.status_code, page_of(response).one("h1").text) == (403, "Another reader is logged in now")
    assert stored(article) == (0, [])


@pytest.mark.parametrize("named", ["own", "", None])
def test_a_form_of_this_reader_or_of_nobody_is_saved(site: Client, reader: User, article: Article, named: str | None) -> None:
    fields = {} if named is None else {"reader": str(reader.pk) if named else ""}
    assert press(site, article, LIKE | fields).status_code == 303
    assert stored(article) == (1, [(reader.pk, "liked")])


def test_the_order_guard_holds_for_forms_too(site: Client, reader: User, article: Article) -> None:
    press(site, article, NOTHING | {"client": "browser-1", "seq": "5"})
    press(site, article, LIKE | {"client": "browser-1", "seq": "4"})
    assert stored(article) == (0, [])
    press(site, article, LIKE | {"client": "browser-1", "seq": "6"})
    assert stored(article) == (1, [(reader.pk, "liked")])


def test_without_a_csrf_token_nothing_is_saved(reader: User, article: Article) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(reader)
    response = press(client, article, LIKE)
    assert (response.status_code, page_of(response).one("h1").text) == (403, "This page was too old to send from")
    assert stored(article) == (0, [])


def test_with_the_pages_own_token_it_is_saved(reader: User, article: Article) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(reader)
    form = cards_of(client.get("/"))[article.pk].one("form", data_verdict="liked")
    assert send(client, form.attributes["action"], form.fields()).status_code == 303
    assert stored(article) == (1, [(reader.pk, "liked")])


@pytest.mark.parametrize("method", ["get", "head"])
def test_reading_the_address_writes_nothing_and_leads_to_the_list(site: Client, article: Article, method: str) -> None:
    response = getattr(site, method)(f"/articles/{article.pk}/feedback", LIKE)
    assert (response.status_code, response["Location"], stored(article)) == (302, "/", (0, []))
