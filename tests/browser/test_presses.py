"""Quick and contrary presses: one save at a time, and the last press wins."""

from playwright.sync_api import Page, expect

from articles.models import Article, User
from feedback.models import Verdict
from tests.browser.card import Card, stored
from tests.browser.conftest import cards_of
from tests.browser.proxy import Gate, Proxy, hold_reply, lose_reply, problem
from tests.factories import ArticleFactory, FeedbackFactory, profile_of

LIKE, NOT = "like", "not_interested"


def press_quickly(card: Card, names: list[str]) -> None:
    """All presses in one turn of the page's script, before any answer can come."""
    card.root.evaluate(
        "(card, names) => names.forEach((name) => card.querySelector(name === 'like' ? '.act' : '.act.no').click())", names
    )


QUICK = [
    ([LIKE, LIKE], Verdict.NONE, 2),
    ([LIKE, NOT], Verdict.NOT_INTERESTED, 2),
    ([NOT, LIKE], Verdict.LIKED, 2),
    ([LIKE, LIKE, LIKE], Verdict.LIKED, 1),
    ([NOT, LIKE, LIKE], Verdict.NONE, 2),
    ([LIKE, NOT, LIKE, NOT, LIKE], Verdict.LIKED, 1),
    ([NOT, NOT, LIKE, NOT, LIKE], Verdict.LIKED, 2),
]


def test_quick_presses_end_as_the_last_one_says(page: Page, network: Proxy, reader: User):
    cards = cards_of(page, [", ".join(names) for names, _verdict, _requests in QUICK])
    for card, (names, _verdict, _requests) in zip(cards, QUICK, strict=True):
        press_quickly(card, names)
    for card, (_names, verdict, requests) in zip(cards, QUICK, strict=True):
        likes = 2 if verdict == Verdict.LIKED else 1
        card.rests(verdict, likes)
        assert stored(card.article, reader) == (verdict, likes, likes)
        assert len(network.saves(card.article)) == requests


def test_press_in_flight_shows_at_once_and_is_sent_after_the_answer(card: Card, network: Proxy, article: Article, reader: User):
    gate = Gate()
    network.plan(hold_reply(gate))
    card.like.click()
    gate.wait_until_reached()
    card.not_interested.click()
    card.shows(Verdict.NOT_INTERESTED, 1)
    assert len(network.tries()) == 1
    gate.open()
    card.rests(Verdict.NOT_INTERESTED, 1)
    assert stored(article, reader) == (Verdict.NOT_INTERESTED, 1, 1)
    assert [request.path for request in network.saves()] == [
        f"/api/articles/{article.pk}/like/",
        f"/api/articles/{article.pk}/not-interested/",
    ]


def test_press_in_a_wait_ends_the_wait(card: Card, network: Proxy, article: Article, reader: User):
    network.plan(problem(503, "unavailable", Retry_After="10"))
    card.like.click()
    card.waits()
    expect(card.like).to_have_attribute("aria-busy", "true")
    card.not_interested.click()
    card.rests(Verdict.NOT_INTERESTED, 1)
    assert stored(article, reader) == (Verdict.NOT_INTERESTED, 1, 1)
    assert [request.json["not_interested"] for request in network.tries()] == [False, True]


def test_b19_answer_to_the_first_send_after_a_newer_press_does_not_repaint(
    card: Card, network: Proxy, article: Article, reader: User
):
    gate = Gate()
    network.plan(hold_reply(gate))
    card.like.click()
    gate.wait_until_reached()
    card.like.click()
    card.shows(Verdict.NONE, 1)
    gate.open()
    card.rests(Verdict.NONE, 1)
    assert stored(article, reader) == (Verdict.NONE, 1, 1)
    assert [request.json["liked"] for request in network.saves()] == [True, False]


def test_b01_double_click_changes_the_count_by_one_at_most(card: Card, network: Proxy, article: Article, reader: User):
    card.like.dblclick()
    card.rests(Verdict.NONE, 1)
    assert stored(article, reader) == (Verdict.NONE, 1, 1)


def test_b03_alternating_between_the_two_buttons_keeps_them_exclusive(card: Card, network: Proxy, article: Article, reader: User):
    for _ in range(5):
        card.like.click()
        card.not_interested.click()
        expect(card.root.locator(".act[aria-pressed=true]")).to_have_count(1)
    card.rests(Verdict.NOT_INTERESTED, 1)
    assert stored(article, reader) == (Verdict.NOT_INTERESTED, 1, 1)
    card.page.reload()
    expect(card.root).to_have_count(0)


def test_b05_after_a_reload_the_count_starts_from_the_server(card: Card, network: Proxy, article: Article, reader: User):
    card.like.click()
    card.rests(Verdict.LIKED, 2)
    card.page.reload()
    card.rests(Verdict.LIKED, 2)
    card.like.click()
    card.rests(Verdict.NONE, 1)
    card.like.click()
    card.rests(Verdict.LIKED, 2)
    assert stored(article, reader) == (Verdict.LIKED, 2, 2)


def test_b11_from_one_verdict_straight_to_the_other_and_back(card: Card, network: Proxy, article: Article, reader: User):
    for button, verdict in [(card.like, Verdict.LIKED), (card.not_interested, Verdict.NOT_INTERESTED)] * 2:
        button.click()
        likes = 2 if verdict == Verdict.LIKED else 1
        card.rests(verdict, likes)
        assert stored(article, reader) == (verdict, likes, likes)


def test_b15_after_a_failed_save_the_next_press_asks_for_the_same(card: Card, network: Proxy, article: Article, reader: User):
    network.plan(problem(500, "error"), problem(500, "error"))
    card.like.click()
    card.shows(Verdict.NONE, 1, "Not confirmed. Retry")
    card.like.click()
    card.shows(Verdict.NONE, 1, "Not confirmed. Retry")
    network.wait_for_tries(2)
    card.button("Retry").click()
    card.rests(Verdict.LIKED, 2)
    assert [request.json["liked"] for request in network.tries()] == [True, True, True]
    assert stored(article, reader) == (Verdict.LIKED, 2, 2)


def test_retry_asks_for_the_recorded_verdict_whatever_the_card_has_heard_since(
    card: Card, other_tab: Card, network: Proxy, article: Article, reader: User
):
    card.like.click()
    other_tab.rests(Verdict.LIKED, 2)
    network.plan(problem(500, "error"))
    card.like.click()
    card.shows(Verdict.LIKED, 2, "Not confirmed. Retry")
    other_tab.not_interested.click()
    card.shows(Verdict.NOT_INTERESTED, 1, "Not confirmed. Retry")
    card.button("Retry").click()
    card.rests(Verdict.NONE, 1)
    wish = network.saves()[-1].json
    assert (wish["liked"], wish["not_interested"]) == (False, False)
    assert stored(article, reader) == (Verdict.NONE, 1, 1)


def test_b17_one_failed_card_leaves_the_others_alone(page: Page, network: Proxy, reader: User):
    failing, *others = cards_of(page, [f"Card {number}" for number in range(10)])
    network.always(problem(500, "error"), path=failing.address)
    for card in (*others[:3], failing, *others[3:]):
        card.like.click()
    failing.shows(Verdict.NONE, 1, "Not confirmed. Retry")
    for card in others:
        card.rests(Verdict.LIKED, 2)
        assert stored(card.article, reader) == (Verdict.LIKED, 2, 2)
    assert stored(failing.article, reader) == (Verdict.NONE, 1, 1)


def test_b57_article_deleted_meanwhile(page: Page, network: Proxy, reader: User):
    gone, there = ArticleFactory.create_batch(2)
    page.goto("/")
    lost, card = Card(page, gone), Card(page, there)
    Article.objects.filter(pk=gone.pk).delete()
    lost.like.click()
    lost.shows(Verdict.NONE, 0, "No longer available.")
    lost.says("No longer available.")
    expect(lost.like).to_have_attribute("aria-disabled", "true")
    lost.like.click(force=True)
    card.like.click()
    card.rests(Verdict.LIKED, 1)
    assert [len(network.saves(article)) for article in (gone, there)] == [1, 1]
    assert stored(there, reader) == (Verdict.LIKED, 1, 1)


# Not interested


def test_not_interested_folds_in_place_and_undo_says_nothing(card: Card, network: Proxy, article: Article, reader: User):
    height = card.root.bounding_box()
    card.not_interested.click()
    card.rests(Verdict.NOT_INTERESTED, 1)
    expect(card.note).to_have_text("Hidden. Similar ones sink. Undo")
    assert card.root.bounding_box() == height
    card.button("Undo").click()
    card.rests(Verdict.NONE, 1)
    assert card.root.bounding_box() == height
    assert stored(article, reader) == (Verdict.NONE, 1, 1)
    assert [request.path for request in network.saves()] == [f"/api/articles/{article.pk}/not-interested/"] * 2


def test_undo_does_not_bring_a_replaced_like_back(card: Card, network: Proxy, article: Article, reader: User):
    card.like.click()
    card.rests(Verdict.LIKED, 2)
    card.not_interested.click()
    card.rests(Verdict.NOT_INTERESTED, 1)
    card.button("Undo").click()
    card.rests(Verdict.NONE, 1)
    assert stored(article, reader) == (Verdict.NONE, 1, 1)


def test_failed_undo_stays_folded_with_retry(card: Card, network: Proxy, article: Article, reader: User):
    card.not_interested.click()
    card.rests(Verdict.NOT_INTERESTED, 1)
    network.plan(problem(500, "error"))
    card.button("Undo").click()
    card.shows(Verdict.NOT_INTERESTED, 1, "Not confirmed. Retry")
    expect(card.summary).to_be_hidden()
    expect(card.not_interested).to_be_focused()
    assert stored(article, reader) == (Verdict.NOT_INTERESTED, 1, 1)
    card.button("Retry").click()
    card.rests(Verdict.NONE, 1)
    assert stored(article, reader) == (Verdict.NONE, 1, 1)


def test_undo_of_a_card_that_came_folded_brings_its_reasons(page: Page, network: Proxy, reader: User):
    ArticleFactory(tags=["python"])
    liked, hidden = ArticleFactory.create_batch(2, tags=["rust"])
    FeedbackFactory(article=liked, profile=profile_of(reader), verdict=Verdict.LIKED)
    FeedbackFactory(article=hidden, profile=profile_of(reader), verdict=Verdict.NOT_INTERESTED)
    page.goto(f"/?kept={hidden.pk}")
    card = Card(page, hidden)
    reasons = card.note.get_by_text("rust")
    card.rests(Verdict.NOT_INTERESTED, 0)
    expect(reasons).to_be_hidden()
    card.button("Undo").click()
    card.rests(Verdict.NONE, 0)
    expect(reasons).to_be_visible()


def test_not_interested_survives_a_lost_reply(card: Card, network: Proxy, article: Article, reader: User):
    network.always(lose_reply)
    card.not_interested.click()
    card.shows(Verdict.NONE, 1, "Not confirmed. Retry")
    network.heal()
    card.button("Retry").click()
    card.rests(Verdict.NOT_INTERESTED, 1)
    assert stored(article, reader) == (Verdict.NOT_INTERESTED, 1, 1)
    expect(card.not_interested).to_be_focused()


def test_undo_survives_a_lost_reply_on_the_not_interested_list(page: Page, network: Proxy, article: Article, reader: User):
    FeedbackFactory(article=article, profile=profile_of(reader), verdict=Verdict.NOT_INTERESTED, version=1)
    page.goto("/?view=not-interested")
    card = Card(page, article)
    network.plan(*[lose_reply] * 5)
    card.button("Undo").click()
    card.shows(Verdict.NOT_INTERESTED, 1, "Not confirmed. Retry")
    card.button("Retry").click()
    card.rests(Verdict.NONE, 1)
    assert stored(article, reader) == (Verdict.NONE, 1, 1)


def test_an_undo_that_is_refused_is_offered_again(card: Card, network: Proxy, article: Article, reader: User):
    card.not_interested.click()
    card.rests(Verdict.NOT_INTERESTED, 1)
    network.plan(problem(400, "invalid"))
    card.button("Undo").click()
    card.shows(Verdict.NOT_INTERESTED, 1, "Not saved. The server refused it. Undo")
    card.button("Undo").click()
    card.rests(Verdict.NONE, 1)
    assert stored(article, reader) == (Verdict.NONE, 1, 1)
