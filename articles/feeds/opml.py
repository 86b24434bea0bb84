"""OPML, the list of feeds that readers exchange: in, with a report of what became of each; and out."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from xml.etree import ElementTree
from xml.parsers import expat

import listparser
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from articles.feeds import FeedError
from articles.feeds.encoding import decode
from articles.feeds.links import host_of, web_address, without_password
from articles.feeds.text import one_line, shorten, whole_tags
from articles.models import Feed

MAX_BYTES = 1024 * 1024  # some ten thousand feeds
TITLE_LENGTH = 200


@dataclass
class Report:
    """What became of a file's feeds, by their addresses; `refused` are the ones that no feed can have."""

    added: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    is_broken: bool = False

    def lines(self) -> Iterator[str]:
        yield ngettext("%s feed added.", "%s feeds added.", len(self.added)) % len(self.added)
        if self.known:
            yield ngettext("%s was there already.", "%s were there already.", len(self.known)) % len(self.known)
        for address in self.refused:
            yield _("Left out, for this is no web address: %s") % shorten(without_password(address), 200)
        if self.is_broken:
            yield _("The file is broken (no well-formed XML). Check that no feed is missing.")


def import_opml(body: bytes) -> Report:
    """Adds the feeds that are not known yet; what is there stays as it is, switched off or renamed. Raises FeedError."""
    text = text_of(body)
    report, feeds = Report(is_broken=not is_well_formed(text)), dict[str, Feed]()
    for address, title in outlines(text):
        if (url := web_address(address)) is None:
            report.refused.append(address)
        else:
            feeds.setdefault(url, Feed(url=url, title=shorten(title or host_of(url), TITLE_LENGTH)))
    known = set(Feed.objects.filter(url__in=feeds).values_list("url", flat=True))
    Feed.objects.bulk_create([feed for url, feed in feeds.items() if url not in known], ignore_conflicts=True)
    report.added, report.known = [url for url in feeds if url not in known], sorted(known)
    return report


def text_of(body: bytes) -> str:
    if len(body) > MAX_BYTES:
        raise FeedError(_("The file is larger than %(limit)d MB.") % {"limit": MAX_BYTES // 1024**2})
    text = decode(body)
    if "<" not in text:
        raise FeedError(_("This is no OPML file. Export one from your feed reader, as OPML or XML."))
    return text


def is_well_formed(text: str) -> bool:
    try:
        expat.ParserCreate("utf-8").Parse(text.encode("utf-8", "replace"), True)
    except expat.ExpatError:
        return False
    return True


def outlines(text: str) -> list[tuple[str, str]]:
    """Address and title of each feed, folders flattened. A broken file is read as far as its outlines can be told."""
    # As bytes: listparser takes a text that looks like an address for one, and would go there.
    found = listparser.parse(whole_tags(text).encode("utf-8", "replace"))
    if not found.feeds:
        raise FeedError(no_feeds(found.version))
    return [(feed.url, one_line(feed.title)) for feed in found.feeds]


def no_feeds(version: str) -> str:
    if version:
        return _("The file names no feeds: none of its outlines has an address (xmlUrl).")
    return _("This is no OPML file. Export one from your feed reader, as OPML or XML.")


def export_opml(feeds: Iterable[Feed]) -> str:
    """An OPML 2.0 document."""
    opml = ElementTree.Element("opml", version="2.0")
    ElementTree.SubElement(ElementTree.SubElement(opml, "head"), "title").text = "DevPick"
    body = ElementTree.SubElement(opml, "body")
    for feed in feeds:
        title = one_line(feed.title)  # XML cannot hold every character
        ElementTree.SubElement(body, "outline", type="rss", text=title, title=title, xmlUrl=feed.url, htmlUrl=feed.site_url)
    ElementTree.indent(opml)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(opml, encoding="unicode")}\n'
