"""Every row of the contract's table of outcomes, in the browser."""

from email.utils import formatdate
from time import time

import pytest
from playwright.sync_api import Page, expect

from articles.models import Article, User
from feedback.models import Verdict
from tests.browser.card import Card, stored
from tests.browser.proxy import Fate, Proxy, answer, problem
from tests.factories import ArticleFactory

WHOLE = {"article": 0, "liked": True, "not_interested": False, "like_count": 2, "version": 1, "changed": True, "stale": False}
LAST = 5  # sends of one act

NOT_CONFIRMED = {
    **{f"{status}": problem(status, "x") for status in (408, 425, 429, 502, 503, 504)},
    "no state": answer(200, {"status": "ok"}),
    "liked is a text": answer(200, {**WHOLE, "liked": "true"}),
    "no count": answer(200, {**WHOLE, "like_count": None}),
    "not JSON by its type": answer(200, WHOLE, "text/html"),
    "a log-in page": answer(200, "<!doctype html><title>Log in</title>", "text/html"),
    "broken JSON": answer(200, "{"),
}


def test_what_may_pass_is_repeated_to_the_cap_and_then_offers_retry(page: Page, network: Proxy, reader: User):
    cards = {meeting(network, title, fate): fate for title, fate in NOT_CONFIRMED.items()}
    page.goto("/")
    for article in cards:
        Card(page, article).like.click()
    for article in cards:
        Card(page, article).shows(Verdict.NONE, 0, "Not confirmed. Retry")
        tries = network.tries(article)
        assert ([request.method for request in tries], len({request.body for request in tries})) == (["PUT"] * LAST, 1)
        assert stored(article, reader) == (Verdict.NONE, 0, 0)
    network.heal()
    for article in cards:
        Card(page, article).button("Retry").click()
    for article in cards:
        Card(page, article).rests(Verdict.LIKED, 1)
        assert stored(article, reader) == (Verdict.LIKED, 1, 1)


def meeting(network: Proxy, title: str, fate: Fate) -> Article:
    """An article whose saves always meet this fate."""
    article = ArticleFactory(title=title)
    network.always(fate, path=rf"/api/articles/{article.pk}/")
    return article


def test_503_twice_is_saved_by_the_third_send(card: Card, network: Proxy, article: Article, reader: User):
    network.plan(problem(503, "unavailable"), problem(503, "unavailable"))
    card.like.click()
    card.rests(Verdict.LIKED, 2)
    assert (len(network.tries()), len(network.saves())) == (3, 1)
    assert stored(article, reader) == (Verdict.LIKED, 2, 2)


REFUSED = ("Not saved. The server refused it.", "refused")
AT_ONCE = {
    (500, "error"): ("Not confirmed. Retry", "failed"),
    (501, "error"): ("Not confirmed. Retry", "failed"),
    (400, "invalid"): REFUSED,
    (411, "length_required"): REFUSED,
    (413, "body_too_large"): REFUSED,
    (415, "unsupported_media_type"): REFUSED,
    (422, "idempotency_key_reused"): REFUSED,
    (418, "teapot"): REFUSED,
    (403, "permission_denied"): REFUSED,
    (404, "not_found"): ("No longer available.", "gone"),
    (410, "gone"): ("No longer available.", "gone"),
    (401, "not_authenticated"): ("Not saved yet. Log in to save", "login"),
    (403, "reader_changed"): ("Another reader is logged in now. Reload", "refused"),
}


def test_what_is_final_ends_after_one_send(page: Page, network: Proxy, reader: User):
    cards = {meeting(network, f"{status} {code}", problem(status, code)): looks for (status, code), looks in AT_ONCE.items()}
    page.goto("/")
    for article, (note, state) in cards.items():
        card = Card(page, article)
        card.like.click()
        card.shows(Verdict.NONE, 0, note)
        card.says(note.removesuffix(" Retry").removesuffix(" Reload").removesuffix(" Log in to save"))
        expect(card.root).to_have_attribute("data-state", state)
        assert [request.method for request in network.tries(article)] == ["PUT"]
        assert stored(article, reader) == (Verdict.NONE, 0, 0)


def test_log_in_page_as_a_redirect_asks_to_log_in(card: Card, network: Proxy, article: Article, reader: User):
    network.always(answer(302, "", Location="/login/"))
    card.like.click()
    card.shows(Verdict.NONE, 1, "Not saved yet. Log in to save")
    assert len(network.tries()) == 1
    assert [request.path for request in network.received if "login" in request.path] == []


def test_confirmed_state_that_was_not_asked_for_is_adopted_and_said(card: Card, network: Proxy, article: Article):
    network.plan(answer(200, {**WHOLE, "liked": False, "not_interested": True, "like_count": 9, "version": 5, "stale": True}))
    card.like.click()
    card.shows(Verdict.NOT_INTERESTED, 9)
    card.says("Changed in the meantime.")


def test_older_version_paints_nothing(card: Card, network: Proxy, article: Article):
    card.like.click()
    card.rests(Verdict.LIKED, 2)
    network.plan(answer(200, {**WHOLE, "liked": False, "like_count": 77, "version": 0}))
    card.like.click()
    card.shows(Verdict.LIKED, 2, "Changed in the meantime.")


def test_the_count_is_the_replys(card: Card, network: Proxy, article: Article):
    network.plan(answer(200, {**WHOLE, "like_count": 57}))
    card.like.click()
    card.rests(Verdict.LIKED, 57)


# Retry-After


def test_short_retry_after_is_the_least_wait(card: Card, network: Proxy, article: Article, reader: User):
    network.plan(problem(503, "unavailable", Retry_After="1"))
    card.like.click()
    card.rests(Verdict.LIKED, 2)
    assert len(network.tries()) == 2
    assert stored(article, reader) == (Verdict.LIKED, 2, 2)


@pytest.mark.parametrize(
    ("told", "note"),
    [
        ("60", "Not confirmed. Try again in 60 s. Retry"),
        ("86400", "Not confirmed. Wait 1440 min. Retry"),
    ],
)
def test_long_retry_after_ends_the_repeats_and_is_told(
    card: Card, network: Proxy, article: Article, reader: User, told: str, note: str
):
    network.plan(problem(429, "throttled", Retry_After=told))
    card.like.click()
    card.shows(Verdict.NONE, 1, note)
    assert len(network.tries()) == 1
    card.button("Retry").click()
    card.rests(Verdict.LIKED, 2)
    assert stored(article, reader) == (Verdict.LIKED, 2, 2)


def test_retry_after_may_be_a_date(card: Card, network: Proxy):
    network.plan(problem(503, "unavailable", Retry_After=formatdate(time() + 7200, usegmt=True)))
    card.like.click()
    card.shows(Verdict.NONE, 1, "Not confirmed. Wait 120 min. Retry")
    assert len(network.tries()) == 1


@pytest.mark.parametrize("told", ["abc", "-5", "", formatdate(0, usegmt=True)])
def test_b59_retry_after_in_the_past_or_unreadable_is_an_ordinary_repeat(card: Card, network: Proxy, article: Article, told: str):
    network.plan(problem(503, "unavailable", Retry_After=told))
    card.like.click()
    card.rests(Verdict.LIKED, 2)
    assert len(network.tries()) == 2
