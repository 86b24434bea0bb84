"""What becomes of a feed's entries in the database, once and again."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import pytest
from django.db import connection
from django.forms.models import model_to_dict
from django.test.utils import CaptureQueriesContext

from articles.feeds import FeedError
from articles.feeds.health import note_failure, note_unchanged
from articles.feeds.parse import parse
from articles.feeds.store import Stored, store
from articles.models import Article, Feed
from articles.scoring import features
from feedback.models import Feedback
from tests.factories import FeedbackFactory, FeedFactory
from tests.feeds.documents import item, rss

NOW = datetime(2026, 1, 10, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=6)


@pytest.fixture
def feed(db: None) -> Feed:
    return FeedFactory(url="https://feed.example/rss", title="feed.example")


@pytest.fixture
def other_feed(db: None) -> Feed:
    return FeedFactory(url="https://other.example/rss", title="Other")


def keep(feed: Feed, *items: str, now: datetime = NOW, **document: Any) -> Stored:
    return store(feed, parse(rss(*items, **document)), now=now)


def rows() -> list[dict[str, Any]]:
    return [model_to_dict(article) | {"features": article.features} for article in Article.objects.order_by("pk")]


def article_writes(act: Callable[[], object]) -> list[str]:
    with CaptureQueriesContext(connection) as queries:
        act()
    return [query["sql"] for query in queries if "articles_article" in query["sql"] and not query["sql"].startswith("SELECT")]


def test_an_entry_becomes_an_article_with_all_its_columns(feed: Feed) -> None:
    entry = item(
        "Straße & ＡＰＩ", "https://www.blog.example/1?utm_source=x", "g1", summary="<p>A <b>word</b>.</p>", tags=("Web", "CSS")
    )
    assert keep(feed, entry, title="The Feed") == Stored(new=1, updated=0)
    article = Article.objects.get()
    assert {
        name: getattr(article, name) for name in ("feed_id", "guid", "url", "title", "summary", "language", "tags", "like_count")
    } == {
        "feed_id": feed.pk,
        "guid": "g1",
        "url": "https://www.blog.example/1?utm_source=x",
        "title": "Straße & ＡＰＩ",
        "summary": "A word.",
        "language": "en",
        "tags": ["web", "css"],
        "like_count": 0,
    }
    assert article.published_at == datetime(2026, 1, 5, 10, tzinfo=UTC)
    assert article.first_seen_at == NOW
    assert article.features == features(title="Straße & ＡＰＩ", tags=["web", "css"], source="blog.example")
    assert article.search_text == "strasse & api\na word.\n#web\n#css\n"


def test_a_feed_stored_twice_adds_nothing_and_writes_no_article(feed: Feed) -> None:
    items = [
        item("With guid", "https://feed.example/1", "g1"),
        item("Without guid", "https://feed.example/2"),
        item("Undated", "https://feed.example/3", date=None),
        item("From tomorrow", "https://feed.example/4", date="Mon, 05 Jan 2099 10:00:00 GMT"),
        item("Same page", "https://feed.example/5#a"),
        item("Same page again", "https://feed.example/5#b"),
    ]
    keep(feed, *items)
    before = rows()
    assert article_writes(lambda: keep(feed, *items, now=LATER)) == []
    assert keep(feed, *items, now=LATER) == Stored(new=0, updated=0)
    assert rows() == before
    assert len(before) == 6


def test_a_feed_without_guids_is_known_by_its_addresses(feed: Feed) -> None:
    keep(feed, item("Old title", "https://feed.example/1"))
    assert keep(feed, item("New title", "https://feed.example/1"), item("Two", "https://feed.example/2")) == Stored(
        new=1, updated=1
    )
    assert list(Article.objects.order_by("url").values_list("title", flat=True)) == ["New title", "Two"]


def test_an_update_changes_the_words_and_what_is_derived_from_them(feed: Feed) -> None:
    keep(feed, item("About Rust", guid="g1", summary="Old.", tags=("rust",)))
    first = Article.objects.get()
    again = item("About Go", guid="g1", summary="New.", tags=("go",), date="Fri, 09 Jan 2026 10:00:00 GMT")
    assert keep(feed, again, now=LATER) == Stored(new=0, updated=1)
    article = Article.objects.get()
    assert (article.pk, article.title, article.summary, article.tags) == (first.pk, "About Go", "New.", ["go"])
    assert article.features == features(title="About Go", tags=["go"], source="feed.example")
    assert article.search_text == "about go\nnew.\n#go\n"
    assert (article.published_at, article.first_seen_at) == (first.published_at, NOW)


def test_a_like_and_its_count_survive_an_update(feed: Feed) -> None:
    keep(feed, item("Before", guid="g1"))
    likes = [FeedbackFactory(article=Article.objects.get()) for _reader in range(2)]
    Article.objects.update(like_count=2)
    keep(feed, item("After", "https://feed.example/moved", guid="g1"), now=LATER)
    keep(feed, item("After all", "https://feed.example/moved", guid="another"), now=LATER)
    article = Article.objects.get()
    assert (article.title, article.url, article.like_count) == ("After all", "https://feed.example/moved", 2)
    assert set(Feedback.objects.filter(article=article, verdict="liked")) == set(likes)


def test_what_leaves_the_feed_stays(feed: Feed) -> None:
    keep(feed, item("One", "https://feed.example/1"))
    keep(feed, item("Two", "https://feed.example/2"))
    keep(feed)
    assert Article.objects.count() == 2


def test_an_entry_without_a_link_is_not_stored(feed: Feed) -> None:
    assert keep(feed, item("No link", None), item("Long", "https://feed.example/" + "a" * 2000)) == Stored(new=0, updated=0)
    assert not Article.objects.exists()


# One article per story


def test_the_same_address_from_two_feeds_is_one_article_in_the_words_of_the_first(feed: Feed, other_feed: Feed) -> None:
    keep(feed, item("As told here", "https://blog.example/1", "g1"))
    assert keep(other_feed, item("As told there", "http://blog.example/1/?utm_source=other", "o1"), now=LATER) == Stored(0, 0)
    article = Article.objects.get()
    assert (article.feed_id, article.title, article.url, article.guid) == (
        feed.pk,
        "As told here",
        "https://blog.example/1",
        "g1",
    )
    assert article_writes(lambda: keep(other_feed, item("As told there", "https://blog.example/1", "o1"))) == []


def test_b73_a_story_with_and_without_tracking_in_three_feeds_is_one_article_with_one_like(feed: Feed, other_feed: Feed) -> None:
    keep(feed, item("Story", "https://blog.example/story"), item("Mine", "https://feed.example/mine"))
    FeedbackFactory(article=Article.objects.get(url="https://blog.example/story"))
    Article.objects.filter(url="https://blog.example/story").update(like_count=1)
    tracked = "https://blog.example/story?utm_source=rss&utm_medium=feed#top"
    keep(other_feed, item("Story", tracked), item("Theirs", "https://other.example/theirs"))
    keep(FeedFactory(), item("Story!", "http://blog.example/story/"), title="Third")
    assert sorted(Article.objects.values_list("url", "like_count")) == [
        ("https://blog.example/story", 1),
        ("https://feed.example/mine", 0),
        ("https://other.example/theirs", 0),
    ]


def test_two_entries_with_one_address_are_one_article(feed: Feed) -> None:
    assert keep(feed, item("First", guid="g1"), item("Second", guid="g2")) == Stored(new=1, updated=0)
    assert Article.objects.get().title == "First"
    assert keep(feed, item("First", guid="g1"), item("Second", guid="g2")) == Stored(new=0, updated=0)


def test_stories_told_apart_by_a_fragment_stay_apart(feed: Feed, other_feed: Feed) -> None:
    days = [item(f"Day {n}", f"https://feed.example/diary#day{n}", f"d{n}") for n in (3, 2, 1)]
    assert keep(feed, *days).new == 3
    assert keep(feed, days[0], now=LATER) == Stored(new=0, updated=0)
    assert keep(other_feed, item("A day", "https://feed.example/diary#day2")) == Stored(new=0, updated=0)
    assert Article.objects.count() == 3


def test_guids_that_changed_bring_no_second_article(feed: Feed) -> None:
    keep(feed, item("Story", guid="old"))
    assert keep(feed, item("Story", guid="new")) == Stored(new=0, updated=1)
    assert Article.objects.get().guid == "new"


def test_one_guid_for_all_entries_identifies_none(feed: Feed) -> None:
    items = [item(f"Story {n}", f"https://feed.example/{n}", "feed.example") for n in range(3)]
    assert keep(feed, *items).new == 3
    assert keep(feed, *items) == Stored(new=0, updated=0)


def test_a_guid_used_again_for_another_story_leaves_the_likes_with_the_old_one(feed: Feed) -> None:
    monday, tuesday = "Mon, 05 Jan 2026 10:00:00 GMT", "Tue, 06 Jan 2026 10:00:00 GMT"
    keep(feed, item("Story of Monday", "https://feed.example/monday", "latest", monday))
    assert keep(feed, item("Story of Tuesday", "https://feed.example/tuesday", "latest", tuesday)) == Stored(new=1, updated=0)
    assert set(Article.objects.values_list("title", "url")) == {
        ("Story of Monday", "https://feed.example/monday"),
        ("Story of Tuesday", "https://feed.example/tuesday"),
    }


def test_a_story_that_moved_is_found_by_its_guid(feed: Feed, other_feed: Feed) -> None:
    keep(feed, item("Story", "https://feed.example/old", "g1"))
    assert keep(feed, item("Story", "https://feed.example/new", "g1")) == Stored(new=0, updated=1)
    keep(other_feed, item("Story", "https://feed.example/new"))
    assert Article.objects.get().url == "https://feed.example/new"


def test_a_story_cannot_move_to_where_another_is(feed: Feed, other_feed: Feed) -> None:
    keep(feed, item("Story", "https://feed.example/old", "g1"))
    keep(other_feed, item("Elsewhere", "https://feed.example/new"))
    assert keep(feed, item("Story", "https://feed.example/new", "g1")) == Stored(new=0, updated=0)
    assert set(Article.objects.values_list("url", flat=True)) == {"https://feed.example/old", "https://feed.example/new"}


def test_from_http_to_https_a_story_stays_itself(feed: Feed) -> None:
    keep(feed, item("Story", "http://feed.example/1"))
    assert keep(feed, item("Story", "https://feed.example/1")) == Stored(new=0, updated=1)
    assert Article.objects.get().url == "https://feed.example/1"


def test_the_same_guid_in_two_feeds_is_two_stories(feed: Feed, other_feed: Feed) -> None:
    keep(feed, item("One", "https://feed.example/1", "1"))
    keep(other_feed, item("One", "https://other.example/1", "1"))
    assert Article.objects.count() == 2


# Dates, tags, languages


def test_b71_a_future_date_is_clamped_to_the_fetch_and_does_not_stay_on_top(feed: Feed, other_feed: Feed) -> None:
    keep(feed, item("From 2103", "https://feed.example/2103", date="Thu, 13 Dec 2103 18:30:02 GMT"))
    keep(other_feed, item("Normal", "https://other.example/1", date="Sat, 10 Jan 2026 15:00:00 GMT"), now=LATER)
    keep(feed, item("From 2103", "https://feed.example/2103", date="Thu, 13 Dec 2103 18:30:02 GMT"), now=LATER)
    assert list(Article.objects.values_list("title", "published_at")) == [
        ("Normal", datetime(2026, 1, 10, 15, tzinfo=UTC)),
        ("From 2103", NOW),
    ]


def test_an_undated_entry_is_dated_by_its_first_fetch(feed: Feed) -> None:
    keep(feed, item("Undated", date=None))
    keep(feed, item("Undated, edited", date=None), now=LATER)
    assert Article.objects.get().published_at == NOW


def test_topics_stand_in_where_a_feed_gives_no_tags(feed: Feed) -> None:
    keep(feed, item("PostgreSQL in Rust", "https://feed.example/1"), item("PostgreSQL", "https://feed.example/2", tags=("own",)))
    assert dict(Article.objects.values_list("url", "tags")) == {
        "https://feed.example/1": ["postgres", "rust"],
        "https://feed.example/2": ["own"],
    }


@pytest.mark.parametrize(
    ("title", "feed_language", "language"),
    [
        ("An English title", "en-US", "en"),
        ("An English title", "", "en"),
        ("日本語の記事", "en", "ja"),
        ("設計文書", "", "ja"),
        ("設計文書", "zh-CN", "zh"),
        ("Ein Titel", "de", "de"),
        ("An English title", "english", "en"),
        ("한국어 제목", "ko", "ko"),
    ],
)
def test_the_language_is_that_of_the_words_else_of_the_feed(feed: Feed, title: str, feed_language: str, language: str) -> None:
    keep(feed, item(title), language=feed_language)
    assert Article.objects.get().language == language


def test_b75_a_javascript_link_is_not_stored(feed: Feed) -> None:
    keep(feed, item("Bad", "javascript:window.__x=1//https://feed.example/"), item("Worse", "data:text/html,x"), item("Good"))
    assert list(Article.objects.values_list("url", flat=True)) == ["https://feed.example/story"]


# The feed's own row


def test_a_feed_takes_its_own_name_unless_it_was_given_one(feed: Feed, other_feed: Feed) -> None:
    keep(feed, title="N" * 300)
    keep(other_feed, title="Another name")
    feed.refresh_from_db()
    other_feed.refresh_from_db()
    assert (feed.title, feed.site_url) == ("N" * 199 + "…", "https://feed.example/")
    assert other_feed.title == "Other"


def test_the_feed_tells_how_the_last_fetch_went(feed: Feed) -> None:
    note_failure(feed, FeedError("No answer. " * 99), NOW)
    feed.refresh_from_db()
    assert (feed.last_fetched_at, feed.last_succeeded_at, len(feed.last_error)) == (NOW, None, 500)
    store(feed, parse(rss()), now=LATER, etag='"é"', last_modified="Mon")
    feed.refresh_from_db()
    assert (feed.etag, feed.last_modified) == ("", "Mon")  # a header that could not be sent back
    store(feed, parse(rss()), now=LATER, etag='"v1"', last_modified="x" * 101)
    feed.refresh_from_db()
    assert (feed.last_fetched_at, feed.last_succeeded_at, feed.last_error) == (LATER, LATER, "")
    assert (feed.etag, feed.last_modified) == ('"v1"', "")
    note_unchanged(feed, LATER + timedelta(hours=1))
    feed.refresh_from_db()
    assert (feed.last_succeeded_at, feed.etag) == (LATER + timedelta(hours=1), '"v1"')


# Cost and concurrency


def test_statements_do_not_grow_with_the_entries(feed: Feed) -> None:
    def statements(count: int, title: str) -> int:
        items = [item(f"{title} {n}", f"https://feed.example/{count}/{n}", f"{count}-{n}") for n in range(count)]
        with CaptureQueriesContext(connection) as queries:
            keep(feed, *items)
        return len(queries)

    for title in ("New", "Changed", "Changed"):
        assert statements(60, title) == statements(3, title) <= 8


def at_once(*acts: Callable[[], Stored]) -> list[Stored]:
    barrier = Barrier(len(acts))

    def run(act: Callable[[], Stored]) -> Stored:
        barrier.wait()
        try:
            return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(run, acts))


@pytest.mark.django_db(transaction=True)
def test_two_processes_with_the_same_feed_store_it_once() -> None:
    feed = FeedFactory()
    for fetch in range(5):
        items = [item(f"Story {n} of {fetch}", f"https://feed.example/{fetch}/{n}", f"{fetch}-{n}") for n in range(20)]
        changed = [item(f"Story {n} again", f"https://feed.example/0/{n}", f"0-{n}") for n in range(20)]
        stored = at_once(*[lambda: keep(feed, *items, *(changed if fetch else []))] * 4)  # noqa: B023 (run before the next)
        assert sum(one.new for one in stored) == 20
        assert Article.objects.count() == 20 * (fetch + 1)


@pytest.mark.django_db(transaction=True)
def test_feeds_that_share_stories_do_not_wait_for_each_other_for_ever() -> None:
    feeds = [FeedFactory() for _feed in range(3)]
    for fetch in range(5):
        items = [item(f"Story {n}", f"https://blog.example/{fetch}/{n}") for n in range(20)]
        turned = list(reversed(items))
        at_once(lambda: keep(feeds[0], *items), lambda: keep(feeds[1], *turned), lambda: keep(feeds[2], *items))  # noqa: B023
        assert Article.objects.count() == 20 * (fetch + 1)
