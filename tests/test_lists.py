"""articles.lists: what each list holds, how "More" goes on, and what an address may not say."""

import base64
import json
import random
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from django.core.cache import cache
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from articles import snapshot
from articles.cards import Card, cards_by_id
from articles.cursors import DatedPlace, RankedPlace, pack, unpack
from articles.lists import PAGE_SIZE, BadQuery, ListPage, ListQuery, list_page
from articles.models import Article, User
from feedback.services import apply_feedback
from feedback.verdicts import Wish
from tests.factories import ArticleFactory, FeedFactory, UserFactory, ago

VIEWS = ["for-you", "latest", "liked", "not-interested"]


def like(reader: User, article: Article, liked: bool = True) -> None:
    apply_feedback(profile_id=reader.pk, article_id=article.pk, wish=Wish(liked=liked))


def refuse(reader: User, article: Article, not_interested: bool = True) -> None:
    apply_feedback(profile_id=reader.pk, article_id=article.pk, wish=Wish(not_interested=not_interested))


def page(reader: User | None, address: str = "", cursor: str | None = None) -> ListPage:
    query = QueryDict(address, mutable=True)
    if cursor:
        query["cursor"] = cursor
    return list_page(ListQuery.parse(query), reader)


def pages(reader: User | None, address: str = "", between: Callable[[], object] = lambda: None) -> Iterator[list[int]]:
    cursor: str | None = ""
    for _page in range(20):
        shown = page(reader, address, cursor)
        yield ids(shown.cards)
        cursor, address = shown.next_cursor, address.partition("kept=")[0]  # "More" keeps no card
        if cursor is None:
            return
        between()
    pytest.fail("The list does not end.")


def walk(reader: User | None, address: str = "", between: Callable[[], object] = lambda: None) -> list[int]:
    return [number for shown in pages(reader, address, between) for number in shown]


def ids(cards: list[Card]) -> list[int]:
    return [card.id for card in cards]


def keys(articles: list[Article]) -> list[int]:
    return [article.pk for article in articles]


@pytest.fixture
def library(db: None) -> list[Article]:
    """Seventy articles from seven sources about five things, newest first."""
    feeds, tags = FeedFactory.create_batch(7), ["rust", "go", "css", "sql", "ai"]
    return [
        ArticleFactory(feed=feeds[number % 7], tags=[tags[number % 5]], published_at=ago(hours=number)) for number in range(70)
    ]


# What a list holds


def test_latest_is_newest_first_whatever_the_reader_likes(library, reader, other_reader):
    like(reader, library[60])
    assert walk(reader, "view=latest") == walk(other_reader, "view=latest") == walk(None, "view=latest") == keys(library)


def test_latest_reaches_articles_that_the_ranking_does_not(library, reader, monkeypatch):
    monkeypatch.setattr(snapshot, "SNAPSHOT_SIZE", 10)
    like(reader, library[0])
    cards = page(reader, "view=latest").cards
    assert ids(cards) == keys(library[:30])
    assert [card.match is None for card in cards] == [False] * 10 + [True] * 20
    assert sorted(walk(reader)) == sorted(keys(library[:10]))


def test_for_you_begins_with_what_is_like_the_likes(library, reader, other_reader):
    like(reader, library[5])
    like(other_reader, library[6])
    assert page(reader).cards[0].tags == ["rust"]
    assert page(other_reader).cards[0].tags == ["go"]
    assert sorted(walk(reader)) == sorted(walk(other_reader)) == sorted(keys(library))


def test_the_hot_order_is_for_visitors_and_for_readers_without_a_like(library, reader, other_reader):
    for liker in UserFactory.create_batch(3):
        like(liker, library[20])
    refuse(other_reader, library[0])
    hot = walk(None)
    assert hot[0] == library[0].pk
    assert hot.index(library[20].pk) < 12  # three likes are worth thirteen hours
    assert walk(reader) == hot
    assert walk(other_reader) == hot[1:]
    assert {card.match for card in page(other_reader).cards + page(None).cards} == {None}


def test_a_liked_article_stays_in_for_you_and_a_refused_one_is_gone_at_once(library, reader, other_reader):
    like(reader, library[0])
    refuse(reader, library[1])
    for view in ("for-you", "latest"):
        assert library[0].pk in walk(reader, f"view={view}")
        assert sorted(walk(reader, f"view={view}")) == sorted(keys([library[0], *library[2:]]))
        assert sorted(walk(other_reader, f"view={view}")) == sorted(keys(library))


def test_marked_articles_are_listed_newest_mark_first_each_in_its_own_list(library, reader, other_reader):
    for article in library[:40]:
        like(reader, article)
        like(other_reader, article)
    for article in library[40:]:
        refuse(reader, article)
    like(reader, library[3], liked=False)
    refuse(reader, library[50], not_interested=False)
    liked, refused = library[39:3:-1] + library[2::-1], library[69:50:-1] + library[49:39:-1]
    assert walk(reader, "view=liked") == keys(liked)
    assert walk(reader, "view=not-interested") == keys(refused)
    assert walk(other_reader, "view=liked") == keys(library[39::-1])
    assert walk(other_reader, "view=not-interested") == walk(None, "view=liked") == []


def test_no_source_fills_a_page_nor_the_seam_of_two_pages(reader, other_reader):
    loud, others = FeedFactory(title="Loud"), FeedFactory.create_batch(5)
    articles = [ArticleFactory(feed=feed, published_at=ago()) for feed in others]
    articles += [ArticleFactory(feed=loud, published_at=ago(hours=1, minutes=number)) for number in range(40)]
    articles += [ArticleFactory(feed=others[number % 5], published_at=ago(days=1, minutes=number)) for number in range(40)]
    like(reader, articles[0])
    for who in (reader, other_reader, None):
        sources = [card.source for card in cards_by_id(walk(who), who)]
        assert {sources[at : at + 10].count("Loud") for at in range(10, 40)} == {3}


def test_a_card_says_everything(library, reader, other_reader):
    like(reader, library[0])
    like(other_reader, library[0])
    refuse(other_reader, library[0])
    liked, refused = (cards_by_id([library[0].pk], who)[0] for who in (reader, other_reader))
    card = Card(
        id=library[0].pk,
        url=library[0].url,
        title=library[0].title,
        summary=library[0].summary,
        source=library[0].feed.title,
        sources=[library[0].feed.title],
        tags=["rust"],
        published_at=library[0].published_at,
        language="en",
        read=False,
        liked=True,
        not_interested=False,
        like_count=1,
        version=1,
        match=liked.match,
        reasons=liked.reasons,
        marks_against=[],
    )
    assert liked == card
    assert liked.match in range(51, 100)
    assert "rust" in liked.reasons
    assert (refused.liked, refused.not_interested, refused.like_count, refused.version) == (False, True, 1, 2)
    assert (refused.match, refused.reasons) == (None, [])


def test_a_host_as_a_reason_is_said_in_words(library, reader):
    Article.objects.update(features=["s:example.com"])
    Article.objects.filter(pk=library[0].pk).update(features=["s:lab.example"])
    like(reader, library[0])
    assert cards_by_id([library[0].pk], reader)[0].reasons == ["from lab.example"]


def test_cards_come_in_the_order_asked_for_and_missing_ones_are_left_out(library, reader):
    assert ids(cards_by_id([library[5].pk, 10**15, library[2].pk], reader)) == [library[5].pk, library[2].pk]
    assert cards_by_id([], None) == []


def test_a_page_says_what_the_filters_offer_and_how_many_marks_it_knows(library, reader, other_reader):
    like(reader, library[0])
    refuse(reader, library[1])
    ArticleFactory(tags=["zig", "ada"], feed=FeedFactory(title="alpha"))
    shown = page(reader, "view=liked")
    assert shown.sources == ["alpha", *sorted({article.feed.title for article in library})]
    assert shown.tags == ["ada", "ai", "css", "go", "rust", "sql", "zig"]
    assert (shown.marks, page(other_reader).marks, page(None).marks) == (2, 0, 0)


def test_only_the_most_frequent_tags_are_offered(db):
    ArticleFactory(tags=[f"rare{number:03}" for number in range(70)])
    ArticleFactory.create_batch(2, tags=["common"])
    assert len(page(None).tags) == 60
    assert page(None).tags[0] == "common"


def test_there_may_be_no_articles_at_all(reader):
    for view in VIEWS:
        for who in (reader, None, reader):
            assert page(who, f"view={view}") == ListPage([], None, 0, [], [])


# Search and filters


@pytest.fixture
def stories(db: None, reader: User) -> dict[str, Article]:
    found: dict[str, Article] = {
        "rust": ArticleFactory(title="Rust in anger", summary="A borrow checker.", tags=["rust"], feed=FeedFactory(title="Lab")),
        "rusty": ArticleFactory(title="Rusty nails", summary="100% iron_ore", tags=["metal"], feed=FeedFactory(title="Yard")),
        "ja": ArticleFactory(title="Rust入門", summary="所有権とは", tags=["rust", "rust-jp"], language="ja"),
    }
    for article in found.values():
        like(reader, article)
        refuse(UserFactory(), article)
    return found


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("q=rust", {"rust", "rusty", "ja"}),
        ("q=RUST+borrow", {"rust"}),
        ("q=borrow+nails", set()),
        ("q=ＲＵＳＴ　所有権", {"ja"}),
        ("q=100%25", {"rusty"}),
        ("q=iron_ore", {"rusty"}),
        ("q=iron%25ore", set()),
        ("q=%27%22;--", set()),
        ("q=++", {"rust", "rusty", "ja"}),
        ("tag=rust", {"rust", "ja"}),
        ("tag=Rust&lang=ja", {"ja"}),
        ("tag=rus", set()),
        ("source=Lab", {"rust"}),
        ("source=lab", set()),
        ("lang=ja", {"ja"}),
        ("lang=JA-jp", {"ja"}),
        ("lang=en&q=rust&tag=metal&source=Yard", {"rusty"}),
        ("lang=xx", set()),
    ],
)
def test_search_and_filters_mean_the_same_in_every_list(stories, reader, other_reader, address, found):
    wanted = {stories[name].pk for name in found}
    for view in ("for-you", "latest", "liked"):
        assert set(walk(reader, f"view={view}&{address}")) == wanted
    for view in ("for-you", "latest"):
        assert set(walk(other_reader, f"view={view}&{address}")) == set(walk(None, f"view={view}&{address}")) == wanted
    assert walk(reader, f"view=not-interested&{address}") == []


def test_more_of_a_filtered_list_is_filtered_too(library, reader):
    like(reader, library[0])
    rust = keys(library[::5])
    more = [ArticleFactory(tags=["rust"], published_at=ago(days=9)).pk for _number in range(30)]
    for view in ("for-you", "latest"):
        assert sorted(walk(reader, f"view={view}&tag=rust")) == sorted(rust + more)


# More


def disturbances(library: list[Article], reader: User, other_reader: User) -> dict[str, Callable[[], object]]:
    chance = random.Random(3)
    one = {
        "the cache is emptied": cache.clear,
        "the reader likes": lambda: like(reader, chance.choice(library)),
        "others like": lambda: like(other_reader, chance.choice(library)),
        "an article comes": lambda: ArticleFactory(published_at=ago(), tags=["rust"]),
    }

    def all_of_it() -> None:
        for disturb in one.values():
            disturb()

    return {"nothing": lambda: None, **one, "all of it": all_of_it}


@pytest.mark.parametrize("marked", [True, False], ids=["by marks", "hot"])
@pytest.mark.parametrize("what", disturbances([], User(), User()))
def test_more_shows_every_article_once_whatever_happens_between(library, reader, other_reader, what, marked):
    if marked:
        like(reader, library[0])
    shown = walk(reader, "", disturbances(library, reader, other_reader)[what])
    assert len(shown) == len(set(shown))
    assert set(keys(library)) <= set(shown)


@pytest.mark.parametrize("marked", [True, False], ids=["by marks", "hot"])
def test_more_continues_the_order_it_began_with(library, reader, other_reader, marked):
    if marked:
        like(reader, library[0])
    whole = walk(reader)

    def likes() -> None:
        for article in library[60:66]:
            like(reader if marked else other_reader, article)

    assert walk(reader, "", likes) == whole
    assert walk(reader) != whole


def test_an_order_that_is_gone_is_followed_by_the_present_one(library, reader):
    like(reader, library[0])
    first, *_rest = pages(reader)
    cursor = page(reader).next_cursor
    like(reader, library[0], liked=False)
    like(reader, library[3])
    cache.clear()
    left = [number for number in walk(reader) if number not in first]
    assert sorted(ids(page(reader, "", cursor).cards)) != sorted(first)
    assert ids(page(reader, "", cursor).cards)[:3] == left[:3]


def test_a_reader_s_cursor_opens_nobody_else_s_order(library, reader, other_reader):
    like(reader, library[0])
    like(other_reader, library[3])
    cursor = page(reader).next_cursor
    shown = ids(page(reader).cards)
    assert ids(page(other_reader, "", cursor).cards)[:3] == [number for number in walk(other_reader) if number not in shown][:3]
    assert not set(shown) & set(ids(page(None, "", cursor).cards))


def test_what_was_hidden_between_two_pages_is_never_shown_as_new(library, reader, other_reader):
    like(reader, library[0])
    like(other_reader, library[0])
    before, cursor = walk(reader), page(reader).next_cursor
    for number in before[30:45]:
        refuse(reader, Article.objects.get(pk=number))
    assert ids(page(reader, "", cursor).cards) == before[45:]
    assert walk(other_reader) == before


def test_a_ranking_older_than_a_press_cannot_bring_back_what_it_hid(library, reader, other_reader):
    """The verdict is there and the version not yet: the rows decide, and the page is full all the same."""
    like(reader, library[0])
    like(other_reader, library[0])
    whole = walk(reader)
    for number in whole[5:10]:
        Article.objects.get(pk=number).feedback.update_or_create(profile_id=reader.pk, defaults={"verdict": "not_interested"})
    assert ids(page(reader).cards) == whole[:5] + whole[10:35]
    assert sorted(walk(reader)) == sorted(whole[:5] + whole[10:])
    assert walk(other_reader) == whole


def test_a_page_is_full_although_articles_were_deleted(library, reader):
    like(reader, library[69])
    whole = walk(reader)
    gone = [number for number in whole[:11] if number != library[69].pk][:10]
    Article.objects.filter(pk__in=gone).delete()
    left = [number for number in whole if number not in gone]
    assert ids(page(reader).cards) == left[:30]
    assert sorted(walk(reader)) == sorted(left)


def test_more_ends_when_all_that_is_left_was_deleted(library, reader):
    like(reader, library[69])
    Article.objects.exclude(pk__in=[library[69].pk, library[0].pk]).delete()
    page(reader)
    assert set(walk(reader)) == {library[69].pk, library[0].pk}


def test_b69_articles_of_one_date_come_once_each_and_in_one_order(reader, other_reader):
    feed, at = FeedFactory(), ago(days=1)
    articles = [ArticleFactory(feed=feed, published_at=at, title="Same", tags=["ai"]) for _number in range(223)]
    like(reader, articles[100])
    for who in (reader, other_reader, None):
        for view in ("for-you", "latest"):
            first, second = (walk(who, f"view={view}") for _time in range(2))
            assert first == second
            assert sorted(first) == keys(articles)
    for article in articles:
        like(other_reader, article)
    assert sorted(walk(other_reader, "view=liked")) == keys(articles)
    assert walk(reader, "view=liked") == [articles[100].pk]


# The card that is kept


@pytest.mark.parametrize("view", ["for-you", "latest"])
def test_a_kept_card_stays_where_it_was_although_it_was_hidden(library, reader, other_reader, view):
    like(reader, library[0])
    like(other_reader, library[0])
    before = walk(other_reader, f"view={view}")
    kept = before[4]
    refuse(reader, Article.objects.get(pk=kept))
    cards = page(reader, f"view={view}&kept={kept}").cards
    assert [card.id for card in cards if card.not_interested] == [kept]
    assert kept not in ids(page(reader, f"view={view}").cards)
    assert ids(page(other_reader, f"view={view}&kept={kept}").cards) == before[:30]
    assert sorted(walk(reader, f"view={view}&kept={kept}")) == sorted(before)


def test_a_kept_card_is_shown_on_the_page_of_an_older_order(library, reader):
    like(reader, library[0])
    _first, second, _third = pages(reader)
    cursor = page(reader).next_cursor
    refuse(reader, Article.objects.get(pk=second[7]))
    assert ids(page(reader, f"kept={second[7]}", cursor).cards) == second


@pytest.mark.parametrize("view", ["liked", "not-interested"])
def test_a_kept_card_is_shown_in_the_list_that_it_left(library, reader, other_reader, view):
    mark = like if view == "liked" else refuse
    for who in (reader, other_reader):
        for article in library[:35]:
            mark(who, article)
    mark(reader, library[20], False)
    cards = page(reader, f"view={view}&kept={library[20].pk}").cards
    assert ids(cards) == keys([library[20], *library[34:20:-1], *library[19:4:-1]])
    assert (cards[0].liked, cards[0].not_interested) == (False, False)
    assert sorted(walk(reader, f"view={view}&kept={library[20].pk}")) == sorted(keys(library[:35]))
    assert library[20].pk not in walk(reader, f"view={view}")
    assert walk(other_reader, f"view={view}") == keys(library[34::-1])


def test_a_kept_card_far_down_is_shown_once(library, reader):
    like(reader, library[0])
    last = walk(reader)[-1]
    assert ids(page(reader, f"kept={last}").cards)[0] == last
    assert walk(reader, f"kept={last}").count(last) == 1
    assert ids(page(reader, f"kept={10**15}").cards) == ids(page(reader).cards)


# What it costs


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("address", ["", "q=article&tag=rust&lang=en", "kept=1"])
def test_a_page_costs_at_most_four_statements_and_two_when_warm(library, reader, other_reader, view, address):
    like(reader, library[0])
    refuse(reader, library[1])
    refuse(other_reader, library[2])
    for who in (reader, other_reader, None):
        cache.clear()
        ArticleFactory()  # a new article: the snapshot is loaded again
        counts = []
        for _time in range(2):
            with CaptureQueriesContext(connection) as statements:
                page(who, f"view={view}&{address}")
            counts.append(len(statements))
        hot = view == "for-you" and who is not reader
        assert counts == [3 if who is None else 4, 3 if hot else 2]


def test_more_of_an_order_older_than_the_last_press_costs_no_statement_more(library, reader):
    like(reader, library[0])
    cursor = page(reader).next_cursor
    refuse(reader, library[1])
    ArticleFactory()
    with CaptureQueriesContext(connection) as statements:
        assert len(page(reader, "", cursor).cards) == PAGE_SIZE
    assert len(statements) == 4


# What an address may not say


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("view=best", "view"),
        ("q=" + "a" * 201, "q"),
        ("q=a%00b", "q"),
        ("tag=%00", "tag"),
        ("source=%00", "source"),
        ("lang=%00", "lang"),
        ("kept=seven", "kept"),
        ("kept=-1", "kept"),
        ("kept=٧", "kept"),
        (f"kept={2**63}", "kept"),
        ("cursor=garbage", "cursor"),
        ("cursor=日本", "cursor"),
    ],
)
def test_what_cannot_be_read_is_named(address, name):
    with pytest.raises(BadQuery) as error:
        ListQuery.parse(QueryDict(address))
    assert error.value.name == name
    assert str(error.value).endswith(".")


def test_unknown_parts_of_an_address_and_empty_ones_are_ignored():
    assert ListQuery.parse(QueryDict("utm=x&q=&view=&cursor=&kept=&tag=")) == ListQuery()


def packed(content: object) -> str:
    return base64.urlsafe_b64encode(zlib.compress(json.dumps(content).encode())).decode().rstrip("=")


@pytest.mark.parametrize(
    "content",
    [
        None,
        {},
        [],
        "for-you",
        ["for-you"],
        ["for-you", "1:2.3", []],
        ["for-you", "1:2.3", [], ["1"]],
        ["for-you", "1:2.3", [], [0]],
        ["for-you", "1:2.3", [True], [1]],
        ["for-you", "1:2.3", [1.5], [1]],
        ["for-you", "1:2.3", [], [2**63]],
        ["for-you", "scores:1:1", [], []],
        ["for-you", "1:2.3\n", [], []],
        ["for-you", 1, [], []],
        ["for-you", 1, 2],
        ["latest", "2026-01-01", 1],
        ["latest", 10**30, 1],
        ["latest", -(10**30), 1],
        ["latest", 1, 2**63],
        ["latest", 1, -1],
        ["latest", 1, None],
        ["latest", 1, [1]],
        ["nowhere", 1, 1, 1],
    ],
)
def test_a_cursor_made_by_hand_is_refused(content):
    with pytest.raises(ValueError, match=r"."):
        unpack(packed(content))


def test_a_cursor_of_another_list_is_refused(library):
    cursors = {view: page(None, f"view={view}").next_cursor or "" for view in ("for-you", "latest")}
    for view, other in (("for-you", "latest"), ("latest", "for-you")):
        with pytest.raises(BadQuery, match="broken"):
            page(None, f"view={view}", cursors[other])
    with pytest.raises(BadQuery, match="broken"):
        page(None, "view=liked", cursors["latest"])


def test_a_cursor_that_unpacks_to_too_much_is_refused_without_unpacking_it():
    bomb = zlib.compress(b"[" * 50_000_000, 9)
    assert len(bomb) < 50_000
    with pytest.raises(ValueError, match="too long"):
        unpack(base64.urlsafe_b64encode(bomb).decode())
    with pytest.raises(ValueError, match="recursion"):
        unpack(base64.urlsafe_b64encode(zlib.compress(b"[" * 60_000)).decode())


row_ids = st.integers(1, 2**63 - 1)
places = st.builds(
    RankedPlace,
    order=st.from_regex(r"\A(hot:[0-9a-f]{24}|[0-9]{1,9}:[0-9]{1,9}\.[0-9]{1,16})\Z"),
    shown=st.frozensets(st.integers(1, 9000), max_size=300),
    last=st.lists(row_ids, max_size=9).map(tuple),
) | st.builds(
    DatedPlace,
    view=st.sampled_from(VIEWS[1:]),
    at=st.datetimes(timezones=st.just(ago().tzinfo)),
    id=row_ids,
)


@given(places)
def test_a_place_comes_back_as_it_was(place):
    assert unpack(pack(place)) == place


@given(places, st.data())
def test_a_cursor_that_was_changed_is_a_place_or_refused(place, data):
    text = pack(place)
    at = data.draw(st.integers(0, len(text)))
    changed = text[:at] + data.draw(st.text(max_size=3)) + text[at + data.draw(st.integers(0, 3)) :]
    with suppress(ValueError):
        assert isinstance(unpack(changed), RankedPlace | DatedPlace)


@given(st.text() | st.text(alphabet="ABCabc012-_="))
def test_no_text_breaks_the_reading_of_a_cursor(text):
    with suppress(ValueError):
        unpack(text)


def test_a_cursor_stays_short_enough_for_an_address():
    shown = random.Random(1).sample(range(1, 5001), 4500)
    assert max(len(pack(RankedPlace("1:2.3", frozenset(shown[:count]), (1,) * 9))) for count in range(0, 4501, 300)) < 2000
