"""A late arrival at the server never wins over a newer press: within a tab, between tabs, over a reload."""

from articles.models import Article, User
from feedback.models import Verdict
from tests.browser.card import Card, stored
from tests.browser.proxy import Gate, Proxy, arrive_late

UNLIKED = (Verdict.NONE, 1, 1)


def hold_the_like_back(card: Card, network: Proxy) -> Gate:
    """A like that stays in the network; the page sees a broken connection and saves it by a repeat."""
    gate = Gate()
    network.plan(arrive_late(gate))
    card.like.click()
    gate.wait_until_reached()
    card.rests(Verdict.LIKED, 2)
    return gate


def arrive(gate: Gate, network: Proxy) -> None:
    gate.open()
    network.wait_until(lambda: network.saves()[-1].json["liked"], "The late like did not arrive.")


def test_late_like_within_a_tab(card: Card, network: Proxy, article: Article, reader: User):
    gate = hold_the_like_back(card, network)
    card.like.click()
    card.rests(Verdict.NONE, 1)
    arrive(gate, network)
    card.page.reload()
    card.rests(Verdict.NONE, 1)
    assert stored(article, reader) == UNLIKED


def test_late_like_of_one_tab_after_an_unlike_in_another(
    card: Card, other_tab: Card, network: Proxy, article: Article, reader: User
):
    gate = hold_the_like_back(card, network)
    other_tab.rests(Verdict.LIKED, 2)
    other_tab.like.click()
    other_tab.rests(Verdict.NONE, 1)
    card.rests(Verdict.NONE, 1)
    arrive(gate, network)
    card.page.reload()
    card.rests(Verdict.NONE, 1)
    assert stored(article, reader) == UNLIKED
    clients = {request.json["client"] for request in network.saves()}
    assert len(clients) == 1


def test_late_like_over_a_reload(card: Card, network: Proxy, article: Article, reader: User):
    gate = hold_the_like_back(card, network)
    card.page.reload()
    card.rests(Verdict.LIKED, 2)
    card.like.click()
    card.rests(Verdict.NONE, 1)
    arrive(gate, network)
    card.page.reload()
    card.rests(Verdict.NONE, 1)
    assert stored(article, reader) == UNLIKED


def test_every_press_has_a_later_place_than_the_one_before(card: Card, other_tab: Card, network: Proxy):
    for one, verdict in [(card, Verdict.LIKED), (other_tab, Verdict.NONE), (card, Verdict.LIKED)]:
        one.like.click()
        for tab in (card, other_tab):
            tab.rests(verdict, 2 if verdict == Verdict.LIKED else 1)
    places = [request.json["seq"] for request in network.saves()]
    assert places == sorted(set(places))
    assert len(places) == 3
