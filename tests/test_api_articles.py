"""GET /api/articles/ and /api/articles/{id}/: whole answers, as each reader gets them."""

from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from articles.models import Article, User
from feedback.services import apply_feedback
from feedback.verdicts import Wish
from tests.factories import ArticleFactory, FeedFactory, ago
from tests.test_lists import like, refuse


@pytest.fixture
def two(db: None) -> list[Article]:
    feed = FeedFactory(title="Lab notes")
    newer = ArticleFactory(
        feed=feed, title="Rust in anger", summary="所有権 & borrowing", tags=["rust", "ffi"], published_at=ago(hours=1)
    )
    return [newer, ArticleFactory(feed=feed, title="Sleep well", tags=[], published_at=ago(hours=2))]


def card(article: Article, **said: Any) -> dict[str, Any]:
    """The card of a reader of whom nothing is known, but for what is given."""
    return {
        "id": article.pk,
        "url": article.url,
        "title": article.title,
        "summary": article.summary,
        "source": article.feed.title,
        "sources": [article.feed.title],
        "tags": article.tags,
        "published_at": article.published_at.isoformat().replace("+00:00", "Z"),
        "liked": False,
        "not_interested": False,
        "like_count": 0,
        "version": 0,
        "match": None,
        "reasons": [],
    } | said


def walk(client: APIClient, address: str) -> list[int]:
    found: list[int] = []
    while address:
        answer = client.get(address).json()
        found += [shown["id"] for shown in answer["results"]]
        address = answer["next"]
        assert address is None or address.startswith("http://testserver/api/articles")
    return found


@pytest.mark.parametrize("address", ["/api/articles/", "/api/articles"])
def test_the_list_is_the_latest_cards_whole(two, anonymous_api, api, address):
    wanted = {"results": [card(two[0]), card(two[1])], "next": None}
    assert anonymous_api.get(address).json() == wanted
    assert api.get(address).json() == wanted


@pytest.mark.parametrize("slash", ["", "/"])
def test_one_card_is_whole(two, anonymous_api, api, slash):
    for client in (anonymous_api, api):
        answer = client.get(f"/api/articles/{two[0].pk}{slash}")
        assert answer.json() == card(two[0])
        assert list(answer.json()) == list(card(two[0]))
        assert answer["Content-Type"] == "application/json"


def test_each_reader_gets_their_own_state_match_and_reasons(two, reader, other_reader, api, other_api, anonymous_api):
    like(reader, two[0])
    refuse(other_reader, two[0])
    mine, theirs, nobody_s = (client.get(f"/api/articles/{two[0].pk}/").json() for client in (api, other_api, anonymous_api))
    assert mine == card(two[0], liked=True, like_count=1, version=1, match=mine["match"], reasons=mine["reasons"])
    assert 50 < mine["match"] < 100
    assert mine["reasons"][0] in ("rust", "ffi")
    assert theirs == card(two[0], not_interested=True, like_count=1, version=1)
    assert nobody_s == card(two[0], like_count=1)


def test_a_session_is_answered_as_its_reader(two, reader, other_reader, client):
    like(reader, two[0])
    like(other_reader, two[1])
    client.force_login(reader)
    assert [shown["liked"] for shown in client.get("/api/articles/").json()["results"]] == [True, False]


def test_a_page_asks_for_just_its_cards_in_its_order(two, reader, api, other_api):
    apply_feedback(profile_id=reader.pk, article_id=two[1].pk, wish=Wish(not_interested=True))
    address = f"/api/articles/?id={two[1].pk}&id={two[0].pk}&id={10**17}&id={two[1].pk}"
    assert api.get(address).json() == {"results": [card(two[1], not_interested=True, version=1), card(two[0])], "next": None}
    assert other_api.get(address).json() == {"results": [card(two[1]), card(two[0])], "next": None}
    many = "&".join(f"id={number}" for number in range(1, 101))
    assert api.get(f"/api/articles?{many}").status_code == 200


@pytest.mark.parametrize("view", ["for-you", "latest", "liked", "not-interested"])
def test_next_leads_through_the_whole_list(reader, other_reader, api, other_api, view):
    articles = [ArticleFactory(tags=["rust"]) for _number in range(65)] + [ArticleFactory(tags=["go"]) for _number in range(5)]
    for article in articles:
        for who in (reader, other_reader):
            (refuse if view == "not-interested" else like)(who, article)
    rust = sorted(article.pk for article in articles[:65])
    shown = walk(api, f"/api/articles/?view={view}&tag=rust")
    assert sorted(shown) == rust
    assert walk(other_api, f"/api/articles?view={view}&tag=rust&kept={rust[0]}").count(rust[0]) == 1


def test_what_is_hidden_is_in_no_list_but_its_own(two, reader, api, other_api):
    refuse(reader, two[0])
    for view, mine in (("for-you", [1]), ("latest", [1]), ("liked", []), ("not-interested", [0])):
        assert walk(api, f"/api/articles/?view={view}") == [two[number].pk for number in mine]
    assert walk(other_api, "/api/articles/") == [article.pk for article in two]


def vary(answer: Any) -> set[str]:
    return set(answer["Vary"].replace(" ", "").split(","))


def test_answers_are_for_one_reader_and_asked_about_each_time(two, api):
    for address in ("/api/articles/", f"/api/articles/{two[0].pk}/"):
        answer = api.get(address)
        assert (answer["Cache-Control"], answer["ETag"][:3]) == ("private, no-cache", 'W/"')
        assert vary(answer) >= {"Authorization", "Cookie"}


def test_failures_are_never_kept(two, api):
    for address in ("/api/articles/?view=best", "/api/articles/999999/"):
        answer = api.get(address)
        assert (answer["Cache-Control"], answer.has_header("ETag")) == ("no-store", False)
        assert vary(answer) >= {"Authorization", "Cookie"}


def lists_and_cards(article: Article) -> list[str]:
    return [
        "/api/articles/",
        "/api/articles/?view=for-you&tag=rust",
        f"/api/articles/?id={article.pk}",
        f"/api/articles/{article.pk}/",
    ]


@pytest.mark.parametrize("number", range(4))
def test_what_is_unchanged_is_304_until_anything_of_it_changes(two, reader, other_reader, api, anonymous_api, number):
    address = lists_and_cards(two[0])[number]
    first = api.get(address)
    again = api.get(address, HTTP_IF_NONE_MATCH=f'W/"other", {first["ETag"]}')
    assert (again.status_code, again.content, again["ETag"], again["Cache-Control"]) == (
        304,
        b"",
        first["ETag"],
        "private, no-cache",
    )
    assert vary(again) == vary(first)
    assert api.head(address, HTTP_IF_NONE_MATCH=first["ETag"]).status_code == 304
    like(other_reader, two[0])
    counted = api.get(address, HTTP_IF_NONE_MATCH=first["ETag"])
    assert (counted.status_code, api.get(address)["ETag"]) == (200, counted["ETag"])
    like(reader, two[0])
    mine = api.get(address, HTTP_IF_NONE_MATCH=counted["ETag"])
    assert mine.status_code == 200
    assert anonymous_api.get(address, HTTP_IF_NONE_MATCH=mine["ETag"]).status_code == 200


def test_other_methods_are_refused_with_what_is_allowed(two, api):
    for method in ("post", "put", "delete", "options"):
        answer = getattr(api, method)("/api/articles/")
        assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD")


def test_reading_writes_nothing(two, reader, api):
    with CaptureQueriesContext(connection) as statements:
        api.get("/api/articles/")
        api.get(f"/api/articles/{two[0].pk}/")
    assert {query["sql"].split()[0] for query in statements} <= {"SELECT", "UPDATE"}
    assert sum(query["sql"].startswith("UPDATE") for query in statements) <= 1  # the token's day of last use
    assert not User.objects.filter(profile__isnull=False).exists()


@pytest.mark.parametrize("count", [1, 60])
def test_a_list_costs_six_statements_with_a_session_and_four_when_warm(reader, other_reader, client, count):
    articles = [ArticleFactory() for _number in range(count)]
    like(reader, articles[0])
    like(other_reader, articles[0])
    client.force_login(reader)
    for view in ("for-you", "latest", "liked", "not-interested"):
        cache.clear()
        ArticleFactory()  # the snapshot is loaded again
        for expected in (6, 4):
            with CaptureQueriesContext(connection) as statements:
                client.get(f"/api/articles/?view={view}")
            assert len(statements) == expected


def test_head_answers_like_get(two, anonymous_api):
    for address in ("/api/articles/", f"/api/articles/{two[0].pk}"):
        assert anonymous_api.head(address).status_code == 200


def problem(answer: Any) -> dict[str, Any]:
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["status"] == answer.status_code
    return answer.json()


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("id=seven", "id"),
        ("id=", "id"),
        ("id=1&id=1.5", "id"),
        ("id=-1", "id"),
        ("id=٧", "id"),
        (f"id={2**63}", "id"),
        (f"id={10**400}", "id"),
        ("&".join(f"id={number}" for number in range(101)), "id"),
        ("view=best", "view"),
        ("cursor=garbage", "cursor"),
        ("cursor=eJwDAAAAAAE", "cursor"),
        ("kept=x", "kept"),
        ("q=%00", "q"),
        ("tag=" + "a" * 201, "tag"),
    ],
)
def test_a_query_that_cannot_be_read_is_a_problem_that_names_the_field(two, anonymous_api, api, query, name):
    for client in (anonymous_api, api):
        answer = client.get(f"/api/articles/?{query}")
        found = problem(answer)
        assert (answer.status_code, found["code"], list(found["errors"])) == (400, "invalid", [name])
        assert found["errors"][name][0].endswith(".")


@pytest.mark.parametrize("number", ["999999", str(2**63), "1" * 400, "seven", "1.5", "-1", "0"])
def test_an_article_that_is_not_there_is_a_404_problem(two, api, anonymous_api, number):
    for client in (api, anonymous_api):
        for slash in ("", "/"):
            answer = client.get(f"/api/articles/{number}{slash}")
            assert (answer.status_code, problem(answer)["code"]) == (404, "not_found")


def test_a_visitor_has_no_lists_of_marks(two, anonymous_api):
    for view in ("liked", "not-interested"):
        answer = anonymous_api.get(f"/api/articles/?view={view}")
        assert (answer.status_code, problem(answer)["code"]) == (401, "not_authenticated")
        assert "WWW-Authenticate" in answer


def test_lists_and_cards_are_for_reading(two, api):
    for method in (api.post, api.put, api.patch, api.delete):
        for address in ("/api/articles/", f"/api/articles/{two[0].pk}/"):
            answer = method(address)
            assert (answer.status_code, problem(answer)["code"]) == (405, "method_not_allowed")
    assert Article.objects.count() == 2
