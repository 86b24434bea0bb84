"""Without a network, and with very many failures."""

from playwright.sync_api import BrowserContext, Page, expect

from articles.models import Article, User
from articles.retry import RetryPolicy
from feedback.models import Verdict
from tests.browser.card import Card, stored
from tests.browser.conftest import log_in
from tests.browser.proxy import Proxy, problem
from tests.factories import ArticleFactory
from tests.live_server import LiveServer

OFFLINE = "Offline. Sent when you are back. Retry"


def test_offline_press_is_sent_when_the_network_is_back(
    card: Card, context: BrowserContext, network: Proxy, article: Article, reader: User
):
    context.set_offline(True)
    card.like.click()
    card.shows(Verdict.NONE, 1, OFFLINE)
    card.says("Offline. Sent when you are back.")
    assert network.tries() == []
    context.set_offline(False)
    card.rests(Verdict.LIKED, 2)
    assert stored(article, reader) == (Verdict.LIKED, 2, 2)
    assert len({save.body for save in network.saves()}) == 1


def test_one_try_when_the_network_is_back(card: Card, context: BrowserContext, network: Proxy, article: Article, reader: User):
    context.set_offline(True)
    card.like.click()
    card.shows(Verdict.NONE, 1, OFFLINE)
    network.always(problem(503, "unavailable"))
    context.set_offline(False)
    card.shows(Verdict.NONE, 1, "Not confirmed. Retry")
    assert len(network.tries()) == 1


def test_retry_is_never_blocked_offline(card: Card, context: BrowserContext, network: Proxy, article: Article, reader: User):
    context.set_offline(True)
    card.like.click()
    card.button("Retry").click()
    card.shows(Verdict.NONE, 1, OFFLINE)
    context.set_offline(False)
    card.rests(Verdict.LIKED, 2)
    assert stored(article, reader) == (Verdict.LIKED, 2, 2)


def test_b21_offline_presses_end_in_one_request_for_the_last_wish(
    card: Card, context: BrowserContext, network: Proxy, article: Article, reader: User
):
    context.set_offline(True)
    for _ in range(3):
        card.like.click()
        card.shows(Verdict.NONE, 1, OFFLINE)
    context.set_offline(False)
    card.rests(Verdict.LIKED, 2)
    assert stored(article, reader) == (Verdict.LIKED, 2, 2)
    assert len({save.body for save in network.saves()}) == 1


def test_twenty_failing_cards_stay_within_the_pages_limit_of_repeats(
    browser, live: LiveServer, context: BrowserContext, reader: User
):
    """With the page's real numbers: ten automatic repeats a minute, whatever the number of cards."""
    articles = ArticleFactory.create_batch(20)
    network = Proxy(live.port)
    network.always(problem(503, "unavailable"))
    log_in(context, reader, network.url)
    page: Page = context.new_page()
    page.goto(network.url)
    for article in articles:
        Card(page, article).like.click()
    for article in articles:
        Card(page, article).shows(Verdict.NONE, 0, "Not confirmed. Retry")
    assert len(network.tries()) == 20 + RetryPolicy().repeats_per_minute
    network.heal()
    for article in articles:
        Card(page, article).button("Retry").click()
    for article in articles:
        Card(page, article).rests(Verdict.LIKED, 1)
    assert {stored(article, reader) for article in articles} == {(Verdict.LIKED, 1, 1)}
    expect(page.locator("[data-state=failed]")).to_have_count(0)
