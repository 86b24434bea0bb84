"""Which addresses are one story."""

import pytest

from articles.feeds.links import address_key, canonical_address, host_of, web_address

STORY = "https://blog.example/2026/a-story"


@pytest.mark.parametrize(
    "url",
    [
        "http://blog.example/2026/a-story",
        "HTTPS://Blog.Example/2026/a-story",
        "https://blog.example:443/2026/a-story",
        "http://blog.example:80/2026/a-story",
        "https://blog.example./2026/a-story",
        "https://blog.example/2026/a-story/",
        "https://blog.example/2026/a-story#comments",
        "https://blog.example/2026/a-story?utm_source=rss&utm_medium=feed&utm_campaign=x",
        "https://blog.example/2026/a-story?fbclid=abc&gclid=def&mc_cid=1&UTM_Term=x",
        "https://blog.example/2026/a-story?source=rss----1234---4",
        "https://blog.example/2026/a%2Dstory?",
    ],
)
def test_other_spellings_are_the_same_story(url: str) -> None:
    assert canonical_address(url) == STORY
    assert address_key(url) == address_key(STORY)


@pytest.mark.parametrize(
    "url",
    [
        "https://blog.example/2026/a-story?page=2",
        "https://blog.example/2026/A-story",
        "https://www.blog.example/2026/a-story",
        "https://blog.example:8443/2026/a-story",
        "https://blog.example/2026/a-story?utm=1",
        "https://blog.example/2026/a%2Fstory",
    ],
)
def test_other_addresses_are_other_stories(url: str) -> None:
    assert address_key(url) != address_key(STORY)


def test_escapes_have_one_spelling() -> None:
    spellings = {"https://x.example/%e6%97%a5?q=%7Ea", "https://x.example/%E6%97%A5?q=~a", "https://x.example/日?q=%7ea"}
    assert {canonical_address(url) for url in spellings} == {"https://x.example/%E6%97%A5?q=~a"}


def test_the_rest_of_a_query_stays_in_its_order() -> None:
    assert canonical_address("https://x.example/?b=2&utm_source=x&a=1&a=") == "https://x.example?b=2&a=1&a="


def test_a_canonical_address_is_its_own() -> None:
    for url in ("https://x.example/a%20b/?q=%22#f", 'https://x.example/"<>?=&&'):
        assert canonical_address(canonical_address(url)) == canonical_address(url)


def test_what_a_browser_drops_is_dropped() -> None:
    assert web_address(" https://x.example/a\n\tb ") == "https://x.example/ab"
    assert web_address("//x.example/a", "https://feed.example/") == "https://x.example/a"
    assert web_address(None, "https://feed.example/") is None
    assert web_address("", "https://feed.example/") is None
    assert web_address("no-scheme.example") is None


def test_no_address_keeps_a_name_and_password() -> None:
    assert web_address("https://me:secret@x.example:8443/feed?at=@1") == "https://x.example:8443/feed?at=@1"
    assert web_address("//bank.example@evil.example/", "https://feed.example/") == "https://evil.example/"
    assert web_address("https://me:secret@/feed") is None


def test_a_host_is_without_www() -> None:
    assert host_of("https://www.Blog.example:8443/x") == "blog.example"
