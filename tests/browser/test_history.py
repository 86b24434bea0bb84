"""Over reloads, tabs and the browser's history: what was asked for is neither lost nor sent twice, and never another reader's."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Playwright, expect

from articles.models import Article, User
from feedback.models import Verdict
from feedback.services import apply_feedback
from feedback.verdicts import Wish
from tests.browser.card import Card, stored
from tests.browser.conftest import cards_of, log_in, watch
from tests.browser.proxy import Gate, Proxy, hold_reply, hold_request, lose_reply, lose_request, problem
from tests.factories import UserFactory

LIKED = (Verdict.LIKED, 2, 2)
FAILED = "Not confirmed. Retry"


def fail_a_like(card: Card, network: Proxy) -> None:
    network.plan(*[problem(503, "unavailable")] * 5)
    card.like.click()
    card.shows(Verdict.NONE, 1, FAILED)


# Reload


def test_reload_with_a_failed_intent_offers_retry_and_sends_nothing(card: Card, network: Proxy, article: Article, reader: User):
    fail_a_like(card, network)
    card.page.reload()
    card.shows(Verdict.NONE, 1, FAILED)
    assert (len(network.tries()), len(network.saves())) == (5, 0)
    card.button("Retry").click()
    card.rests(Verdict.LIKED, 2)
    assert stored(article, reader) == LIKED
    card.page.reload()
    card.rests(Verdict.LIKED, 2)


def test_reload_drops_a_failed_intent_that_the_page_shows(card: Card, network: Proxy, article: Article, reader: User):
    network.plan(*[lose_reply] * 5)
    card.like.click()
    card.shows(Verdict.NONE, 1, FAILED)
    for _ in range(2):
        card.page.reload()
        card.rests(Verdict.LIKED, 2)
    assert stored(article, reader) == LIKED


def test_reload_as_another_reader_keeps_nothing(
    card: Card, context: BrowserContext, network: Proxy, article: Article, reader: User
):
    fail_a_like(card, network)
    other = UserFactory()
    log_in(context, other, network.url)
    card.page.reload()
    card.rests(Verdict.NONE, 1)
    log_in(context, reader, network.url)
    card.page.reload()
    card.rests(Verdict.NONE, 1)
    assert stored(article, reader) == stored(article, other) == (Verdict.NONE, 1, 1)


def test_reload_while_saving_keeps_the_intent(card: Card, network: Proxy, article: Article, reader: User):
    gate = Gate()
    network.plan(hold_request(gate, lose_request))
    card.like.click()
    gate.wait_until_reached()
    card.page.reload()
    card.shows(Verdict.NONE, 1, FAILED)
    gate.open()
    card.button("Retry").click()
    card.rests(Verdict.LIKED, 2)
    assert stored(article, reader) == LIKED


@pytest.mark.parametrize(("name", "verdict"), [("Like", Verdict.LIKED), ("Not interested", Verdict.NOT_INTERESTED)])
def test_list_without_the_card_names_the_article_in_a_line(
    card: Card, network: Proxy, article: Article, reader: User, name: str, verdict: Verdict
):
    network.plan(problem(500, "error"))
    card.root.get_by_role("button", name=name, exact=True).click()
    card.shows(Verdict.NONE, 1, FAILED)
    card.page.goto("/?q=nothing-like-it")
    line = card.page.locator("#intents")
    expect(line).to_contain_text(article.title)
    line.get_by_role("button", name="Retry").focus()
    card.page.keyboard.press("Enter")
    expect(line).to_contain_text("Saved.")
    expect(line.get_by_role("heading")).to_be_focused()
    expect(line.get_by_role("button")).to_have_count(0)
    assert stored(article, reader)[0] == verdict


def test_intents_older_than_ten_minutes_are_forgotten(card: Card, network: Proxy, article: Article, reader: User):
    fail_a_like(card, network)
    card.page.clock.install()
    card.page.clock.fast_forward("10:01")
    card.page.reload()
    card.rests(Verdict.NONE, 1)
    assert stored(article, reader) == (Verdict.NONE, 1, 1)


# Leaving


def test_like_and_at_once_the_articles_link_is_not_lost(card: Card, network: Proxy, article: Article, reader: User):
    gate = Gate()
    network.plan(hold_request(gate))
    card.page.route(
        "https://example.com/**", lambda route: route.fulfill(body="<title>The article</title>", content_type="text/html")
    )
    card.root.evaluate("(card) => { card.querySelector('.act').click(); card.querySelector('.title a').click(); }")
    expect(card.page).to_have_title("The article")
    gate.open()
    network.wait_for_saves(1)
    card.page.go_back()
    card.rests(Verdict.LIKED, 2)
    assert stored(article, reader) == LIKED
    assert len({request.body for request in network.saves()}) == 1


def test_leaving_paints_no_error(card: Card, network: Proxy):
    network.always(hold_request(Gate(), lose_request))
    card.like.click()
    network.wait_for_tries(1)
    card.page.evaluate(
        "addEventListener('pagehide', () => { sessionStorage.leftWith = document.querySelector('.card').dataset.state })"
    )
    card.page.goto("/?view=latest")
    assert card.page.evaluate("sessionStorage.leftWith") == "saving"


# Tabs


def test_tabs_of_one_reader_agree(card: Card, other_tab: Card, network: Proxy, article: Article, reader: User):
    card.like.click()
    for tab in (card, other_tab):
        tab.rests(Verdict.LIKED, 2)
    other_tab.not_interested.click()
    for tab in (card, other_tab):
        tab.rests(Verdict.NOT_INTERESTED, 1)
    assert stored(article, reader) == (Verdict.NOT_INTERESTED, 1, 1)
    assert len(network.saves()) == 2


def test_state_of_another_tab_ends_the_failed_intent_that_it_shows(
    card: Card, other_tab: Card, network: Proxy, article: Article, reader: User
):
    fail_a_like(card, network)
    other_tab.like.click()
    for tab in (card, other_tab):
        tab.rests(Verdict.LIKED, 2)
    card.says("Saved.")
    card.page.reload()
    card.rests(Verdict.LIKED, 2)
    assert stored(article, reader) == LIKED


def test_tabs_of_two_readers_do_not_hear_each_other(
    card: Card, context: BrowserContext, open_page: Callable[[], Page], network: Proxy, article: Article, reader: User
):
    other = UserFactory()
    log_in(context, other, network.url)
    page = open_page()
    page.goto("/")
    theirs = Card(page, article)
    theirs.like.click()
    theirs.rests(Verdict.LIKED, 2)
    card.rests(Verdict.NONE, 1)
    assert (stored(article, reader)[0], stored(article, other)[0]) == (Verdict.NONE, Verdict.LIKED)


def test_duplicated_tab_offers_the_failed_intent_too_and_both_end_right(
    card: Card, context: BrowserContext, network: Proxy, article: Article, reader: User
):
    fail_a_like(card, network)
    with context.expect_page() as opened:
        card.page.evaluate("window.open(location.href)")  # like a duplicated tab, it gets a copy of the session's storage
    twin = Card(opened.value, article)
    twin.shows(Verdict.NONE, 1, FAILED)
    twin.button("Retry").click()
    for tab in (card, twin):
        tab.rests(Verdict.LIKED, 2)
    assert stored(article, reader) == LIKED
    assert len(network.saves()) == 1


# Back and forward


@pytest.fixture(scope="session", params=["cached", "painted anew"])
def history_launch(request: pytest.FixtureRequest, browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """With the back/forward cache, which Playwright turns off, and without it."""
    on = {"ignore_default_args": ["--disable-back-forward-cache"]} if request.param == "cached" else {}
    return browser_type_launch_args | on


@pytest.fixture(scope="session")
def history_browser(playwright: Playwright, history_launch: dict[str, Any]) -> Iterator[Any]:
    browser = playwright.chromium.launch(**history_launch)
    yield browser
    browser.close()


@pytest.fixture
def visited(history_browser: Any, network: Proxy, article: Article, reader: User, complaints: list[str]) -> Iterator[Card]:
    """The card in a browser with history; `persisted` on the window tells whether the page came from the cache."""
    context = history_browser.new_context(base_url=network.url)
    log_in(context, reader, network.url)
    page = context.new_page()
    watch(page, complaints)
    page.add_init_script("addEventListener('pageshow', (event) => { window.persisted = event.persisted; })")
    page.goto("/")
    yield Card(page, article)
    context.close()


def go_away(card: Card) -> None:
    card.page.goto("/login/")


def come_back(card: Card, is_cached: bool) -> None:
    card.page.evaluate("history.back()")
    expect(card.root).to_be_visible()
    card.page.wait_for_function("(isCached) => window.persisted === isCached", arg=is_cached)


@pytest.fixture
def is_cached(history_launch: dict[str, Any]) -> bool:
    return "ignore_default_args" in history_launch


def test_b54_back_shows_the_state_of_the_server(visited: Card, is_cached: bool, network: Proxy, article: Article, reader: User):
    visited.like.click()
    visited.rests(Verdict.LIKED, 2)
    go_away(visited)
    apply_feedback(profile_id=reader.pk, article_id=article.pk, wish=Wish(liked=False, not_interested=False))
    come_back(visited, is_cached)
    visited.rests(Verdict.NONE, 1)
    visited.like.click()
    visited.rests(Verdict.LIKED, 2)
    assert stored(article, reader) == LIKED


def test_back_while_saving(visited: Card, is_cached: bool, network: Proxy, article: Article, reader: User):
    gate = Gate()
    network.plan(hold_reply(gate))
    visited.like.click()
    gate.wait_until_reached()
    go_away(visited)
    gate.open()
    visited.page.evaluate("history.back()")
    visited.rests(Verdict.LIKED, 2)
    assert stored(article, reader) == LIKED


def test_back_with_a_card_in_every_state(visited: Card, is_cached: bool, network: Proxy, reader: User):
    states = ["rested", "failed", "waited", "failed but saved"]
    rested, failed, waited, saved = cards = cards_of(visited.page, states)
    network.plan(*[problem(503, "unavailable")] * 5, path=failed.address)
    network.plan(*[lose_reply] * 5, path=saved.address)
    network.plan(problem(503, "unavailable", Retry_After="10"), path=waited.address)
    for card in (failed, saved):
        card.like.click()
        card.shows(Verdict.NONE, 1, FAILED)
    waited.like.click()
    waited.waits()
    go_away(visited)
    network.sent.clear()
    come_back(visited, is_cached)
    rested.rests(Verdict.NONE, 1)
    saved.rests(Verdict.LIKED, 2)
    assert [request.path.count("id=") for request in network.sent if "/api/" in request.path] == [len(cards) + 1]
    for card in (failed, waited):
        card.shows(Verdict.NONE, 1, FAILED)
        card.button("Retry").click()
        card.rests(Verdict.LIKED, 2)
        assert stored(card.article, reader) == LIKED
