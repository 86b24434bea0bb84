"""One card for a story that several feeds carry: it names them all, and is found under each."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from articles.cards import cards_by_id
from articles.feeds.moves import move
from articles.feeds.parse import parse
from articles.feeds.store import Stored, store
from articles.lists import ListQuery, list_page
from articles.models import Article, ArticleSource, Feed, User
from tests.concurrency import at_once
from tests.factories import ArticleFactory, FeedbackFactory, FeedFactory
from tests.feeds.documents import item, rss
from tests.pages import cards_of

NOW = datetime(2026, 1, 10, 12, tzinfo=UTC)
STORY = "https://blog.example/story"


@pytest.fixture
def feeds(db: None) -> list[Feed]:
    """Blog tells the story first; then a planet and an aggregator carry it."""
    feeds: list[Feed] = [FeedFactory(title=title) for title in ("The blog", "planet", "Aggregator")]
    keep(feeds[0], item("Story", STORY, "1"), item("Only here", "https://blog.example/2", "2"))
    keep(feeds[1], item("Story (blog)", f"{STORY}?utm_source=planet", "p1"))
    keep(feeds[2], item("A story", "http://blog.example/story/#top"), item("Own", "https://aggregator.example/own"))
    return feeds


def keep(feed: Feed, *items: str) -> Stored:
    return store(feed, parse(rss(*items)), now=NOW)


def sources(url: str = STORY) -> list[str]:
    return cards_by_id([Article.objects.get(url=url).pk], None)[0].sources


def found(reader: User | None, **query: str) -> set[str]:
    asked = QueryDict(mutable=True)
    asked.update(query)
    return {card.title for card in list_page(ListQuery.parse(asked), reader).cards}


def test_a_card_names_all_its_sources_the_first_first(feeds: list[Feed]) -> None:
    assert sources() == ["The blog", "Aggregator", "planet"]
    assert sources("https://blog.example/2") == ["The blog"]


def test_b73_one_like_is_the_like_of_the_story_in_every_feed(feeds: list[Feed], reader: User) -> None:
    article = Article.objects.get(url=STORY)
    FeedbackFactory(article=article)
    Article.objects.filter(pk=article.pk).update(like_count=1)
    keep(feeds[2], item("A story", "http://blog.example/story/"))
    assert [(card.like_count, card.source) for card in cards_by_id([article.pk], reader)] == [(1, "The blog")]


def test_the_api_tells_them_as_a_list_of_texts(feeds: list[Feed], anonymous_api: APIClient) -> None:
    told = {card["title"]: (card["source"], card["sources"]) for card in anonymous_api.get("/api/articles/").json()["results"]}
    assert told == {
        "Story": ("The blog", ["The blog", "Aggregator", "planet"]),
        "Only here": ("The blog", ["The blog"]),
        "Own": ("Aggregator", ["Aggregator"]),
    }


def test_the_page_links_each_of_them(feeds: list[Feed], client: Client) -> None:
    card = cards_of(client.get("/"))[Article.objects.get(url=STORY).pk]
    links = [link for link in card.one("p", class_="meta").all("a") if "class" not in link.attributes]
    assert [(link.text, link.attributes["href"]) for link in links] == [
        ("The blog", "?source=The+blog"),
        ("Aggregator", "?source=Aggregator"),
        ("planet", "?source=planet"),
    ]


@pytest.mark.parametrize("view", ["for-you", "latest"])
def test_a_story_is_found_under_each_of_its_sources(feeds: list[Feed], reader: User, view: str) -> None:
    for who in (reader, None):
        assert found(who, view=view, source="The blog") == {"Story", "Only here"}
        assert found(who, view=view, source="planet") == {"Story"}
        assert found(who, view=view, source="Aggregator") == {"Story", "Own"}
        assert found(who, view=view, source="plane") == set()


def test_the_filter_offers_a_source_that_told_nothing_first(feeds: list[Feed]) -> None:
    assert list_page(ListQuery(), None).sources == ["Aggregator", "planet", "The blog"]


def test_two_feeds_of_one_name_are_named_once(feeds: list[Feed]) -> None:
    keep(FeedFactory(title="The blog"), item("Story", STORY))
    assert sources() == ["The blog", "Aggregator", "planet"]


def test_a_second_fetch_adds_no_source_twice(feeds: list[Feed]) -> None:
    before = set(ArticleSource.objects.values_list("pk", flat=True))
    keep(feeds[1], item("Story (blog)", STORY, "p1"))
    assert set(ArticleSource.objects.values_list("pk", flat=True)) == before
    assert len(before) == 2


@pytest.mark.django_db(transaction=True)
def test_of_feeds_that_bring_a_story_at_once_one_tells_it_and_all_are_named() -> None:
    feeds = [FeedFactory(title=f"Feed {n}") for n in range(4)]
    items = [item(f"Story {n}", f"https://blog.example/{n}") for n in range(10)]
    at_once([lambda feed=feed: keep(feed, *items) for feed in feeds])  # type: ignore[misc]
    assert {tuple(sorted(card.sources)) for card in cards_by_id(list(Article.objects.values_list("pk", flat=True)), None)} == {
        ("Feed 0", "Feed 1", "Feed 2", "Feed 3")
    }
    assert Article.objects.count() == 10


def test_feeds_that_become_one_are_named_once(feeds: list[Feed]) -> None:
    blog, planet, aggregator = feeds
    assert move(planet, aggregator.url) == aggregator
    assert sources() == ["The blog", "Aggregator"]
    assert move(blog, aggregator.url) == aggregator
    assert sources() == ["Aggregator"]
    assert set(ArticleSource.objects.all()) == set()
    assert Article.objects.filter(feed=aggregator).count() == 3


def test_a_link_follows_its_feed(feeds: list[Feed]) -> None:
    elsewhere = FeedFactory(title="Elsewhere")
    move(feeds[1], elsewhere.url)
    assert sources() == ["The blog", "Aggregator", "Elsewhere"]


def test_cards_cost_one_statement_however_many_sources_they_have(feeds: list[Feed], reader: User) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as captured:
            list_page(ListQuery(view="latest"), reader)
        return len(captured)

    statements()
    before = statements()
    for feed in FeedFactory.create_batch(5):
        keep(feed, *[item(f"Story {n}", f"https://blog.example/{n}") for n in range(20)])
    statements()
    assert statements() == before == 2


def test_an_article_of_old_code_has_its_one_source(db: Any) -> None:
    article = ArticleFactory(feed=FeedFactory(title="Only"))
    assert cards_by_id([article.pk], None)[0].sources == ["Only"]
