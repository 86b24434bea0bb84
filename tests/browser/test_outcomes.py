"""Every row of the contract's table of outcomes, in the browser."""

from email.utils import formatdate
from time import time

from playwright.sync_api import Page, expect

from articles.models import Article, User
from feedback.models import Verdict
from tests.browser.card import Card, stored
from tests.browser.conftest import cards_of
from tests.browser.proxy import Proxy, answer, problem

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
    cards = cards_of(page, NOT_CONFIRMED)
    for card, fate in zip(cards, NOT_CONFIRMED.values(), strict=True):
        network.always(fate, path=card.address)
        card.like.click()
    for card in cards:
        card.shows(Verdict.NONE, 1, "Not confirmed. Retry")
        tries = network.tries(card.article)
        assert ([save.method for save in tries], len({save.body for save in tries})) == (["PUT"] * LAST, 1)
        assert stored(card.article, reader) == (Verdict.NONE, 1, 1)
    network.heal()
    for card in cards:
        card.button("Retry").click()
    for card in cards:
        card.rests(Verdict.LIKED, 2)
        assert stored(card.article, reader) == (Verdict.LIKED, 2, 2)


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
    (403, "reader_changed"): ("Another reader is logged in now. Reload", "reader"),
}


def test_what_is_final_ends_after_one_send(page: Page, network: Proxy, reader: User):
    cards = cards_of(page, [f"{status} {code}" for status, code in AT_ONCE])
    for card, (answered, (note, state)) in zip(cards, AT_ONCE.items(), strict=True):
        network.always(problem(*answered), path=card.address)
        card.like.click()
        card.shows(Verdict.NONE, 1, note)
        card.says(note.removesuffix(" Retry").removesuffix(" Reload").removesuffix(" Log in to save"))
        expect(card.root).to_have_attribute("data-state", state)
        assert [save.method for save in network.tries(card.article)] == ["PUT"]
        assert stored(card.article, reader) == (Verdict.NONE, 1, 1)


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


def test_b59_short_past_or_unreadable_retry_after_is_an_ordinary_repeat(page: Page, network: Proxy, reader: User):
    told = ["1", "0", "abc", "-5", "", formatdate(0, usegmt=True)]
    for card, value in zip(cards := cards_of(page, [f"Wait {value}" for value in told]), told, strict=True):
        network.plan(problem(503, "unavailable", Retry_After=value), path=card.address)
        card.like.click()
    for card in cards:
        card.rests(Verdict.LIKED, 2)
        assert (len(network.tries(card.article)), len(network.saves(card.article))) == (2, 1)
        assert stored(card.article, reader) == (Verdict.LIKED, 2, 2)


def test_long_retry_after_ends_the_repeats_and_is_told(page: Page, network: Proxy, reader: User):
    in_two_hours = formatdate(time() + 7200, usegmt=True)
    told = {"60": "Try again in 60 s.", "86400": "Wait 1440 min.", in_two_hours: "Wait 120 min."}
    for card, value in zip(cards := cards_of(page, [f"Wait {value}" for value in told]), told, strict=True):
        network.plan(problem(429, "throttled", Retry_After=value), path=card.address)
        card.like.click()
    for card, note in zip(cards, told.values(), strict=True):
        card.shows(Verdict.NONE, 1, f"Not confirmed. {note} Retry")
        assert len(network.tries(card.article)) == 1
        card.button("Retry").click()
        card.rests(Verdict.LIKED, 2)
        assert stored(card.article, reader) == (Verdict.LIKED, 2, 2)
