"""The network of these tests leaves nothing behind for the next one."""

import pytest

from articles.models import Article, User
from feedback.models import Verdict
from tests.browser.card import Card, stored
from tests.browser.proxy import Fate, Gate, Proxy, arrive_late, hold_request


@pytest.mark.parametrize("fate", [arrive_late, hold_request])
def test_what_is_held_at_the_end_of_a_test_never_arrives(card: Card, network: Proxy, article: Article, reader: User, fate):
    held: Fate = fate(gate := Gate())
    network.always(held)
    card.like.click()
    gate.wait_until_reached()
    network.settle()
    gate.open()
    assert network.browsers == set()
    assert (network.saves(), stored(article, reader)) == ([], (Verdict.NONE, 1, 1))
