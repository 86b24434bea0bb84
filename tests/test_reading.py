"""Read marks: over the API, without JavaScript, in the lists."""

import json
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core.cache import cache
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from articles import snapshot
from articles.lists import ListQuery, list_page
from articles.models import Article, Profile, User
from feedback.models import Feedback
from feedback.reading import ReadMark, mark_read
from feedback.services import apply_feedback
from feedback.verdicts import Wish
from tests.concurrency import at_once
from tests.factories import ArticleFactory, FeedFactory, ago
from tests.pages import cards_of, page_of


@pytest.fixture
def site(client: Client, reader: User) -> Client:
    client.force_login(reader)
    return client


def put(api: APIClient, article: Article, body: Any, slash: str = "/") -> Any:
    return api.put(f"/api/articles/{article.pk}/read{slash}", body, format="json")


def marks() -> set[tuple[int, int]]:
    """(reader, article) of every read mark."""
    return set(Feedback.objects.exclude(read_at=None).values_list("profile_id", "article_id"))


def listed(reader: User | None, query: str = "") -> set[int]:
    return {card.id for card in list_page(ListQuery.parse(QueryDict(query)), reader).cards}


# The API


@pytest.mark.parametrize("slash", ["/", ""])
def test_a_mark_is_set_and_taken_back_and_sent_again_harmlessly(
    api: APIClient, other_api: APIClient, reader: User, other_reader: User, article: Article, slash: str
) -> None:
    put(other_api, article, {"read": True})
    told = [put(api, article, {"read": read}, slash).json() for read in (False, True, True, False, False)]
    assert told == [
        {"article": article.pk, "read": read, "changed": changed}
        for read, changed in ((False, False), (True, True), (True, False), (False, True), (False, False))
    ]
    assert marks() == {(other_reader.pk, article.pk)}
    answer = api.get(f"/api/articles/{article.pk}/read{slash}")
    assert (answer.json(), answer["Cache-Control"]) == ({"article": article.pk, "read": False}, "no-store")
    assert other_api.get(f"/api/articles/{article.pk}/read/").json() == {"article": article.pk, "read": True}


@pytest.mark.parametrize("body", [{}, {"read": None}, {"read": "true"}, {"read": 1}, {"read": []}, {"liked": True}])
def test_anything_but_true_or_false_is_refused(api: APIClient, reader: User, article: Article, body: Any) -> None:
    answer = put(api, article, body)
    assert (answer.status_code, answer.json()["code"], list(answer.json()["errors"])) == (400, "invalid", ["read"])
    assert not Feedback.objects.exists()


def test_a_field_that_stands_twice_is_refused(api: APIClient, article: Article) -> None:
    doubled = api.put(f"/api/articles/{article.pk}/read/", '{"read": true, "read": false}', content_type="application/json")
    assert doubled.status_code == 400
    assert not Feedback.objects.exists()


def test_who_may_not_and_what_is_not_there(api: APIClient, anonymous_api: APIClient, article: Article) -> None:
    assert put(anonymous_api, article, {"read": True}).status_code == 401
    assert api.post(f"/api/articles/{article.pk}/read/").status_code == 405
    for answer in (api.put("/api/articles/999999/read/", {"read": True}, format="json"), api.get("/api/articles/999999/read/")):
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert not Feedback.objects.exists()


def test_a_mark_is_no_verdict_and_a_verdict_no_mark(api: APIClient, reader: User, article: Article) -> None:
    put(api, article, {"read": True})
    assert not Profile.objects.exclude(interest_version=0).exists()
    state = api.get(f"/api/articles/{article.pk}/like/").json()
    assert state == {"article": article.pk, "liked": False, "not_interested": False, "like_count": 0, "version": 0}
    apply_feedback(profile_id=reader.pk, article_id=article.pk, wish=Wish(liked=True))
    apply_feedback(profile_id=reader.pk, article_id=article.pk, wish=Wish(liked=False))
    assert marks() == {(reader.pk, article.pk)}
    put(api, article, {"read": False})
    assert api.get(f"/api/articles/{article.pk}/like/").json()["version"] == 2


@pytest.mark.django_db(transaction=True)
def test_a_repeat_writes_nothing(api: APIClient, reader: User, article: Article) -> None:
    put(api, article, {"read": True})
    with CaptureQueriesContext(connection) as captured:
        put(api, article, {"read": True})
    assert len(captured) == 2  # who asks, and how it is


def test_a_look_on_another_day_renews_the_mark(reader: User, article: Article) -> None:
    mark_read(profile_id=reader.pk, article_id=article.pk, read=True)
    with time_machine.travel(timezone.now() + timedelta(days=2), tick=True):
        start = timezone.now()
        assert mark_read(profile_id=reader.pk, article_id=article.pk, read=True) == ReadMark(article.pk, True, changed=False)
        assert Feedback.objects.filter(read_at__gte=start).exists()


@pytest.mark.django_db(transaction=True)
def test_of_marks_that_arrive_at_once_one_changed_it(reader: User, article: Article) -> None:
    told = at_once([lambda: mark_read(profile_id=reader.pk, article_id=article.pk, read=True)] * 6)
    assert sorted(mark.changed for mark in told) == [False] * 5 + [True]
    assert marks() == {(reader.pk, article.pk)}


# Without JavaScript


def test_the_form_on_the_card_marks_and_takes_back(site: Client, reader: User, other_reader: User, article: Article) -> None:
    for read in (True, False):
        card = cards_of(site.get("/?view=latest"))[article.pk]
        form = card.one("form", id=f"r{article.pk}")
        button = card.one("button", class_="read")
        assert (button.attributes["form"], button.text) == (f"r{article.pk}", "Read")
        assert button.attributes["aria-pressed"] == str(not read).lower()
        answer = site.post(form.attributes["action"], form.fields())
        assert (answer.status_code, answer["Location"]) == (303, f"/?view=latest&kept={article.pk}#article-{article.pk}")
        assert marks() == ({(reader.pk, article.pk)} if read else set())


@pytest.mark.parametrize("fields", [{}, {"read": ""}, {"read": "yes"}, {"liked": "true"}])
def test_an_incomplete_form_is_no_mark(site: Client, article: Article, fields: dict[str, str]) -> None:
    assert site.post(f"/articles/{article.pk}/read", fields).status_code == 400
    assert marks() == set()


def test_a_form_of_another_reader_marks_nothing(site: Client, reader: User, other_reader: User, article: Article) -> None:
    assert site.post(f"/articles/{article.pk}/read", {"read": "true", "reader": other_reader.pk}).status_code == 403
    assert marks() == set()


def test_a_visitor_is_asked_to_log_in_and_has_no_button(client: Client, article: Article) -> None:
    assert not cards_of(client.get("/"))[article.pk].all("button", class_="read")
    answer = client.post(f"/articles/{article.pk}/read", {"read": "true", "next": "/?view=latest"})
    assert (answer.status_code, answer["Location"]) == (302, "/login/?next=/%3Fview%3Dlatest")
    assert marks() == set()


def test_an_article_that_is_gone_is_said(site: Client, article: Article) -> None:
    assert site.post("/articles/999999/read", {"read": "true"}).status_code == 404


def test_without_a_csrf_token_nothing_is_marked(reader: User, article: Article) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(reader)
    assert client.post(f"/articles/{article.pk}/read", {"read": "true"}).status_code == 403
    assert marks() == set()


def test_looking_writes_nothing(site: Client, reader: User, article: Article) -> None:
    for address in ("/", "/?view=latest", f"/articles/{article.pk}/read", f"/?kept={article.pk}", "/api/articles/"):
        site.get(address)
    assert not Feedback.objects.exists()
    assert not Profile.objects.exists()


# In the lists


@pytest.fixture
def library(db: None) -> list[Article]:
    feeds = FeedFactory.create_batch(5)
    return [ArticleFactory(feed=feeds[n % 5], published_at=ago(hours=n)) for n in range(50)]


def test_read_cards_are_dimmed_for_their_reader_alone(
    site: Client, reader: User, other_reader: User, library: list[Article]
) -> None:
    mark_read(profile_id=reader.pk, article_id=library[0].pk, read=True)
    mark_read(profile_id=other_reader.pk, article_id=library[1].pk, read=True)
    dimmed = {key for key, card in cards_of(site.get("/")).items() if "data-read" in card.attributes}
    assert dimmed == {library[0].pk}
    assert not any("data-read" in card.attributes for card in cards_of(Client().get("/")).values())


@pytest.mark.parametrize("view", ["for-you", "latest"])
@pytest.mark.parametrize("has_likes", [True, False])
def test_only_unread_ones_fill_the_page(
    reader: User, other_reader: User, library: list[Article], view: str, has_likes: bool
) -> None:
    if has_likes:
        apply_feedback(profile_id=reader.pk, article_id=library[49].pk, wish=Wish(liked=True))
    for article in library[:20]:
        mark_read(profile_id=reader.pk, article_id=article.pk, read=True)
    mark_read(profile_id=other_reader.pk, article_id=library[30].pk, read=True)
    unread = {article.pk for article in library[20:]}
    assert listed(reader, f"view={view}&read=unread") == unread
    assert len(listed(reader, f"view={view}")) == 30
    assert len(listed(None, f"view={view}&read=unread")) == 30  # a visitor has read nothing
    assert listed(reader, f"view={view}&read=unread&kept={library[0].pk}") >= {library[0].pk}


def test_the_lists_of_marks_are_narrowed_too(reader: User, library: list[Article]) -> None:
    for article in library[:4]:
        apply_feedback(profile_id=reader.pk, article_id=article.pk, wish=Wish(liked=True))
    mark_read(profile_id=reader.pk, article_id=library[0].pk, read=True)
    assert listed(reader, "view=liked&read=unread") == {article.pk for article in library[1:4]}


def test_unread_is_a_filter_like_the_others(site: Client, library: list[Article]) -> None:
    page = page_of(site.get("/?view=latest&read=unread"))
    (chosen,) = [option for option in page.one("select", id="fr").all("option") if "selected" in option.attributes]
    assert (chosen.text, page.one("p", class_="lead").text) == ("Only unread", "unread Clear")
    assert "read=unread" in page.one("a", rel="next").attributes["href"]
    assert not page_of(Client().get("/")).all("select", id="fr")


def test_another_word_is_refused(site: Client, db: None) -> None:
    assert site.get("/?read=none").status_code == 400


@pytest.mark.parametrize("view", ["for-you", "latest", "liked"])
def test_the_filter_costs_no_statement_more(reader: User, library: list[Article], view: str) -> None:
    apply_feedback(profile_id=reader.pk, article_id=library[0].pk, wish=Wish(liked=True))
    mark_read(profile_id=reader.pk, article_id=library[0].pk, read=True)
    cache.clear()
    snapshot._kept = None
    with CaptureQueriesContext(connection) as captured:
        listed(reader, f"view={view}&read=unread")
    assert len(captured) == 4


def test_the_page_tells_the_script_where_marks_go(site: Client, article: Article) -> None:
    data = json.loads(page_of(site.get("/")).one("script", id="page-data").raw_text)
    assert data["urls"]["read"] == "/api/articles/{article}/read/"
