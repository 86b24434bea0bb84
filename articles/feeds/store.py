"""A parsed feed → rows, the only place that writes articles.

One transaction a feed, and a number of statements that does not grow with its entries. An update changes what an article says,
never what readers made of it: feedback, `like_count`, `first_seen_at` and the place in the list stay.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from articles.feeds.document import ParsedFeed
from articles.feeds.health import healthy
from articles.feeds.links import host_of
from articles.feeds.stories import Story, stories
from articles.feeds.text import language_of, shorten
from articles.models import Article, ArticleSource, Feed, Tombstone
from articles.scoring import features
from articles.search import search_text
from articles.topics import topics

# `published_at` is not among them: a corrected date must not bring an old story back to the top, and an undated one has none.
WORDS = ["guid", "url", "address_key", "title", "summary", "language", "tags", "features", "search_text"]

FEED_TITLE_LENGTH = 200


@dataclass(frozen=True)
class Stored:
    new: int
    updated: int


@transaction.atomic
def store(feed: Feed, parsed: ParsedFeed, *, now: datetime, etag: str = "", last_modified: str = "") -> Stored:
    """Stores what is new or changed; `now` is the time of the fetch, and no article is dated later.

    The feed's row is locked, so that two processes with the same feed store it one after the other. Its validators are
    written together with its articles: a feed that could not be stored is asked for again in full.
    """
    feed = Feed.objects.select_for_update(no_key=True).get(pk=feed.pk)
    found = stories(parsed.entries)
    new, changed = sorted_out(feed, found, parsed.language, now)
    # In one order everywhere: two feeds that share stories would else wait for each other.
    new.sort(key=lambda article: article.address_key)
    Article.objects.bulk_create(new, ignore_conflicts=True)
    note_sources(feed, found)
    note_success(feed, parsed, now, etag, last_modified)
    Article.objects.bulk_update(changed, WORDS)
    return Stored(new=len(new), updated=len(changed))


def sorted_out(feed: Feed, found: list[Story], language: str, now: datetime) -> tuple[list[Article], list[Article]]:
    """What is new, and the rows that say something else now. A story that another feed brought first keeps that feed's words."""
    known = Known(feed, found)
    new, changed = [], []
    for story in found:
        article, row = article_of(feed, story, language, now), known.take(story)
        if row is None and article.address_key not in known.keys and not known.was_removed(story):
            new.append(article)
        elif row is not None and row.feed_id == feed.pk and adopt(row, article, known.address(row, story)):
            changed.append(row)
    return new, changed


class Known:
    """The articles that these stories may be, read once. Each is given to one story only."""

    def __init__(self, feed: Feed, found: list[Story]) -> None:
        guids = [story.guid for story in found if story.guid]
        keys = [key for story in found for key in story.keys]
        rows = list(Article.objects.filter(Q(address_key__in=keys) | Q(feed=feed, guid__in=guids)).order_by("pk"))
        self.keys = {row.address_key: row for row in rows}
        self.guids = {row.guid: row for row in rows if row.guid and row.feed_id == feed.pk}
        self.free = {row.pk for row in rows}
        # Read after the articles: one that is pruned between the two statements has its tombstone by then.
        self.removed = list(Tombstone.objects.filter(Q(address_key__in=keys) | Q(feed=feed, guid__in=guids)))

    def take(self, story: Story) -> Article | None:
        row = self.find(story)
        if row is None or row.pk not in self.free:
            return None
        self.free.remove(row.pk)
        return row

    def find(self, story: Story) -> Article | None:
        """By its guid, else by its address."""
        row = self.guids.get(story.guid)
        if row and is_same_story(row, story):
            return row
        return next((self.keys[key] for key in story.keys if key in self.keys), None)

    def was_removed(self, story: Story) -> bool:
        """By its address; by its guid only if the date is the same, for some feeds use a guid again."""
        same_guid = {stone.published_at for stone in self.removed if stone.guid == story.guid != ""}
        return story.entry.published_at in same_guid or any(stone.address_key in story.keys for stone in self.removed)

    def address(self, row: Article, story: Story) -> tuple[str, str]:
        """The address of a known story and its key. It may have moved, unless another article is there already."""
        if row.address_key in story.keys:
            return story.url, row.address_key
        return (row.url, row.address_key) if story.keys[0] in self.keys else (story.url, story.keys[0])


def note_sources(feed: Feed, found: list[Story]) -> None:
    """Links this feed to the stories that another one brought first, be it a moment ago: it may not tell them again (304)."""
    keys = [key for story in found for key in story.keys]
    of_others = Article.objects.filter(address_key__in=keys).exclude(feed=feed).exclude(further_sources__feed=feed)
    links = [ArticleSource(article_id=article_id, feed=feed) for article_id in of_others.values_list("pk", flat=True)]
    ArticleSource.objects.bulk_create(links, ignore_conflicts=True)


def is_same_story(row: Article, story: Story) -> bool:
    """Of two with one guid. Some feeds use a guid again for what is new: then address, title and date are all others, and the
    likes stay with the old story."""
    entry = story.entry
    return row.address_key in story.keys or row.title == entry.title or entry.published_at in (None, row.published_at)


def article_of(feed: Feed, story: Story, language: str, now: datetime) -> Article:
    entry, host = story.entry, host_of(story.url)
    tags = entry.tags or topics(entry.title, host)
    return Article(
        feed=feed,
        guid=story.guid,
        url=story.url,
        address_key=story.keys[0],
        title=entry.title,
        summary=entry.summary,
        language=language_of(f"{entry.title} {entry.summary}", language),
        tags=tags,
        published_at=min(entry.published_at or now, now),
        first_seen_at=now,
        features=features(title=entry.title, tags=tags, source=host),
        search_text=search_text(entry.title, entry.summary, tags),
    )


def adopt(row: Article, article: Article, address: tuple[str, str]) -> bool:
    """Gives the row the article's words; whether that changes anything."""
    article.url, article.address_key = address
    differing = [name for name in WORDS if getattr(row, name) != getattr(article, name)]
    for name in differing:
        setattr(row, name, getattr(article, name))
    return bool(differing)


def note_success(feed: Feed, parsed: ParsedFeed, now: datetime, etag: str, last_modified: str) -> None:
    """A feed is called by its own name, unless someone gave it another one."""
    if parsed.title and feed.title == host_of(feed.url):
        feed.title = shorten(parsed.title, FEED_TITLE_LENGTH)
    feed.site_url = parsed.site_url
    feed.etag, feed.last_modified = validator(etag, 500), validator(last_modified, 100)
    health = healthy(now)
    for name, value in health.items():
        setattr(feed, name, value)
    feed.save(update_fields=["title", "site_url", "etag", "last_modified", *health])


def validator(text: str, length: int) -> str:
    """A validator that can be kept and sent back as it came, else none: then the feed is read in full each time."""
    return text if len(text) <= length and text.isascii() else ""
