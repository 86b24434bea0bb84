"""A reply, a request or a part of it is lost: the like is saved once, counted once, and the card says so."""

from articles.models import Article, User
from feedback.models import Verdict
from tests.browser.card import Card, stored
from tests.browser.proxy import Proxy, lose_reply


def test_reply_lost_on_a_fresh_connection_is_repeated_with_the_same_intent(card: Card, network: Proxy, article: Article, reader: User):
    network.plan(lose_reply)
    card.like.click()
    card.rests(Verdict.LIKED, 2)
    assert stored(article, reader) == (Verdict.LIKED, 2, 2)
    first, second = network.saves()
    assert (first.method, first.path, first.body) == (second.method, second.path, second.body)
    card.page.reload()
    card.rests(Verdict.LIKED, 2)
