"""Which entries of a document are stories, and by which keys each is known.

A story is known by its guid within the feed, and by its address everywhere. Both are used badly in the wild: the same guid for
everything, one page for many stories told apart by a fragment, a page linked with and without tracking.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from articles.feeds.document import ParsedEntry
from articles.feeds.links import address_key


@dataclass(frozen=True)
class Story:
    """One entry that can become an article. `keys`: the address keys it may be stored under; a new article takes the first."""

    entry: ParsedEntry
    url: str
    guid: str
    keys: tuple[str, ...]


def stories(entries: Iterable[ParsedEntry]) -> list[Story]:
    """The distinct stories, in the document's order. An entry without a link is none: there is nothing to read."""
    linked = [(entry, entry.url) for entry in entries if entry.url]
    pages, guids = pages_with_parts(linked), guids_for_many(linked)
    return list(distinct(story(entry, url, pages, guids) for entry, url in linked))


def story(entry: ParsedEntry, url: str, pages: set[str], guids: set[str]) -> Story:
    page, part = address_key(url), address_key(url, with_fragment=True)
    keys = (part,) if page in pages else tuple(dict.fromkeys((page, part)))
    return Story(entry, url, "" if entry.guid in guids else entry.guid or "", keys)


def pages_with_parts(linked: list[tuple[ParsedEntry, str]]) -> set[str]:
    """Pages on which this feed tells several stories, each at its own fragment."""
    parts = defaultdict(set)
    for _entry, url in linked:
        parts[address_key(url)].add(address_key(url, with_fragment=True))
    return {page for page, found in parts.items() if len(found) > 1}


def guids_for_many(linked: list[tuple[ParsedEntry, str]]) -> set[str]:
    """Guids that stand for several addresses, and so identify nothing."""
    urls = defaultdict(set)
    for entry, url in linked:
        urls[entry.guid or ""].add(address_key(url, with_fragment=True))
    return {guid for guid, found in urls.items() if len(found) > 1}


def distinct(found: Iterable[Story]) -> Iterator[Story]:
    """Without repetitions: of two entries with one guid or one address the first, which is the newer one, stays."""
    guids: set[str] = {""}
    keys: set[str] = set()
    for story in found:
        if (story.guid and story.guid in guids) or story.keys[0] in keys:
            continue
        guids.add(story.guid)
        keys.add(story.keys[0])
        yield story
