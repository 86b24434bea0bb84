"""A request, a reply or a part of one is lost: the like is saved once, counted once, and the card says what it knows."""

import pytest
from playwright.sync_api import Page, expect

from articles.models import Article, User
from feedback.models import Verdict
from tests.browser.card import Card, stored
from tests.browser.conftest import cards_of
from tests.browser.proxy import (
    Gate,
    Proxy,
    cut_body,
    cut_head,
    hold_reply,
    hold_request,
    lose_reply,
    lose_request,
    no_body,
)

LIKED = (Verdict.LIKED, 2, 2)


def test_lost_reply_is_made_good_by_sending_again(page: Page, network: Proxy, reader: User):
    fates = {"lost": lose_reply, "cut in its head": cut_head, "cut in its body": cut_body, "without its body": no_body}
    cards = cards_of(page, [f"A reply {title}" for title in fates])
    for card, fate in zip(cards, fates.values(), strict=True):
        # Twice: the first may be repeated by Chromium itself, the second is not.
        network.plan(fate, fate, path=card.address)
        card.like.click()
    for card in cards:
        card.rests(Verdict.LIKED, 2)
        assert stored(card.article, reader) == LIKED
        saves = network.saves(card.article)
        assert (len(saves), {(save.method, save.body) for save in saves}) == (3, {("PUT", saves[0].body)})
    page.reload()
    for card in cards:
        card.rests(Verdict.LIKED, 2)


def test_lost_request_reaches_the_server_by_the_repeat(card: Card, network: Proxy, article: Article, reader: User):
    network.plan(lose_request, lose_request)
    card.like.click()
    card.rests(Verdict.LIKED, 2)
    assert stored(article, reader) == LIKED
    assert (len(network.tries()), len(network.saves())) == (3, 1)


def test_b13_reply_lost_on_a_reused_connection_is_answered_by_the_browsers_own_repeat(
    card: Card, network: Proxy, article: Article, reader: User
):
    """When a reused connection closes without a reply, Chromium itself sends again; the page sees a save that changed nothing."""
    network.keeps_alive = True
    card.page.reload()
    network.plan(lose_reply)
    card.like.click()
    card.rests(Verdict.LIKED, 2)
    assert stored(article, reader) == LIKED
    first, second = network.saves()
    assert first.body == second.body
    assert (first.is_first, second.connection == first.connection) == (False, False)


@pytest.mark.parametrize("keeps_alive", [False, True])
def test_after_the_last_lost_reply_retry_confirms_the_like(
    card: Card, network: Proxy, article: Article, reader: User, keeps_alive: bool
):
    network.keeps_alive = keeps_alive
    network.always(lose_reply)
    card.like.click()
    expect(card.button("Retry")).to_be_visible()
    card.shows(Verdict.NONE, 1, "Not confirmed. Retry")
    card.says("Not confirmed.")
    assert stored(article, reader) == LIKED
    sent = {request.body for request in network.saves()}
    assert len(sent) == 1
    network.heal()
    card.button("Retry").click()
    card.rests(Verdict.LIKED, 2)
    card.says("Saved.")
    assert stored(article, reader) == LIKED
    retried = network.saves()[-1].json
    assert retried["seq"] > network.saves()[0].json["seq"]
    assert {**retried, "seq": 0} == {**network.saves()[0].json, "seq": 0}
    card.page.reload()
    card.rests(Verdict.LIKED, 2)


def test_the_page_gives_a_send_up_after_its_time_out_and_sends_again(card: Card, network: Proxy, article: Article, reader: User):
    gate = Gate()
    network.plan(hold_reply(gate))
    card.like.click()
    expect(card.note).to_have_text("Saving…")
    card.rests(Verdict.LIKED, 2)
    gate.open()
    card.rests(Verdict.LIKED, 2)
    assert stored(article, reader) == LIKED
    assert len({request.body for request in network.saves()}) == 1


def test_answer_to_a_given_up_send_paints_nothing(card: Card, network: Proxy, article: Article, reader: User):
    gate = Gate()
    network.plan(hold_request(gate))
    card.like.click()
    network.wait_for_tries(2)
    card.rests(Verdict.LIKED, 2)
    card.like.click()
    card.rests(Verdict.NONE, 1)
    gate.open()
    network.wait_until(lambda: network.saves()[-1].json["liked"], "The first send did not arrive.")
    card.page.reload()
    card.rests(Verdict.NONE, 1)
    assert stored(article, reader) == (Verdict.NONE, 1, 1)
