"""Old and new servers side by side, as during a deploy: an old one only toggles, and must never toggle a save away."""

from playwright.sync_api import Page, expect

from articles.models import Article, User
from feedback.models import Verdict
from tests.browser.card import Card, stored
from tests.browser.conftest import cards_of
from tests.browser.old_server import old_server
from tests.browser.proxy import Proxy, answer, lose_reply, problem
from tests.factories import FeedbackFactory, profile_of

LIKED = (Verdict.LIKED, 2, 2)


def methods(network: Proxy) -> list[str]:
    return [request.method for request in network.saves()]


def test_old_server_is_used_by_post_and_believed(page: Page, network: Proxy, reader: User):
    for card, tells_count in zip(cards_of(page, ["With a count", "Without one"]), (True, False), strict=True):
        network.always(old_server(reader, tells_count=tells_count), path=card.address)
        presses = [
            ("Like", Verdict.LIKED),
            ("Like", Verdict.NONE),
            ("Not interested", Verdict.NOT_INTERESTED),
            ("Undo", Verdict.NONE),
        ]
        for button, verdict in presses:
            card.root.get_by_role("button", name=button, exact=True).click()
            likes = 2 if verdict == Verdict.LIKED else 1
            card.rests(verdict, likes)
            assert stored(card.article, reader) == (verdict, likes, likes)
        saves = network.saves(card.article)
        assert [save.method for save in saves] == ["PUT", "POST"] * 4
        assert [save.body for save in saves[0::2]] == [save.body for save in saves[1::2]]


def test_b67_replies_without_the_new_fields(card: Card, network: Proxy, article: Article):
    old = problem(405, "method_not_allowed")
    network.plan(old, answer(200, {"liked": True, "like_count": 5}))
    card.like.click()
    card.rests(Verdict.LIKED, 5)
    network.plan(old, answer(200, {"liked": False}))
    card.like.click()
    card.rests(Verdict.NONE, 4)
    network.plan(old, answer(200, {"status": "ok"}))
    card.like.click()
    card.shows(Verdict.NONE, 4, "Not confirmed. It may be saved. Reload")


def test_old_server_that_toggled_away_is_said_and_the_button_offered_again(
    card: Card, network: Proxy, article: Article, reader: User
):
    """Liked elsewhere meanwhile: the old server takes the like away."""
    FeedbackFactory(article=article, profile=profile_of(reader), verdict=Verdict.LIKED)
    network.always(old_server(reader))
    card.like.click()
    card.shows(Verdict.NONE, 1, "Changed in the meantime.")
    card.says("Changed in the meantime.")
    card.like.click()
    card.rests(Verdict.LIKED, 2)
    assert stored(article, reader) == LIKED


def test_reply_lost_and_the_old_server_answers_405_by_a_repeat(card: Card, network: Proxy, article: Article, reader: User):
    old = old_server(reader)
    network.plan(lose_reply, old, old)
    card.like.click()
    card.rests(Verdict.LIKED, 2)
    assert (stored(article, reader), methods(network)) == (LIKED, ["PUT"] * 4)


def test_reply_lost_and_the_old_server_answers_405_to_a_retry_or_a_second_press(page: Page, network: Proxy, reader: User):
    for card, button in zip(cards_of(page, ["Retry", "Like"]), ("Retry", "Like"), strict=True):
        network.plan(*[lose_reply] * 5, *[old_server(reader)] * 5, path=card.address)
        card.like.click()
        card.shows(Verdict.NONE, 1, "Not confirmed. Retry")
        card.root.get_by_role("button", name=button, exact=True).click()
        network.wait_for_saves(10, card.article)
        expect(card.root.locator("[aria-busy]")).to_have_count(0)
        card.shows(Verdict.NONE, 1, "Not confirmed. Retry")
        assert [save.method for save in network.saves(card.article)] == ["PUT"] * 10
        assert stored(card.article, reader) == LIKED
        card.button("Retry").click()
        card.rests(Verdict.LIKED, 2)


def test_reply_lost_and_the_old_server_answers_405_after_a_reload(card: Card, network: Proxy, article: Article, reader: User):
    network.plan(*[lose_reply] * 5, *[old_server(reader)] * 5)
    card.like.click()
    card.shows(Verdict.NONE, 1, "Not confirmed. Retry")
    card.page.reload()
    card.rests(Verdict.LIKED, 2)
    card.like.click()
    card.shows(Verdict.LIKED, 2, "Not confirmed. Retry")
    assert (stored(article, reader), methods(network)) == (LIKED, ["PUT"] * 10)
    card.button("Retry").click()
    card.rests(Verdict.NONE, 1)
    assert stored(article, reader) == (Verdict.NONE, 1, 1)


def test_through_a_deploy_that_flips_every_wish_is_met(card: Card, network: Proxy, article: Article, reader: User):
    old = old_server(reader)
    network.plan(old, old, problem(503, "unavailable"), old, lose_reply, old)
    for verdict in (Verdict.LIKED, Verdict.NONE, Verdict.LIKED, Verdict.NONE, Verdict.LIKED):
        card.like.click()
        likes = 2 if verdict == Verdict.LIKED else 1
        card.rests(verdict, likes)
        assert stored(article, reader) == (verdict, likes, likes)
    assert methods(network).count("POST") == 1


def test_uncertain_post_is_never_repeated_and_offers_reload(card: Card, network: Proxy, article: Article, reader: User):
    network.plan(old_server(reader))
    network.plan(lose_reply, method="POST")
    card.like.click()
    card.shows(Verdict.NONE, 1, "Not confirmed. It may be saved. Reload")
    card.says("Not confirmed. It may be saved.")
    assert methods(network) == ["PUT", "POST"]
    card.button("Reload").click()
    card.rests(Verdict.LIKED, 2)
    assert stored(article, reader) == LIKED


def test_old_state_is_told_to_no_other_tab(card: Card, other_tab: Card, network: Proxy, reader: User):
    channel = f"new BroadcastChannel('devpick.reader.{reader.pk}')"
    other_tab.page.evaluate(f"() => {{ heard = []; ({channel}).onmessage = ({{ data }}) => heard.push(data.liked ?? data); }}")
    network.plan(old_server(reader), old_server(reader))
    for verdict, likes in ((Verdict.LIKED, 2), (Verdict.NONE, 1)):
        card.like.click()
        card.rests(verdict, likes)
    card.page.evaluate(f"({channel}).postMessage('end')")
    other_tab.page.wait_for_function("heard.includes('end')")
    assert other_tab.page.evaluate("heard") == [
        False,
        "end",
    ]  # of the old server's like nothing, of the new one's answer its state
