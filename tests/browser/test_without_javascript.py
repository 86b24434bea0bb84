"""The same buttons as plain forms: what a lost reply leaves behind, a second press or a reload makes good."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Error, expect

from articles.models import Article, User
from feedback.models import Verdict
from tests.browser.card import PRESSED, Card, stored
from tests.browser.conftest import log_in
from tests.browser.proxy import Proxy, lose_reply

LIKED = (Verdict.LIKED, 2, 2)
FORMS = r"/articles/\d+/feedback"


@pytest.fixture
def plain(browser: Browser, network: Proxy, article: Article, reader: User) -> Iterator[Card]:
    """The card in a browser without JavaScript."""
    context = browser.new_context(base_url=network.url, java_script_enabled=False)
    log_in(context, reader, network.url)
    page = context.new_page()
    page.goto("/")
    yield Card(page, article)
    context.close()


def posts(network: Proxy) -> list[bytes]:
    return [request.body for request in network.received if request.method == "POST"]


def test_press_comes_back_to_the_card(plain: Card, network: Proxy, article: Article, reader: User):
    plain.like.click()
    expect(plain.page).to_have_url(f"{network.url}/?kept={article.pk}#article-{article.pk}")
    plain.shows(Verdict.LIKED, 2)
    plain.not_interested.click()
    plain.shows(Verdict.NOT_INTERESTED, 1)
    plain.button("Undo").click()
    plain.shows(Verdict.NONE, 1)
    assert stored(article, reader) == (Verdict.NONE, 1, 1)


@pytest.mark.parametrize("way", ["reload", "press again", "open the list anew"])
def test_lost_reply(plain: Card, network: Proxy, article: Article, reader: User, way: str):
    network.always(lose_reply, path=FORMS)  # always: Chromium itself may send a second time
    with plain.page.expect_event("load"):  # of the error page
        plain.like.click(no_wait_after=True)
    network.heal()
    assert stored(article, reader) == LIKED
    if way == "reload":
        plain.page.reload()
    elif way == "press again":
        press_again_on_the_page_as_it_was(plain)
    else:
        plain.page.goto("/")
    plain.shows(Verdict.LIKED, 2)
    assert stored(article, reader) == LIKED
    assert len(set(posts(network))) == 1


def press_again_on_the_page_as_it_was(card: Card) -> None:
    """Back to the page that does not know of the save: its form still states the wish."""
    try:
        card.page.go_back()
    except Error:  # the lost page is no entry of the history
        card.page.goto("/")
    if card.like.get_attribute("aria-pressed") == PRESSED[False]:
        card.like.click()


def test_stale_page_states_its_wish_and_toggles_nothing(plain: Card, network: Proxy, article: Article, reader: User):
    twin = plain.page.context.new_page()
    twin.goto("/")
    plain.like.click()
    plain.shows(Verdict.LIKED, 2)
    Card(twin, article).like.click()
    Card(twin, article).shows(Verdict.LIKED, 2)
    assert stored(article, reader) == LIKED
