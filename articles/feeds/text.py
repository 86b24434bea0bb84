"""Texts of feeds as plain text: markup and entities removed once, one line, within bounds."""

import html
import re
import unicodedata
from collections.abc import Iterable

import nh3

MARKUP_LENGTH = 50_000  # more than any summary shows; deeper nesting costs the sanitiser time
TAG_COUNT = 8
TAG_LENGTH = 40

# Neither letters nor space: control characters, characters that turn the text after them around, halves of a pair, marks.
UNWANTED = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]")
BLOCK = re.compile(
    r"<(?=/?(?:p|br|div|li|[ou]l|h[1-6]|t[rdh]|table|dt|dd|pre|blockquote|figure|figcaption|hr|section|article)\b)", re.IGNORECASE
)
# An RSS title is text by the letter and markup by custom. "The <details> element" is text; a closing tag, an attribute or <br>
# is markup.
MARKUP = re.compile(
    r"</(?:a|b|i|u|s|em|strong|code|tt|span|sup|sub|p|div|cite|q|small|mark|font|script|style)>"
    r"|<[a-z]\w*\s+[\w-]+\s*=|<(?:br|img|hr|wbr)\b",
    re.IGNORECASE,
)
# Possessive: no way back means no blow-up. Declarations are no tags.
TAG = re.compile(r"""<(?=[\w/])(?:[^<>"']++|"[^"]*+"|'[^']*+')*+>""")
JAPANESE = re.compile("[ぁ-ヿ㐀-鿿]")
KANA = re.compile("[ぁ-ヿ]")
LANGUAGE = re.compile("[a-z]{2}(?![a-z])")
NOT_IN_TAG = re.compile(r"[^\w+#.]+|_")
# Categories by which a site files everything it has.
NO_TAGS = {
    "uncategorized",
    "general",
    "news",
    "blog",
    "post",
    "posts",
    "article",
    "articles",
    "other",
    "misc",
    "未分類",
    "あとで読む",
}


def one_line(text: str) -> str:
    return " ".join(UNWANTED.sub("", text).split())


def from_markup(markup: str) -> str:
    """What a reader of this HTML sees, on one line. Scripts and styles are no text."""
    spaced = BLOCK.sub(" <", markup[:MARKUP_LENGTH])
    return one_line(html.unescape(nh3.clean(spaced, tags=set())))


def whole_tags(markup: str) -> str:
    """Its tags that end, without comments or texts. On those left open Python's HTML parser spends the square of its length."""
    first, *rest = markup.split("<!--")
    return "".join(TAG.findall(first + "".join(part.partition("-->")[2] for part in rest)))


def from_rss_title(title: str) -> str:
    return from_markup(title) if MARKUP.search(title) else one_line(html.unescape(title))


def shorten(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"


def tag_slugs(names: Iterable[str]) -> list[str]:
    """Categories as tags: lower-case slugs ("c++", "c#", "node.js" and Japanese stay whole), each once, the first few."""
    parts = (part for name in names for part in re.split("[,;、]", name))
    slugs = dict.fromkeys(tag_slug(part) for part in parts)
    return [slug for slug in slugs if slug and len(slug) <= TAG_LENGTH and slug not in NO_TAGS][:TAG_COUNT]


def tag_slug(name: str) -> str:
    folded = unicodedata.normalize("NFKC", one_line(name)).lower().lstrip("#")
    return NOT_IN_TAG.sub("-", folded).strip("-.")


def language_of(text: str, feed_language: str) -> str:
    """Two letters: Japanese by its script (Chinese has kanji too, but no kana), else what the feed says, else English."""
    stated = LANGUAGE.match(feed_language.lower())
    if KANA.search(text) or (JAPANESE.search(text) and not (stated and stated[0] == "zh")):
        return "ja"
    return stated[0] if stated else "en"
