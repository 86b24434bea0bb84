"""For everyone: names, focus, keyboard, targets, heights, and axe in every state of a card."""

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, ViewportSize, expect

from articles.models import User
from feedback.models import Verdict
from tests.browser.card import Card
from tests.browser.conftest import cards_of
from tests.browser.old_server import old_server
from tests.browser.proxy import Gate, Proxy, answer, hold_request, lose_reply, problem
from tests.factories import ArticleFactory, FeedbackFactory, profile_of

WIDTHS = [360, 768, 1280]
RETRY_LATER = problem(503, "unavailable", Retry_After="60")
ELSEWHERE = {
    "article": 0,
    "liked": False,
    "not_interested": False,
    "like_count": 1,
    "version": 9,
    "changed": False,
    "stale": True,
}


@pytest.fixture
def every_state(page: Page, network: Proxy, reader: User, context: BrowserContext) -> dict[str, Card]:
    """A page on which every state of a card can be seen at once."""
    fates = {
        "idle": None,
        "liked": None,
        "folded": None,
        "undone": None,
        "saving": hold_request(Gate()),
        "failed": problem(500, "error"),
        "wait": RETRY_LATER,
        "login": problem(401, "not_authenticated"),
        "refused": problem(400, "invalid"),
        "gone": problem(404, "not_found"),
        "reader": problem(403, "reader_changed"),
        "changed": answer(200, ELSEWHERE),
        "unconfirmed": None,
    }
    articles = {name: ArticleFactory(title=f"An article that is {name}", like_count=1) for name in [*fates, "offline"]}
    for name, fate in fates.items():
        if fate:
            network.always(fate, path=f"/api/articles/{articles[name].pk}/")
    network.plan(old_server(reader), path=f"/api/articles/{articles['unconfirmed'].pk}/")
    network.plan(lose_reply, method="POST", path=f"/api/articles/{articles['unconfirmed'].pk}/")
    FeedbackFactory(article=articles["liked"], profile=profile_of(reader), verdict=Verdict.LIKED)
    page.goto("/")
    cards = {name: Card(page, article) for name, article in articles.items()}
    for name in ("folded", "undone"):
        cards[name].not_interested.click()
        cards[name].rests(Verdict.NOT_INTERESTED, 0)
    network.always(problem(500, "error"), path=cards["undone"].address)
    cards["undone"].button("Undo").click()
    cards["undone"].shows(Verdict.NOT_INTERESTED, 0, "Not confirmed. Retry")
    for name in [*fates][4:]:
        cards[name].like.click()
    for name in [*fates][5:]:
        expect(cards[name].root.locator("[aria-busy]")).to_have_count(0)
    expect(cards["saving"].note).to_have_text("Saving…")
    context.set_offline(True)
    cards["offline"].like.click()
    expect(cards["offline"].button("Retry")).to_be_visible()
    return cards


def resize(page: Page, width: int) -> None:
    page.set_viewport_size(ViewportSize(width=width, height=900))


def test_axe_finds_nothing_in_any_state(every_state: dict[str, Card], page: Page):
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for width in (360, 1280):
            resize(page, width)
            results = Axe().run(page)
            assert results.violations_count == 0, results.generate_report()


def test_no_state_changes_the_height_of_a_card(every_state: dict[str, Card], page: Page):
    for width in WIDTHS:
        resize(page, width)
        heights = {name: round(box["height"]) for name, card in every_state.items() if (box := card.root.bounding_box())}
        assert set(heights.values()) == {heights["idle"]}, f"{width} px: {heights}"


def test_every_target_has_at_least_24_pixels(every_state: dict[str, Card], page: Page):
    for width in (360, 1280):
        resize(page, width)
        small = page.locator("button:visible, a:visible, summary:visible").evaluate_all(
            """elements => elements
                .map((element) => [element.textContent.trim(), element.getBoundingClientRect()])
                .filter(([, box]) => box.width > 1 && (box.height < 24 || box.width < 24))
                .map(([text, box]) => `${text}: ${box.width} x ${box.height}`)"""
        )
        assert small == []


def test_b77_name_and_pressed_state_of_a_button_through_a_save(card: Card, network: Proxy):
    gate = Gate()
    network.plan(hold_request(gate, problem(500, "error")))
    described = card.like.get_attribute("aria-describedby")
    assert card.page.locator(f"#{described}").inner_text() == card.article.title
    expect(card.like).to_have_attribute("aria-pressed", "false")
    card.like.click()
    expect(card.like).to_have_attribute("aria-pressed", "true")
    gate.open()
    expect(card.like).to_have_attribute("aria-pressed", "false")
    card.button("Retry").click()
    card.rests(Verdict.LIKED, 2)
    expect(card.like).to_have_accessible_name("Like")


def test_one_status_region_is_there_from_the_start_and_names_the_article(card: Card, network: Proxy):
    status = card.page.get_by_role("status")
    expect(status).to_have_count(1)
    expect(status).to_be_empty()
    network.plan(problem(500, "error"))
    card.like.click()
    card.says("Not confirmed.")
    card.button("Retry").click()
    card.says("Saved.")


# Keyboard and focus


def test_the_whole_way_by_keyboard(card: Card, network: Proxy):
    network.plan(problem(500, "error"), problem(500, "error"))
    card.like.focus()
    card.page.keyboard.press("Enter")
    card.says("Not confirmed.")
    expect(card.like).to_be_focused()
    card.page.keyboard.press("Shift+Tab")
    expect(card.button("Retry")).to_be_focused()
    card.page.keyboard.press("Enter")
    network.wait_for_tries(2)
    expect(card.button("Retry")).not_to_have_attribute("aria-disabled", "true")
    expect(card.button("Retry")).to_be_focused()
    card.page.keyboard.press("Enter")
    card.rests(Verdict.LIKED, 2)
    expect(card.like).to_be_focused()


def test_undo_by_keyboard_leaves_the_focus_on_its_button(card: Card, network: Proxy):
    card.not_interested.click()
    card.rests(Verdict.NOT_INTERESTED, 1)
    card.button("Undo").focus()
    card.page.keyboard.press("Enter")
    card.rests(Verdict.NONE, 1)
    expect(card.not_interested).to_be_focused()


def test_second_press_on_retry_while_it_is_under_way_does_nothing(card: Card, network: Proxy):
    gate = Gate()
    network.plan(problem(500, "error"), hold_request(gate))
    card.like.click()
    card.button("Retry").focus()
    card.page.keyboard.press("Enter")
    gate.wait_until_reached()
    card.page.keyboard.press("Enter")
    gate.open()
    card.rests(Verdict.LIKED, 2)
    assert len(network.saves()) == 1


def test_focus_stays_in_the_card_when_retry_goes(page: Page, network: Proxy):
    ends = [
        (401, "not_authenticated", "Log in to save"),
        (403, "reader_changed", "Reload"),
        (404, "gone", None),
        (400, "invalid", None),
    ]
    for card, (status, code, focused) in zip(cards_of(page, [code for _status, code, _focused in ends]), ends, strict=True):
        network.plan(problem(500, "error"), problem(status, code), path=card.address)
        card.like.click()
        card.button("Retry").focus()
        card.page.keyboard.press("Enter")
        expect(card.button("Retry")).to_have_count(0)
        expect(card.button(focused) if focused else card.like).to_be_focused()


def test_saving_is_drawn_on_either_button(page: Page, network: Proxy):
    page.emulate_media(reduced_motion="reduce")  # no transition between two looks
    network.always(hold_request(Gate()))
    like, hide = cards_of(page, ["Like", "Not interested"])
    look = "(button) => ['backgroundColor', 'borderStyle'].map((name) => getComputedStyle(button, '::before')[name])"
    for button in (like.like, hide.not_interested):
        button.click()
        page.mouse.move(0, 0)
        expect(button).to_have_attribute("aria-busy", "true")
        assert button.evaluate(look) == ["rgba(0, 0, 0, 0)", "dashed"]


def test_motion_only_where_it_is_wanted(card: Card, network: Proxy):
    network.plan(hold_request(Gate()))
    card.like.click()
    expect(card.note).to_have_text("Saving…")
    running: Callable[[], int] = lambda: card.root.evaluate("(card) => card.getAnimations({ subtree: true }).length")  # noqa: E731
    assert running() > 0
    card.page.emulate_media(reduced_motion="reduce")
    assert running() == 0
