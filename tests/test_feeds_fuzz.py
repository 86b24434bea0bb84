"""The parser on documents broken at random: it reads them or says why not, and fails in no other way."""

import gzip
import random
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from articles.feeds import FeedError
from articles.feeds.document import ParsedFeed
from articles.feeds.parse import parse
from articles.feeds.stories import stories
from tests.feeds.documents import item, rss

FOLDER = Path(__file__).parent / "feeds"
SEEDS = range(8)
DOCUMENTS_PER_SEED = 250
CONTENT_TYPES = ["", "text/xml", "application/xml; charset=shift_jis", "text/html; charset=idna", "application/feed+json"]
# What breaks parsers: halves of constructs, impossible characters, addresses and dates.
TOKENS = [
    *(b"<", b">", b"&", b"&#", b"]]>", b"<![CDATA[", b"<!--", b"-->", b"<!DOCTYPE", b"<?xml", b'"', b"'", b"{", b"[", b"\\u"),
    *(b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\x1b$B", b"\x1f\x8b", b"&#x110000;", b"&#xD800;", b"&#99999999999;", b"&nope;"),
    *(b"<item>", b"</item>", b"<entry>", b"<link>", b"</channel>", b"<title>", b"<category>", b"<image>", b"<width>", b"<cloud>"),
    *(b'<link href="http://[">', b' xml:base="http://["', b' mode="base64"', b' type="application/xhtml+xml"'),
    *(b"<pubDate>Mon, 99 Foo 0000</pubDate>", b"<updated>9999-99-99T99:99:99Z</updated>", b"<georss:point>x</georss:point>"),
]


def documents() -> list[bytes]:
    own = [path.read_bytes() for path in sorted(FOLDER.iterdir()) if path.suffix in (".xml", ".rdf", ".json")]
    japanese = rss(item("日本語"), item("二つ目", summary="<p>本文 &amp; more</p>"), encoding="shift_jis")
    return [
        *own,
        japanese,
        gzip.compress(japanese, mtime=0),
        rss(item("One").replace("<title>", "<title><![CDATA[").replace("</title>", "]]></title>")),
    ]


def insert_token(body: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(body))
    return body[:at] + rng.choice(TOKENS) + body[at:]


def remove(body: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(body))
    return body[:at] + body[at + rng.randint(1, 40) :]


def change_byte(body: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(body))
    return body[:at] + rng.randbytes(1) + body[at + 1 :]


def repeat(body: bytes, rng: random.Random) -> bytes:
    start = rng.randint(0, len(body))
    return insert_at(body, body[start : start + rng.randint(1, 300)], rng)


def insert_at(body: bytes, piece: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(body))
    return body[:at] + piece + body[at:]


def cut(body: bytes, rng: random.Random) -> bytes:
    return body[: rng.randint(0, len(body))]


MUTATIONS: list[Callable[[bytes, random.Random], bytes]] = [insert_token, insert_token, remove, change_byte, repeat, cut]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_mutated_document_is_read_or_refused_in_words(seed: int) -> None:
    rng = random.Random(seed)
    originals = documents()
    for _document in range(DOCUMENTS_PER_SEED):
        body = rng.choice(originals)
        for _mutation in range(rng.randint(1, 8)):
            body = rng.choice(MUTATIONS)(body, rng)
        result = outcome(body, rng.choice(CONTENT_TYPES), rng.choice(["", "https://feed.example/feed"]))
        if isinstance(result, str):
            assert result.endswith(".")
        else:
            check_feed(result)


def outcome(body: bytes, content_type: str, base_url: str) -> ParsedFeed | str:
    try:
        return parse(body, content_type, base_url)
    except FeedError as failure:
        return str(failure)


def check_feed(feed: ParsedFeed) -> None:
    for entry in feed.entries:
        assert entry.title.strip()
        assert len(entry.title) <= 500
        assert len(entry.summary) <= 500
        assert entry.url is None or entry.url.startswith(("http://", "https://"))
        f"{entry}{feed.title}".encode()  # no half characters
        assert "\0" not in f"{entry.title}{entry.summary}{entry.guid}{entry.url}{entry.tags}"
    assert len({story.keys[0] for story in stories(feed.entries)}) == len(stories(feed.entries))


LARGE_BYTES = 1_200_000  # more than the largest real feeds have
MOST_CPU_SECONDS = 2
MOST_MEGABYTES = 150


def large_document(rng: random.Random) -> bytes:
    """Thousands of items, broken in a hundred places."""
    summary = "<p>Words &amp; more.</p> " * 12
    stories = [item(f"Story {n}", f"https://feed.example/{n}", f"g{n}", summary=summary) for n in range(99)]
    body = rss(*stories)
    body = body[:300] + body[300:-30] * (LARGE_BYTES // len(body)) + body[-30:]
    for _mutation in range(100):
        body = rng.choice([insert_token, remove, change_byte, repeat])(body, rng)
    return body


def cost_of_large_documents(seed: int, count: int) -> tuple[float, int]:
    """Run in a process of its own: the most CPU seconds of one document, and the megabytes that the process grew by."""
    rng, most = random.Random(seed), 0.0
    bodies = [large_document(rng) for _document in range(count)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for body in bodies:
        start = time.process_time()
        outcome(body, "text/xml", "https://feed.example/feed")
        most = max(most, time.process_time() - start)
    return most, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024


def test_large_broken_documents_stay_within_their_bounds() -> None:
    """Of CPU time, which a busy machine does not stretch as it does the clock's."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        seconds, megabytes = pool.submit(cost_of_large_documents, seed=5, count=6).result()
    assert seconds <= MOST_CPU_SECONDS
    assert megabytes <= MOST_MEGABYTES
