"""A browser, a network that can fail, and the server as its own process."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, expect

from articles.models import Article, User
from feedback.models import Verdict
from tests.browser.card import Card
from tests.browser.proxy import Proxy
from tests.factories import ArticleFactory, FeedbackFactory, UserFactory, profile_of
from tests.live_server import LiveServer

# The page's own numbers, in small: a test that must wait for a time-out waits a few seconds.
QUICK = {"ceilings": [0.05, 0.1, 0.2, 0.2], "timeout": 2.5, "longest_retry_after": 10, "repeats_per_minute": 1000}
EXTENSION = "chrome-extension://hmjmalpidjkmimjpjbobdffgblebmndm"  # the id follows from the key in its manifest

expect.set_options(timeout=10_000)


@pytest.fixture(scope="session")
def quick_process(django_db_setup: None, django_db_blocker: Any) -> Iterator[LiveServer]:
    with django_db_blocker.unblock(), LiveServer(PAGE_RETRY_POLICY=json.dumps(QUICK), EXTENSION_ORIGINS=EXTENSION) as server:
        yield server


@pytest.fixture(scope="session")
def session_proxy(quick_process: LiveServer) -> Proxy:
    return Proxy(quick_process.port)


@pytest.fixture
def network(transactional_db: None, session_proxy: Proxy) -> Iterator[Proxy]:
    """The way to a server with quick repeats; each test starts with a network that works, and leaves nothing in it."""
    session_proxy.reset()
    yield session_proxy
    session_proxy.settle()


@pytest.fixture
def article(transactional_db: None) -> Article:
    return liked_by_another("A retry is a second question")


def liked_by_another(title: str) -> Article:
    """An article that a second reader likes."""
    article = ArticleFactory(title=title, like_count=1)
    FeedbackFactory(article=article, verdict=Verdict.LIKED)
    return article


@pytest.fixture
def reader(transactional_db: None) -> User:
    user = UserFactory()
    profile_of(user)
    return user


def log_in(context: BrowserContext, user: User, url: str) -> None:
    """A session of this reader in this browser, as the log-in form makes it."""
    client = Client()
    client.force_login(user)
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": client.cookies["sessionid"].value, "url": url}])


@pytest.fixture
def context(browser: Browser, network: Proxy, reader: User) -> Iterator[BrowserContext]:
    """The browser of `reader`."""
    context = browser.new_context(base_url=network.url)
    log_in(context, reader, network.url)
    yield context
    context.close()


@pytest.fixture
def complaints() -> Iterator[list[str]]:
    """What a browser complains of and no test may cause: an error of the script, something that the CSP refuses."""
    found: list[str] = []
    yield found
    assert found == []


@pytest.fixture
def open_page(context: BrowserContext, complaints: list[str]) -> Callable[[], Page]:
    """A new tab of the reader's browser."""

    def open_page() -> Page:
        page = context.new_page()
        watch(page, complaints)
        return page

    return open_page


def watch(page: Page, complaints: list[str]) -> None:
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if "Content Security Policy" in message.text else None)


@pytest.fixture
def page(open_page: Callable[[], Page]) -> Page:
    return open_page()


@pytest.fixture
def card(page: Page, article: Article) -> Card:
    """The article's card on the page of its reader."""
    page.goto("/")
    return Card(page, article)


def cards_of(page: Page, titles: Iterable[str]) -> list[Card]:
    """A page with one card for each title, each liked by another reader."""
    articles = [liked_by_another(title) for title in titles]
    page.goto("/")
    return [Card(page, article) for article in articles]


@pytest.fixture
def other_tab(card: Card, open_page: Callable[[], Page]) -> Card:
    """The same card in another tab of the same browser."""
    page = open_page()
    page.goto("/")
    return Card(page, card.article)
