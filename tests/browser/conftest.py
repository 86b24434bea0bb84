"""A browser, a network that can fail, and the server as its own process."""

import json
from collections.abc import Callable, Iterator
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

# The page's own numbers, in small: a test that must wait for a time-out waits a second.
QUICK = {"ceilings": [0.05, 0.1, 0.2, 0.2], "deadline": 12, "timeout": 1.5, "longest_retry_after": 1}

expect.set_options(timeout=10_000)


@pytest.fixture(scope="session")
def quick_process(django_db_setup: None, django_db_blocker: Any) -> Iterator[LiveServer]:
    with django_db_blocker.unblock(), LiveServer(PAGE_RETRY_POLICY=json.dumps(QUICK)) as server:
        yield server


@pytest.fixture(scope="session")
def session_proxy(quick_process: LiveServer) -> Proxy:
    return Proxy(quick_process.port)


@pytest.fixture
def network(transactional_db: None, session_proxy: Proxy) -> Proxy:
    """The way to a server with quick repeats; each test starts with a network that works."""
    session_proxy.reset()
    return session_proxy


@pytest.fixture
def article(transactional_db: None) -> Article:
    """An article that another reader likes."""
    liked_by_another = ArticleFactory(title="A retry is a second question", like_count=1)
    FeedbackFactory(article=liked_by_another, verdict=Verdict.LIKED)
    return liked_by_another


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
def page(context: BrowserContext) -> Page:
    """A tab in which an error of the script or a refused style is a failed test."""
    return watched(context.new_page())


def watched(page: Page) -> Page:
    page.on("pageerror", lambda error: pytest.fail(f"The page's script failed: {error}"))
    return page


@pytest.fixture
def card(page: Page, article: Article) -> Card:
    """The article's card on the page of its reader."""
    page.goto("/")
    return Card(page, article)


@pytest.fixture
def open_tab(context: BrowserContext) -> Callable[[Article], Card]:
    """Another tab of the same browser."""

    def open_tab(article: Article) -> Card:
        tab = watched(context.new_page())
        tab.goto("/")
        return Card(tab, article)

    return open_tab
