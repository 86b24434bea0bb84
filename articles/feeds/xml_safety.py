"""An XML document made safe to hand to feedparser: bounded, without entities that grow, without characters it fails on."""

import re
from html.entities import name2codepoint
from typing import Any
from xml.parsers import expat

from django.utils.translation import gettext as _

from articles.feeds import FeedError

# A feed of five megabytes has half as many "<". What is nested or crowded beyond the other two costs feedparser its square.
MAX_BRACKETS = 100_000
MAX_DEPTH = 200
MAX_ATTRIBUTES = 200
LAST_CHARACTER = 0x10FFFF

# What may stand before the first element. Possessive, for it is anybody's: no way of going back means no blow-up.
MISCELLANY = r"(?:\s++|<\?[^>]*+>|(?><!--.*?-->))*+"
DOCTYPE = r"(?:<!DOCTYPE\b[^\[>]*+(?:\[(?>.*?\]\s{0,9}>)|>))?+"
PROLOG = re.compile(MISCELLANY + DOCTYPE + MISCELLANY, re.DOTALL)
CHARACTER_ENTITY = re.compile(r"<!ENTITY\s{1,9}(\w{1,30})\s{1,9}[\"']([^&%<\"']{1,8}|&\#\w{1,8};)[\"']\s{0,9}>")
ENTITY = re.compile(r"&(\w{1,30});")
# XML knows only these; feeds use HTML's others as if it knew them.
XML_ENTITIES = {"lt", "gt", "amp", "quot", "apos"}
HTML_ENTITIES = {name: chr(point) for name, point in name2codepoint.items() if name not in XML_ENTITIES}
NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
REFERENCE = re.compile("&#(?:[xX]([0-9A-Fa-f]+)|([0-9]+));?")


def safe_document(text: str) -> str:
    """The document from its first element on, its entities replaced.

    Of what stands before it only entities for single characters count. A longer one, referred to a thousand times, is an
    attack, and one that names a file is another.
    """
    text = NOT_IN_XML.sub("", text[max(text.find("<"), 0) :])
    if text.count("<") > MAX_BRACKETS:
        raise too_complex()
    prolog = PROLOG.match(text)
    entities = HTML_ENTITIES | dict(CHARACTER_ENTITY.findall(prolog[0]) if prolog else [])
    body = ENTITY.sub(lambda found: entities.get(found[1], found[0]), text[prolog.end() if prolog else 0 :])
    body = REFERENCE.sub(reference_if_character, body)
    check_shape(body)
    return body


def reference_if_character(found: re.Match[str]) -> str:
    """Half an emoji, or a number beyond all characters, becomes nothing."""
    digits, base = (found[1] or found[2]).lstrip("0") or "0", 16 if found[1] else 10
    number = int(digits, base) if len(digits) <= 8 else LAST_CHARACTER + 1
    return found[0] if number <= LAST_CHARACTER and not NOT_IN_XML.match(chr(number)) else ""


def check_shape(body: str) -> None:
    """Refuses what is nested too deeply or crowded with attributes, as far as the document is well-formed."""
    depth = 0

    def start(name: str, attributes: dict[str, Any]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH or len(attributes) > MAX_ATTRIBUTES:
            raise too_complex()

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler, parser.EndElementHandler = start, end
    try:
        parser.Parse(body, True)
    except expat.ExpatError:
        return  # broken from here on; feedparser's tolerant reader has neither weakness


def too_complex() -> FeedError:
    return FeedError(_("The feed has more elements, or more deeply nested ones, than DevPick reads."))
