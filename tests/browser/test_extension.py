"""A shipped extension in a real Chromium: service worker, popup, token, bare toggles."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Playwright, expect

from articles.models import Article, User
from feedback.models import Verdict
from tests.browser.card import stored
from tests.browser.conftest import EXTENSION, log_in
from tests.browser.proxy import Proxy, Request, lose_reply
from tests.factories import UserFactory, token_of

FOLDER = Path(__file__).parent / "extension"

SEND_WITH_KEY = """async ([address, token, key]) => {
  const headers = { Authorization: `Token ${token}`, "Idempotency-Key": key };
  try {
    const response = await fetch(address, { method: "POST", headers });
    return { replayed: response.headers.get("Idempotency-Replayed"), ...(await response.json()) };
  } catch {
    return "lost";
  }
}"""


@pytest.fixture(scope="module")
def browser_with_extension(
    playwright: Playwright, browser_type_launch_args: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrowserContext]:
    load = [f"--load-extension={FOLDER}", f"--disable-extensions-except={FOLDER}"]
    options = browser_type_launch_args | {"args": [*browser_type_launch_args["args"], *load], "headless": True}
    context = playwright.chromium.launch_persistent_context(tmp_path_factory.mktemp("profile"), **options)
    yield context
    context.close()


@pytest.fixture
def popup(browser_with_extension: BrowserContext, network: Proxy, reader: User, article: Article) -> Iterator[Page]:
    """The extension's popup, set up for this reader and with the article filled in."""
    browser_with_extension.clear_cookies()
    page = browser_with_extension.new_page()
    page.goto(f"{EXTENSION}/popup.html")
    page.evaluate("(settings) => chrome.storage.local.set(settings)", {"server": network.url, "token": token_of(reader)})
    page.get_by_label("Article").fill(str(article.pk))
    yield page
    page.close()


def press(popup: Page, name: str) -> dict[str, Any]:
    """The reply that the extension got."""
    popup.get_by_role("button", name=name, exact=True).click()
    expect(popup.locator("output")).not_to_be_empty()
    return dict(json.loads(popup.locator("output").inner_text()))


def test_toggles_work_and_twice_is_back(popup: Page, network: Proxy, article: Article, reader: User):
    first = press(popup, "Like")
    assert (first["status"], first["liked"], first["like_count"], first["changed"]) == (200, True, 2, True)
    assert stored(article, reader) == (Verdict.LIKED, 2, 2)
    assert press(popup, "Not interested")["not_interested"] is True
    assert stored(article, reader) == (Verdict.NOT_INTERESTED, 1, 1)
    assert press(popup, "Not interested")["not_interested"] is False
    assert stored(article, reader) == (Verdict.NONE, 1, 1)
    assert [origin_and_body(request) for request in network.saves()] == [(EXTENSION, b"")] * 3


def origin_and_body(request: Request) -> tuple[str, bytes]:
    return request.headers.get("origin", ""), request.body


def test_b51_another_persons_cookie_in_the_same_browser_changes_nothing(
    popup: Page, browser_with_extension: BrowserContext, network: Proxy, article: Article, reader: User
):
    other = UserFactory()
    log_in(browser_with_extension, other, network.url)
    assert press(popup, "Like")["liked"] is True
    assert "sessionid" in network.saves()[0].headers["cookie"]
    assert (stored(article, reader), stored(article, other)[0]) == ((Verdict.LIKED, 2, 2), Verdict.NONE)


def test_lost_reply_to_a_bare_toggle_is_unsafe_as_documented(popup: Page, network: Proxy, article: Article, reader: User):
    network.plan(lose_reply)
    assert "failed" in press(popup, "Like")
    assert stored(article, reader) == (Verdict.LIKED, 2, 2)
    assert press(popup, "Like")["liked"] is False
    assert stored(article, reader) == (Verdict.NONE, 1, 1)


def test_lost_reply_to_a_toggle_with_an_idempotency_key_is_safe(
    popup: Page, browser_with_extension: BrowserContext, network: Proxy, article: Article, reader: User
):
    network.plan(lose_reply)
    [worker] = browser_with_extension.service_workers
    call = [f"{network.url}/api/articles/{article.pk}/like/", token_of(reader), "a-key-of-this-press"]
    assert worker.evaluate(SEND_WITH_KEY, call) == "lost"
    again = worker.evaluate(SEND_WITH_KEY, call)
    assert (again["replayed"], again["liked"], again["like_count"]) == ("true", True, 2)
    assert stored(article, reader) == (Verdict.LIKED, 2, 2)
    assert len(network.saves()) == 2
