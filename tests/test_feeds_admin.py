"""Feeds and articles as the people who run the site see them."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from articles.models import Article, ArticleSource, Feed
from tests.factories import ArticleFactory, FeedFactory, UserFactory
from tests.pages import page_of


@pytest.fixture
def staff(client: Client, db: None) -> Client:
    client.force_login(UserFactory(is_staff=True, is_superuser=True))
    return client


def listed(staff: Client, model: str, **query: str) -> str:
    response = staff.get(reverse(f"admin:articles_{model}_changelist"), query)
    assert response.status_code == 200
    return response.content.decode()


def column(staff: Client, name: str) -> dict[str, str]:
    """What the list of feeds says in this column, by the feed's title."""
    table = page_of(staff.get(reverse("admin:articles_feed_changelist"))).one("tbody")
    titles, cells = table.all("th", class_="field-title"), table.all("td", class_=f"field-{name}")
    return {title.text: cell.text for title, cell in zip(titles, cells, strict=True)}


def test_the_list_of_feeds_shows_how_each_is_doing(staff: Client) -> None:
    ArticleFactory(feed=FeedFactory(title="Well", last_fetched_at=timezone.now(), last_succeeded_at=timezone.now()))
    FeedFactory(title="Broken", last_error="The answer is empty.", last_fetched_at=timezone.now())
    FeedFactory(title="Untried")
    soon = timezone.now() + timedelta(hours=1)
    FeedFactory(title="Tired", failures=3, next_try_at=soon, last_error="Again.", last_fetched_at=timezone.now())
    assert column(staff, "condition") == {
        "Broken": "The answer is empty.",
        "Tired": f"Again. Failed 3 times in a row, it rests until {soon:%Y-%m-%d %H:%M} UTC.",
        "Untried": "not fetched yet",
        "Well": "succeeded",
    }
    shown = {status: listed(staff, "feed", status=status) for status in ("failed", "resting", "succeeded", "never")}
    names = {status: {name for name in ("Well", "Broken", "Untried", "Tired") if name in page} for status, page in shown.items()}
    assert names == {"failed": {"Broken", "Tired"}, "resting": {"Tired"}, "succeeded": {"Well"}, "never": {"Untried"}}


def test_the_count_is_of_the_stories_a_feed_carries(staff: Client) -> None:
    first, second = FeedFactory(title="First"), FeedFactory(title="Second")
    for _story in range(2):
        ArticleSource.objects.create(article=ArticleFactory(feed=first), feed=second)
    ArticleFactory(feed=second)
    assert column(staff, "article_count") == {"First": "2", "Second": "3"}


def test_feeds_are_switched_off_and_on(staff: Client) -> None:
    feed, other = FeedFactory(failures=5, next_try_at=timezone.now() + timedelta(days=1)), FeedFactory()
    for action, active in (("switch_off", False), ("switch_on", True)):
        staff.post(reverse("admin:articles_feed_changelist"), {"action": action, "_selected_action": [feed.pk]})
        assert Feed.objects.get(pk=feed.pk).is_active is active
    feed.refresh_from_db()
    assert (feed.failures, feed.next_try_at) == (0, None)  # switched on, it does not rest
    assert Feed.objects.get(pk=other.pk).is_active


@pytest.mark.parametrize("url", ["file:///etc/passwd", "javascript:alert(1)", "blog.example"])
def test_only_web_addresses_become_feeds(staff: Client, url: str) -> None:
    page = staff.post(reverse("admin:articles_feed_add"), {"url": url, "title": "x", "is_active": "on"}).content.decode()
    assert "must begin with http" in page
    assert not Feed.objects.exists()


def test_a_feed_is_added_by_its_address(staff: Client) -> None:
    staff.post(reverse("admin:articles_feed_add"), {"url": "https://blog.example/feed", "title": "Blog", "is_active": "on"})
    assert Feed.objects.get().url == "https://blog.example/feed"


def test_articles_are_read_and_found_but_not_written(staff: Client) -> None:
    article, other = ArticleFactory(title="About trains"), ArticleFactory(title="About ships")
    page = listed(staff, "article", q="trains")
    assert "About trains" in page
    assert "About ships" not in page
    change = reverse("admin:articles_article_change", args=[article.pk])
    assert staff.get(change).status_code == 200
    assert staff.post(change, {"title": "Changed"}).status_code == 403
    assert staff.get(reverse("admin:articles_article_add")).status_code == 403
    assert set(Article.objects.values_list("title", flat=True)) == {"About trains", other.title}


def test_staff_who_may_only_look_change_nothing_and_without_that_see_no_address(client: Client, db: None) -> None:
    feed, user = FeedFactory(), UserFactory(is_staff=True)
    client.force_login(user)
    assert client.get(reverse("admin:articles_feed_opml_export")).status_code == 403
    user.user_permissions.add(Permission.objects.get(codename="view_feed"))
    assert client.get(reverse("admin:articles_feed_opml_export")).status_code == 200
    client.post(reverse("admin:articles_feed_changelist"), {"action": "switch_off", "_selected_action": [feed.pk]})
    feed.refresh_from_db()
    assert feed.is_active
