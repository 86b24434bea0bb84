"""What becomes of one document, format by format and fault by fault."""

import gzip
import json
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path

import pytest

from articles.feeds import FeedError
from articles.feeds.document import ParsedEntry, ParsedFeed
from articles.feeds.encoding import MAX_BODY_BYTES
from articles.feeds.parse import parse
from tests.feeds.documents import atom, item, rss

FOLDER = Path(__file__).parent / "feeds"


def read(name: str) -> bytes:
    return (FOLDER / name).read_bytes()


def only(body: bytes, content_type: str = "", base_url: str = "") -> ParsedEntry:
    (entry,) = parse(body, content_type, base_url).entries
    return entry


# The formats


def test_rss_20_is_read() -> None:
    body = rss(
        item("A & B", "https://feed.example/1?a=1&b=2", "g1", summary="<p>Some <b>words</b>.</p>", tags=("Data Bases", "C#"))
    )
    assert parse(body) == ParsedFeed(
        title="Sample feed",
        site_url="https://feed.example/",
        language="en",
        entries=[
            ParsedEntry(
                guid="g1",
                url="https://feed.example/1?a=1&b=2",
                title="A & B",
                summary="Some words.",
                tags=["data-bases", "c#"],
                published_at=datetime(2026, 1, 5, 10, tzinfo=UTC),
            )
        ],
    )


def test_rss_10_is_read_with_its_items_beside_the_channel() -> None:
    assert parse(read("rss10.rdf")) == ParsedFeed(
        title="RDF 日記",
        site_url="https://rdf.example/",
        language="ja",
        entries=[
            ParsedEntry(
                guid="https://rdf.example/1",
                url="https://rdf.example/1",
                title="始めての記事",
                summary="本文",
                tags=["日記"],
                published_at=datetime(2026, 1, 5, 10, tzinfo=UTC),
            ),
            ParsedEntry(
                guid="https://rdf.example/2",
                url="https://rdf.example/2",
                title="Second",
                summary="",
                tags=[],
                published_at=datetime(2026, 1, 4, 10, tzinfo=UTC),
            ),
        ],
    )


def test_rss_091_is_read_with_its_own_entities_and_those_of_html() -> None:
    feed = parse(read("rss091.xml"))
    assert (feed.title, feed.language) == ("Old café", "fr")
    assert [(entry.title, entry.url, entry.guid, entry.published_at) for entry in feed.entries] == [
        ("Première", "http://old.example/1.html", None, None),
        ("Deuxième", "http://old.example/2.html", None, None),
    ]


def test_atom_is_read_and_its_kinds_of_text_are_kept_apart() -> None:
    assert parse(read("atom.xml"), base_url="https://atom.example/feed") == ParsedFeed(
        title="Tea & Types",
        site_url="https://atom.example/",
        language="en-GB",
        entries=[
            ParsedEntry(
                guid="urn:uuid:1",
                url="https://atom.example/posts/1",
                title="Why <T> is a text",
                summary="One. Two & three.",
                tags=["type-systems", "c++"],
                published_at=datetime(2026, 1, 5, 8, tzinfo=UTC),
            ),
            ParsedEntry(
                guid="urn:uuid:2",
                url="https://atom.example/posts/2",
                title="An XHTML title",
                summary="Only content.",
                tags=[],
                published_at=datetime(2026, 1, 4, 12, tzinfo=UTC),
            ),
        ],
    )


def test_json_feed_is_read_and_what_has_a_wrong_type_is_missing() -> None:
    assert parse(read("feed.json"), base_url="https://json.example/feed.json") == ParsedFeed(
        title="JSON sample",
        site_url="https://json.example/",
        language="en-US",
        entries=[
            ParsedEntry(
                guid="1",
                url="https://json.example/1",
                title="First",
                summary="Bold words.",
                tags=["web", "css"],
                published_at=datetime(2026, 1, 5, 1, tzinfo=UTC),
            ),
            ParsedEntry(
                guid="2",
                url="https://json.example/2",
                title="A note without a title, on two lines.",
                summary="A note without a title, on two lines.",
                tags=[],
                published_at=datetime(2026, 1, 4, 10, tzinfo=UTC),
            ),
            ParsedEntry(
                guid="https://json.example/3",
                url="https://json.example/3",
                title="Only an id",
                summary="",
                tags=[],
                published_at=None,
            ),
        ],
    )


def test_a_channel_without_items_is_a_feed_with_nothing_in_it() -> None:
    assert parse(rss()).entries == []


# What is no feed


@pytest.mark.parametrize("body", [b"", b"  \n ", gzip.compress(b"", mtime=0)])
def test_an_empty_answer_says_so(body: bytes) -> None:
    with pytest.raises(FeedError, match="empty"):
        parse(body)


@pytest.mark.parametrize(
    "body",
    [
        b"<!DOCTYPE html><html><body>Hello</body></html>",
        b"<?xml version='1.0'?><!-- hi --><html xmlns='http://www.w3.org/1999/xhtml'/>",
        b"\n<HTML>",
    ],
)
def test_a_web_page_says_where_to_look(body: bytes) -> None:
    with pytest.raises(FeedError, match="web page"):
        parse(body, "application/rss+xml")


@pytest.mark.parametrize("body", [b"just words", b"<!-- only a comment -->", b"<note><to>you</to></note>", b"\x89PNG\r\n", b"<"])
def test_what_is_no_feed_says_what_is_read(body: bytes) -> None:
    with pytest.raises(FeedError, match="RSS, Atom and JSON Feed"):
        parse(body)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b'{"items": [', "broken"),
        (b'{"items": ' + b"[" * 4000, "nested"),
        (b'{"title": "x"}', "no list of items"),
        (b'{"items": 1e99999999' + b"9" * 5000 + b"}", "no list of items"),
    ],
)
def test_json_that_is_no_feed_says_why(body: bytes, reason: str) -> None:
    with pytest.raises(FeedError, match=reason):
        parse(body)


def test_a_good_feed_labelled_as_a_web_page_is_a_feed() -> None:
    assert only(rss(item("Mislabelled")), "text/html").title == "Mislabelled"


# Broken documents


@pytest.mark.parametrize("end", [b"<channel>", b"<title>Sam", b"</title>", b"<item>", b"<title>Hel"])
def test_a_document_cut_off_before_its_first_entry_is_no_empty_feed(end: bytes) -> None:
    document = rss(item("Hello"), title="Sample")
    with pytest.raises(FeedError, match="cut off before its first entry ended"):
        parse(document[: document.index(end) + len(end)])


@pytest.mark.parametrize("document", [rss(), b"<rss version='2.0'/>", b"<feed xmlns='http://www.w3.org/2005/Atom' />"])
def test_a_whole_document_without_entries_is_an_empty_feed(document: bytes) -> None:
    assert parse(document).entries == []


def test_of_a_document_that_was_cut_off_only_the_whole_entries_are_read() -> None:
    body = rss(item("One", "https://feed.example/1"), item("Two", "https://feed.example/2"))
    for end in range(body.index(b"Two"), body.index(b"</item></channel>")):
        assert [entry.title for entry in parse(body[:end]).entries] == ["One"]


def test_bytes_before_the_declaration_and_wrong_characters_do_no_harm() -> None:
    body = b"\n PHP notice \x00" + rss(item("Bell\x07 and &#xD83D;&#xDE00; half &#0;")).replace(b"&amp;#", b"&#")
    assert only(body).title == "Bell and half"


def test_an_unescaped_ampersand_does_no_harm() -> None:
    assert only(rss(item("R-and-D")).replace(b"R-and-D", b"R & D")).title == "R & D"


# Bombs


def test_a_gzip_body_is_unpacked() -> None:
    assert only(gzip.compress(rss(item("Packed")))).title == "Packed"
    assert only(gzip.compress(gzip.compress(rss(item("Packed twice"))))).title == "Packed twice"


def test_a_gzip_bomb_stops_at_the_limit() -> None:
    bomb = gzip.compress(b" " * 50 * MAX_BODY_BYTES, compresslevel=1)
    tracemalloc.start()
    with pytest.raises(FeedError, match="larger than 5 MB"):
        parse(bomb)
    _now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * MAX_BODY_BYTES


def test_broken_gzip_says_so() -> None:
    with pytest.raises(FeedError, match="gzip"):
        parse(gzip.compress(rss())[:12] + b"\xff" * 40)


def test_a_body_over_the_limit_is_refused() -> None:
    with pytest.raises(FeedError, match="larger than 5 MB"):
        parse(rss(item(summary="a" * MAX_BODY_BYTES)))


def test_entities_that_grow_never_do() -> None:
    lines = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    laughs = f'<!DOCTYPE rss [<!ENTITY a0 "ha">{lines}<!ENTITY long "{"h" * 9999}">]>'.encode()
    entry = only(laughs + rss(item("TITLE", summary="SUMMARY")).replace(b"TITLE", b"&a11;").replace(b"SUMMARY", b"&long;" * 999))
    assert "haha" not in entry.title + entry.summary
    assert "hhh" not in entry.title + entry.summary


def test_an_external_entity_is_never_read() -> None:
    xxe = b'<!DOCTYPE rss [<!ENTITY file SYSTEM "file:///etc/passwd">]>'
    entry = only(xxe + rss(item("TITLE")).replace(b"TITLE", b"before &file; after"))
    assert entry.title.startswith("before")
    assert "root:" not in entry.title


@pytest.mark.parametrize(
    "body",
    [
        b"<rss version='2.0'><channel>" + b"<a>" * 1000,
        b"<rss version='2.0'><channel " + b" ".join(b"a%d='x'" % n for n in range(1000)) + b"/></rss>",
        b"<rss>" + b"<!-- -->" * 200_000,
    ],
)
def test_documents_that_cost_the_parser_its_square_are_refused(body: bytes) -> None:
    with pytest.raises(FeedError, match="more elements"):
        parse(body)


def test_a_body_that_names_a_file_opens_no_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret.xml"
    secret.write_bytes(rss(item("Secret")))
    with pytest.raises(FeedError):
        parse(str(secret).encode())


# Encodings


@pytest.mark.parametrize("encoding", ["shift_jis", "euc-jp", "iso-2022-jp", "utf-16", "utf-8-sig", "utf-8"])
def test_japanese_is_read_in_every_declared_encoding(encoding: str) -> None:
    assert only(rss(item("日本語のテスト"), encoding=encoding)).title == "日本語のテスト"


@pytest.mark.parametrize("encoding", ["shift_jis", "euc-jp", "utf-16-le", "utf-16-be"])
def test_japanese_without_a_declaration_is_recognised(encoding: str) -> None:
    text = rss(item("日本語のテスト")).decode().replace(' encoding="utf-8"', "")
    assert only(text.encode(encoding)).title == "日本語のテスト"


def test_the_http_charset_comes_before_the_declaration() -> None:
    body = rss(item("Привет")).decode().encode("windows-1251")
    assert only(body, "application/xml; charset=windows-1251").title == "Привет"


def test_good_utf8_is_utf8_whatever_the_labels_say() -> None:
    body = rss(item("Größe 한국어")).replace(b'"utf-8"', b'"iso-8859-1"')
    assert only(body, 'text/xml; charset="ISO-8859-1"').title == "Größe 한국어"


def test_latin1_without_a_declaration_is_recognised() -> None:
    text = rss(item("Simulações de São João")).decode().replace(' encoding="utf-8"', "")
    assert only(text.encode("latin-1")).title == "Simulações de São João"


def test_one_broken_byte_does_not_spoil_the_rest() -> None:
    assert (
        only(rss(item("日本語のテ?スト")).replace("テ?ス".encode(), b"\xe3\x83\x86\xff\xe3\x82\xb9")).title
        == "日本語のテ\ufffdスト"
    )


@pytest.mark.parametrize("charset", ["zip", "idna", "unicode_escape", "no-such-thing", "utf-16"])
def test_a_label_that_does_not_fit_is_not_believed(charset: str) -> None:
    assert only(rss(item("Plain")), f"text/xml; charset={charset}").title == "Plain"


# Titles and summaries are text


@pytest.mark.parametrize(
    ("raw", "title"),
    [
        ("Fish &amp; chips", "Fish & chips"),
        ("Using &lt;div&gt; well", "Using <div> well"),
        ("The <details> element", "The <details> element"),
        ("Why <em>this</em> works", "Why this works"),
        ('<img src=x onerror="alert(1)">Pictures', "Pictures"),
        ("Break </script><script>alert(1)</script> out", "Break out"),
        ("  two\n lines\t", "two lines"),
        ("a < b && c > d", "a < b && c > d"),
        ('{{ 7|add:"1" }} {% csrf_token %}', '{{ 7|add:"1" }} {% csrf_token %}'),
        ("turned \u202eround\u202c \u2066again\u2069", "turned round again"),
        ("👩‍👩‍👧 é", "👩‍👩‍👧 é"),
    ],
)
def test_rss_titles_lose_their_markup_once(raw: str, title: str) -> None:
    assert only(rss(item(raw))).title == title


def test_a_long_title_is_cut_with_a_sign() -> None:
    title = only(rss(item("あ" * 5000))).title
    assert title == "あ" * 499 + "…"


@pytest.mark.parametrize(
    ("entry", "title"),
    [
        (item(None, summary="<p>Only a summary.</p>"), "Only a summary."),
        (item("", summary="w " * 200), "w " * 39 + "w…"),
        (item("<b></b>", "https://feed.example/no-words"), "https://feed.example/no-words"),
        (item(None, "javascript:alert(1)", summary="x"), "x"),
    ],
)
def test_an_entry_without_a_title_gets_a_label(entry: str, title: str) -> None:
    assert only(rss(entry)).title == title


def test_an_entry_with_nothing_in_it_is_none() -> None:
    assert parse(rss("<item/>", item("Real"), item(None, None, guid="x"))).entries == [only(rss(item("Real")))]


def test_a_summary_is_bounded_plain_text() -> None:
    entry = only(rss(item(summary="<style>p{}</style><ul><li>one</li><li>two</li></ul><p>three<b>four</b></p>" + "long " * 999)))
    assert entry.summary.startswith("one two threefour long long")
    assert len(entry.summary) == 500
    assert entry.summary.endswith("…")


@pytest.mark.parametrize("summary", ["A story", "Comments", '<a href="https://feed.example/c">Comments</a>'])
def test_a_summary_that_says_nothing_is_none(summary: str) -> None:
    assert only(rss(item("A story", summary=summary))).summary == ""


def test_deeply_nested_markup_does_no_harm() -> None:
    assert only(rss(item(summary="<div>" * 100_000 + "deep"))).summary == ""


def test_b75_a_javascript_link_never_becomes_an_address() -> None:
    links = [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)//https://feed.example/",
        "\tjavascript:alert(1)",
        "java\nscript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "vbscript:x",
        "file:///etc/passwd",
        "http://[broken",
        "https://feed.example:port/",
        "https://a b.example/",
        "https://feed.example/" + "a" * 2000,
    ]
    feed = parse(rss(*(item(f"Item {n}", link) for n, link in enumerate(links))), base_url="https://feed.example/feed")
    assert [entry.url for entry in feed.entries] == [None] * len(links)
    feed = parse(json.dumps({"items": [{"title": "t", "url": link, "id": link} for link in links]}).encode())
    assert [entry.url for entry in feed.entries] == [None] * len(links)


def test_relative_links_are_relative_to_the_feed_or_its_site() -> None:
    body = rss(item(link="/posts/1"))
    assert only(body, base_url="https://other.example/feed").url == "https://other.example/posts/1"
    assert only(body).url == "https://feed.example/posts/1"


def test_an_atom_link_is_relative_to_its_base() -> None:
    entry = '<entry xml:base="https://base.example/dir/"><title>t</title><link href="page"/></entry>'
    assert only(atom(entry)).url == "https://base.example/dir/page"


@pytest.mark.parametrize(
    ("guid", "link", "url"),
    [
        ('<guid isPermaLink="false">https://feed.example/g</guid>', "", None),
        ('<guid isPermaLink="true">https://feed.example/g</guid>', "", "https://feed.example/g"),
        ("<guid>https://feed.example/g</guid>", "", "https://feed.example/g"),
        ("<guid>https://feed.example/g</guid>", "<link>https://feed.example/l</link>", "https://feed.example/l"),
    ],
)
def test_a_guid_is_a_link_only_where_it_says_so(guid: str, link: str, url: str | None) -> None:
    assert only(rss(f"<item><title>t</title>{link}{guid}</item>")).url == url


def test_long_guids_stay_different() -> None:
    first, second = parse(rss(item(guid="g" * 600 + "1"), item(guid="g" * 600 + "2"))).entries
    assert first.guid != second.guid
    assert len(first.guid or "") <= 500


# Dates and tags


@pytest.mark.parametrize(
    ("date", "moment"),
    [
        ("Mon, 05 Jan 2026 10:00:00 +0900", datetime(2026, 1, 5, 1, tzinfo=UTC)),
        ("05 Jan 2026 10:00:00 EST", datetime(2026, 1, 5, 15, tzinfo=UTC)),
        ("2026-01-05T10:00:00Z", datetime(2026, 1, 5, 10, tzinfo=UTC)),
        ("2026-01-05", datetime(2026, 1, 5, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", None),
        ("Thu, 01 Jan 1970 00:00:00 GMT", None),
        ("yesterday", None),
    ],
)
def test_dates_are_utc_and_nonsense_is_none(date: str, moment: datetime | None) -> None:
    assert only(rss(item(date=date))).published_at == moment


def test_tags_are_slugs_each_once_and_not_too_many() -> None:
    categories = (
        "Machine Learning",
        "machine_learning",
        "C++",
        "Node.js",
        "#rust, go;zig",
        "Uncategorized",
        "テスト",
        "x" * 41,
        "ＡＢＣ",
    )
    assert only(rss(item(tags=categories))).tags == ["machine-learning", "c++", "node.js", "rust", "go", "zig", "テスト", "abc"]
    assert only(rss(item(tags=tuple(f"tag{n}" for n in range(50))))).tags == [f"tag{n}" for n in range(8)]


def test_no_more_entries_are_read_than_the_limit() -> None:
    assert len(parse(rss(*(item(f"Item {n}", f"https://feed.example/{n}") for n in range(1010)))).entries) == 1000
