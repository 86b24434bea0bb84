"""Opening an article marks it read, though the page is left in the same moment."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from articles.models import Article, User
from feedback.models import Feedback
from tests.browser.card import Card
from tests.browser.proxy import Proxy
from tests.test_under_fire import wait_until


def is_marked(article: Article, reader: User) -> bool:
    return Feedback.objects.filter(article=article, profile_id=reader.pk, read_at__isnull=False).exists()


def test_opening_an_article_in_this_tab_marks_it(
    open_page: Callable[[], Page], network: Proxy, article: Article, reader: User
) -> None:
    Article.objects.filter(pk=article.pk).update(url=f"{network.url}/help/toggles/")
    page = open_page()
    page.goto("/")
    page.get_by_role("link", name=article.title).click()
    page.wait_for_url("**/help/toggles/")
    wait_until(lambda: is_marked(article, reader))
    page.goto("/")
    expect(Card(page, article).root).to_have_attribute("data-read", "")


def test_opening_it_in_another_tab_dims_the_card_and_its_button_takes_the_mark_back(
    open_page: Callable[[], Page], network: Proxy, article: Article, reader: User
) -> None:
    Article.objects.filter(pk=article.pk).update(url=f"{network.url}/help/toggles/")
    page = open_page()
    page.goto("/")
    card = Card(page, article)
    button = card.root.get_by_role("button", name="Read", exact=True)
    expect(button).to_have_attribute("aria-pressed", "false")
    with page.context.expect_page():
        page.get_by_role("link", name=article.title).click(button="middle")
    expect(card.root).to_have_attribute("data-read", "")
    expect(button).to_have_attribute("aria-pressed", "true")
    assert is_marked(article, reader)
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    assert not is_marked(article, reader)
