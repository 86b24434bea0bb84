"""From a site's address to its feeds: what the page names, else the places where feeds usually are."""

from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import urljoin

from django.utils.translation import gettext as _

from articles.feeds import FeedError
from articles.feeds.document import ParsedFeed
from articles.feeds.encoding import decode, inflate
from articles.feeds.fetch import TIMEOUT_SECONDS, Answer, fetch
from articles.feeds.links import web_address
from articles.feeds.network import Deadline
from articles.feeds.parse import parse
from articles.feeds.text import whole_tags

FEED_TYPES = {"application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml"}
USUAL_PLACES = ("/feed", "/rss.xml", "/atom.xml", "/index.xml", "/feed.xml")
MOST_ASKED = 6  # addresses of one site


@dataclass(frozen=True)
class FoundFeed:
    """A feed that was read, and where to ask for it."""

    url: str
    feed: ParsedFeed


def discover(address: str, timeout: float = TIMEOUT_SECONDS) -> list[FoundFeed]:
    """The feeds of a site or page, or the one at this very address. `timeout`: seconds, for all of it. Raises FeedError."""
    end = Deadline(timeout)
    page = fetch(address if "://" in address else f"https://{address.strip()}", timeout=end.left())
    if at_once := readable(page):
        return [at_once]
    named = feed_links(decode(inflate(page.body), page.content_type), page.url)
    found = list(read_all(named or [urljoin(page.url, place) for place in USUAL_PLACES], end))
    if not found:
        raise FeedError(_("No feed was found there. Look on the site for the address of its RSS or Atom feed."))
    return found


def readable(answer: Answer) -> FoundFeed | None:
    try:
        return FoundFeed(answer.moved_to or answer.url, parse(answer.body, answer.content_type, answer.url))
    except FeedError:
        return None


def read_all(addresses: list[str], end: Deadline) -> Iterator[FoundFeed]:
    """Those that are feeds. One that fails is no reason not to offer the others."""
    for address in addresses[:MOST_ASKED]:
        try:
            found = readable(fetch(address, timeout=end.left()))
        except FeedError:
            continue
        if found:
            yield found


def feed_links(html: str, base_url: str) -> list[str]:
    page = LinkReader(base_url)
    page.feed(whole_tags(html))
    return list(dict.fromkeys(page.feeds))


class LinkReader(HTMLParser):
    """Collects what `<link rel="alternate">` names as a feed."""

    def __init__(self, base_url: str) -> None:
        super().__init__()
        self.base, self.feeds = base_url, list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "base" and (base := web_address(given.get("href"), self.base)):
            self.base = base
        is_feed = "alternate" in given.get("rel", "").lower().split() and given.get("type", "").lower().strip() in FEED_TYPES
        if tag == "link" and is_feed and (url := web_address(given.get("href"), self.base)):
            self.feeds.append(url)
