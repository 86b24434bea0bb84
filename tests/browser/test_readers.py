"""Whose save it is: sessions that end, begin or change hands, and "Log in to save"."""

from collections.abc import Callable, Iterator

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Browser, BrowserContext, Page, expect

from articles.models import Article, User
from feedback.models import Feedback, Verdict
from tests.browser.card import Card, stored
from tests.browser.conftest import log_in, watch
from tests.browser.proxy import Gate, Proxy, hold_request, problem
from tests.factories import PASSWORD, UserFactory

LIKED = (Verdict.LIKED, 2, 2)
TO_LOG_IN = "Not saved yet. Log in to save"


def fill_in(page: Page, user: User) -> None:
    page.get_by_label("Username").fill(user.username)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Log in").click()


@pytest.fixture
def visitor(browser: Browser, network: Proxy, article: Article, complaints: list[str]) -> Iterator[Card]:
    """The card as somebody without an account sees it."""
    context = browser.new_context(base_url=network.url)
    page = context.new_page()
    watch(page, complaints)
    page.goto("/")
    yield Card(page, article)
    context.close()


def test_ended_session_asks_to_log_in_and_the_log_in_saves(card: Card, network: Proxy, article: Article, reader: User):
    Session.objects.all().delete()
    card.like.click()
    card.shows(Verdict.NONE, 1, TO_LOG_IN)
    card.says("Not saved yet.")
    card.button("Log in to save").click()
    expect(card.page.get_by_text("is kept for ten minutes")).to_be_visible()
    assert stored(article, reader) == (Verdict.NONE, 1, 1)
    fill_in(card.page, reader)
    card.rests(Verdict.LIKED, 2)
    assert stored(article, reader) == LIKED
    card.page.reload()
    card.rests(Verdict.LIKED, 2)


def test_another_reader_who_logs_in_to_save_gets_nothing(card: Card, network: Proxy, article: Article, reader: User):
    other = UserFactory()
    Session.objects.all().delete()
    card.like.click()
    card.button("Log in to save").click()
    fill_in(card.page, other)
    card.rests(Verdict.NONE, 1)
    expect(card.page.get_by_text("it was another reader's")).to_be_visible()
    assert stored(article, reader) == stored(article, other) == (Verdict.NONE, 1, 1)


def test_visitors_like_is_made_at_log_in_and_belongs_to_who_sends_the_form(visitor: Card, article: Article, reader: User):
    visitor.like.click()
    visitor.shows(Verdict.NONE, 1, TO_LOG_IN)
    visitor.button("Log in to save").click()
    fill_in(visitor.page, reader)
    visitor.rests(Verdict.LIKED, 2)
    assert stored(article, reader) == LIKED


def test_visitors_summary_makes_room_only_for_news(visitor: Card, network: Proxy):
    gate = Gate()
    network.plan(hold_request(gate, problem(401, "not_authenticated")))
    look = "(card) => { card.querySelector('.act').click(); return getComputedStyle(card.querySelector('.summary')).visibility; }"
    assert visitor.root.evaluate(look) == "visible"
    gate.open()
    visitor.shows(Verdict.NONE, 1, TO_LOG_IN)
    expect(visitor.summary).to_be_hidden()


def test_doubled_log_in_does_no_harm(visitor: Card, network: Proxy, article: Article, reader: User):
    visitor.not_interested.click()
    visitor.button("Log in to save").click()
    visitor.page.get_by_label("Username").fill(reader.username)
    visitor.page.get_by_label("Password", exact=True).fill(PASSWORD)
    visitor.page.get_by_role("main").get_by_role("button", name="Log in").dblclick()
    visitor.rests(Verdict.NOT_INTERESTED, 1)
    assert stored(article, reader) == (Verdict.NOT_INTERESTED, 1, 1)
    assert Feedback.objects.get(article=article, profile_id=reader.pk).version == 1


def test_another_reader_logged_in_elsewhere(card: Card, context: BrowserContext, network: Proxy, article: Article, reader: User):
    other = UserFactory()
    log_in(context, other, network.url)
    card.like.click()
    card.shows(Verdict.NONE, 1, "Another reader is logged in now. Reload")
    card.says("Another reader is logged in now.")
    assert stored(article, reader) == stored(article, other) == (Verdict.NONE, 1, 1)
    card.button("Reload").click()
    card.rests(Verdict.NONE, 1)
    assert len(network.saves()) == 1
    card.like.click()
    card.rests(Verdict.LIKED, 2)
    assert (stored(article, reader)[0], stored(article, other)) == (Verdict.NONE, LIKED)


def test_b44_logged_out_and_in_again_elsewhere_works_at_once(
    card: Card, open_page: Callable[[], Page], network: Proxy, article: Article, reader: User
):
    elsewhere = open_page()
    elsewhere.goto("/")
    elsewhere.get_by_text(reader.username).click()
    elsewhere.get_by_role("button", name="Log out").click()
    elsewhere.get_by_role("link", name="Log in").click()
    fill_in(elsewhere, reader)
    expect(elsewhere.get_by_text(reader.username)).to_be_visible()
    card.like.click()
    card.rests(Verdict.LIKED, 2)
    assert stored(article, reader) == LIKED
    assert len(network.tries()) == 1


def test_refused_token_is_read_again_and_the_intent_sent_once_more(card: Card, network: Proxy, article: Article, reader: User):
    network.plan(problem(403, "csrf_failed"))
    card.like.click()
    card.rests(Verdict.LIKED, 2)
    first, second = network.tries()
    assert first.body == second.body
    assert stored(article, reader) == LIKED


def test_without_the_cookie_retry_does_not_loop(
    card: Card, context: BrowserContext, network: Proxy, article: Article, reader: User
):
    context.clear_cookies(name="csrftoken")
    card.like.click()
    card.shows(Verdict.NONE, 1, "Not confirmed. Retry")
    assert len(network.saves()) == 2
    card.button("Retry").click()
    network.wait_for_saves(4)
    card.shows(Verdict.NONE, 1, "Not confirmed. Retry")
    assert len(network.saves()) == 4
    assert stored(article, reader) == (Verdict.NONE, 1, 1)
