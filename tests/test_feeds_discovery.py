"""Adding a feed by the address of its site: what is found, seen before it is saved, and saved."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from articles.feeds import FeedError
from articles.feeds.discovery import MOST_ASKED, discover, feed_links
from articles.models import Article, Feed
from tests.factories import UserFactory
from tests.feeds.documents import item, rss
from tests.feeds.server import FeedServer
from tests.pages import page_of

FORM = "admin:articles_feed_by_site"


@pytest.fixture
def server(settings: Any) -> Iterator[FeedServer]:
    settings.FEEDS_ALLOW_PRIVATE_ADDRESSES = True
    with FeedServer() as server:
        yield server


@pytest.fixture
def staff(client: Client, db: None) -> Client:
    client.force_login(UserFactory(is_staff=True, is_superuser=True))
    return client


def site(*links: str, head: str = "") -> bytes:
    return f"<!doctype html><html><head>{head}{''.join(links)}</head><body><p>Hello</p></body></html>".encode()


def link(href: str, kind: str = "application/rss+xml", rel: str = "alternate") -> str:
    return f'<link rel="{rel}" type="{kind}" href="{href}">'


def test_a_site_names_its_feeds_and_those_that_can_be_read_are_found(server: FeedServer) -> None:
    home = server.serve(
        "/", site(link("/rss"), link("/broken"), link("/atom", "application/atom+xml"), link("/missing")), "text/html"
    )
    rss_url = server.serve("/rss", rss(item("One"), item("Two"), title="News"))
    server.serve("/broken", b"no feed")
    atom_url = server.serve("/atom", rss(title="Comments"))
    found = discover(home)
    assert [(one.url, one.feed.title, len(one.feed.entries)) for one in found] == [
        (rss_url, "News", 2),
        (atom_url, "Comments", 0),
    ]


def test_the_address_of_a_feed_is_that_feed(server: FeedServer) -> None:
    url = server.serve("/feed", rss(title="News"))
    assert [one.url for one in discover(url)] == [url]
    assert len(server.received) == 1


def test_a_password_in_the_address_goes_nowhere(server: FeedServer, staff: Client) -> None:
    url = server.serve("/feed", rss(title="News"))
    answer = staff.post(reverse(FORM), {"address": url.replace("//", "//me:secret@"), "save": url}, follow=True)
    assert "is added" in answer.content.decode()
    assert list(Feed.objects.values_list("url", flat=True)) == [url]


def test_a_feed_that_moved_for_good_is_found_where_it_is(server: FeedServer) -> None:
    url = server.serve("/new", rss(title="News"))
    assert [one.url for one in discover(server.redirect("/old", "/new", 301))] == [url]
    assert [one.url for one in discover(server.redirect("/today", "/new", 302))] == [url]


def test_a_site_that_names_none_is_looked_through(server: FeedServer) -> None:
    home = server.serve("/blog/", site(), "text/html")
    url = server.serve("/atom.xml", rss(title="News"))
    assert [one.url for one in discover(home)] == [url]


def test_no_feed_anywhere_is_said_and_the_number_of_questions_is_bounded(server: FeedServer) -> None:
    home = server.serve("/", site(*(link(f"/{n}") for n in range(50))), "text/html")
    with pytest.raises(FeedError, match="No feed was found"):
        discover(home)
    assert len(server.received) == 1 + MOST_ASKED


def test_private_addresses_are_refused_on_the_page_as_anywhere(server: FeedServer, settings: Any) -> None:
    settings.FEEDS_ALLOW_PRIVATE_ADDRESSES = False
    with pytest.raises(FeedError, match="private network"):
        discover(server.serve("/", site(link("/rss")), "text/html"))
    assert server.received == []


@pytest.mark.parametrize(
    ("html", "links"),
    [
        (link("/rss"), ["https://site.example/rss"]),
        (link("feed.json", "application/feed+json"), ["https://site.example/blog/feed.json"]),
        (link("/a", " Application/RSS+XML ", "ALTERNATE home"), ["https://site.example/a"]),
        ('<base href="https://cdn.example/x/">' + link("rss"), ["https://cdn.example/x/rss"]),
        (link("/rss") * 3, ["https://site.example/rss"]),
        (link("javascript:alert(1)") + link("data:text/xml,x"), []),
        (link("/style", "text/css") + link("/rss", rel="stylesheet") + '<link rel="alternate" hreflang="ja" href="/ja">', []),
        ("<link rel=alternate type=application/rss+xml href=/open", []),
        ("<!--" * 200_000 + link("/rss"), []),
        ("<![CDATA[>" * 100_000 + link("/rss"), ["https://site.example/rss"]),
    ],
)
def test_what_counts_as_a_link_to_a_feed(html: str, links: list[str]) -> None:
    assert feed_links(html, "https://site.example/blog/") == links


# In the admin


def test_a_feed_is_seen_before_it_is_saved(staff: Client, server: FeedServer) -> None:
    home = server.serve("/", site(link("/rss")), "text/html")
    url = server.serve("/rss", rss(item("First <story>"), title="News & more"))
    page = page_of(staff.post(reverse(FORM), {"address": home}))
    assert "First <story> (2026-01-05)" in page.text
    assert not Feed.objects.exists()
    (form,) = [form for form in page.all("form") if "save" in form.fields()]
    answer = staff.post(reverse(FORM), form.fields(), follow=True)
    assert "“News &amp; more” is added" in answer.content.decode()
    assert list(Feed.objects.values_list("url", "title", "site_url", "is_active")) == [
        (url, "News & more", "https://feed.example/", True)
    ]
    assert "was there already" in staff.post(reverse(FORM), form.fields(), follow=True).content.decode()
    assert not Article.objects.exists()


def test_what_is_not_among_the_found_is_not_saved(staff: Client, server: FeedServer) -> None:
    server.serve("/rss", rss())
    staff.post(reverse(FORM), {"address": server.url("/rss"), "save": "https://elsewhere.example/feed"})
    assert not Feed.objects.exists()


@pytest.mark.parametrize("address", ["", "ftp://site.example/", "http://["])
def test_an_address_that_cannot_be_asked_is_explained(staff: Client, address: str) -> None:
    page = staff.post(reverse(FORM), {"address": address}).content.decode()
    assert "errorlist" in page
    assert not Feed.objects.exists()


def test_looking_asks_nobody(staff: Client, server: FeedServer) -> None:
    staff.get(reverse(FORM), {"address": server.url("/")})
    assert server.received == []
