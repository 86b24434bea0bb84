"""What a hostile feed says is text on the page, and its links lead to the web or nowhere."""

from django.utils import timezone
from playwright.sync_api import Page

from articles.feeds.parse import parse
from articles.feeds.store import store
from articles.models import Article
from tests.factories import FeedFactory
from tests.feeds.documents import item, rss

ATTACK = "window.__x = 1"
LINKS = [f"javascript:{ATTACK}//https://feed.example/", f"\tJaVaScRiPt:{ATTACK}", f"data:text/html,<script>{ATTACK}</script>"]
TITLES = [
    f'<img src=x onerror="{ATTACK}">An image',
    f"</script><script>{ATTACK}</script>A script",
    '{{ 7|add:"1" }} {% now "Y" %}',
]


def test_b75_no_link_or_title_of_a_feed_runs_as_a_script(page: Page) -> None:
    links = [item("A link", link) for link in LINKS]
    titles = [item(title, f'/{number}?q="onclick="{ATTACK}') for number, title in enumerate(TITLES)]
    store(FeedFactory(), parse(rss(*links, *titles), base_url="https://feed.example/"), now=timezone.now())
    page.context.route("https://feed.example/**", lambda route: route.fulfill(body="A story."))
    for title in Article.objects.values_list("title", flat=True):
        page.goto("/")
        page.get_by_role("link", name=title).click()
        page.wait_for_url("https://feed.example/**")
    page.goto("/")
    assert page.locator("article-card").count() == len(TITLES)
    assert page.evaluate("[...document.links].every((link) => /^https?:$/.test(link.protocol))")
    assert page.evaluate("window.__x") is None
