"""Which feeds are asked: those that someone added, and the list that comes with DevPick."""

from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _

from articles.feeds import FeedError
from articles.feeds.links import host_of, web_address
from articles.models import Feed

DEFAULT_LIST = Path(settings.BASE_DIR) / "data" / "feeds.txt"


def feed_at(address: str) -> tuple[Feed, bool]:
    """The feed at this address, and whether it is new. Until it has told its own name it is called by its host's."""
    url = web_address(address)
    if url is None:
        raise FeedError(_("This is no web address. It must begin with http:// or https://."))
    return Feed.objects.get_or_create(url=url, defaults={"title": host_of(url)[:200]})


def add_default_feeds() -> None:
    """Adds what is missing of the default list. A feed that was switched off stays so."""
    feeds = [Feed(url=url, title=title) for url, title in default_feeds()]
    Feed.objects.bulk_create(feeds, ignore_conflicts=True)


def default_feeds() -> Iterator[tuple[str, str]]:
    """Address and name, from lines "address  name"; "#" begins a comment."""
    for line in DEFAULT_LIST.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            url, _space, title = line.strip().partition(" ")
            yield url, title.strip() or host_of(url)
