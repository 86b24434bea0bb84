"""The lists of articles: what was asked for, and one page of it. The page and the API show the same ones."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Self

from django.db.models import BooleanField, ExpressionWrapper, F, Q
from django.http import QueryDict
from django.utils.translation import gettext as _

from articles.cards import Card, CardRows, card_of, card_rows, cards_in_order
from articles.cursors import RANKED_VIEW, TOP, DatedPlace, Place, RankedPlace, pack, unpack
from articles.models import User
from articles.ordering import spread_sources
from articles.ranking import Scores, kept_order, present_order, scores_of
from articles.search import fold
from articles.snapshot import Entry, Present, Snapshot, read_present
from articles.sources import carried_by

PAGE_SIZE = 30
# Looked at beyond a page's end, so that it is full although some articles were hidden or deleted a moment ago.
SPARE = 10
VIEWS = ("for-you", "latest", "liked", "not-interested")
MARKED_VIEWS = {"liked": "liked", "not-interested": "not_interested"}  # the verdict that a view lists
MAX_FILTER_LENGTH = 200
READ_FILTERS = ("", "unread")  # all, or without this reader's read mark
ARTICLE_ID = re.compile(r"[0-9]{1,18}")


class BadQuery(ValueError):
    """A part of the address that cannot be read; the text says what to do."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.name = name


@dataclass(frozen=True)
class ListQuery:
    """One list and what narrows it. `kept`: the card that is shown although its verdict would leave it out."""

    view: str = "for-you"
    q: str = ""
    source: str = ""
    tag: str = ""
    lang: str = ""
    read: str = ""
    cursor: Place | None = None
    kept: int | None = None

    @classmethod
    def parse(cls, query: QueryDict, view: str = "for-you") -> Self:
        """`view`: the one if none is named. Raises BadQuery."""
        view = query.get("view") or view
        if view not in VIEWS:
            raise BadQuery("view", _("There is no such list. Choose one of these: %(views)s.") % {"views": ", ".join(VIEWS)})
        filters = {name: parse_filter(name, query.get(name, "")) for name in ("q", "source", "tag", "lang", "read")}
        filters["lang"] = filters["lang"].lower().partition("-")[0]  # as articles carry it, whatever a browser says: en-GB
        if filters["read"] not in READ_FILTERS:
            raise BadQuery("read", _("Ask for “unread”, or leave this out for all articles."))
        kept = parse_id("kept", query.get("kept", "")) if query.get("kept") else None
        return cls(view, **filters, cursor=parse_cursor(query.get("cursor", ""), view), kept=kept)

    @property
    def terms(self) -> list[str]:
        """What the search text must hold, each of them; a tag stands there on a line of its own."""
        return fold(self.q).split() + ([f"\n#{fold(self.tag)}\n"] if self.tag else [])

    def condition(self) -> Q:
        narrowed = Q(*(Q(search_text__contains=term) for term in self.terms))
        if self.lang:
            narrowed &= Q(language=self.lang)
        if self.source:
            narrowed &= carried_by(self.source)
        return narrowed

    @property
    def unread(self) -> bool:
        return self.read == "unread"

    def unread_rows(self) -> Q:
        """Of `card_rows`: those without a read mark, if only they are asked for."""
        return Q(read_at=None) | Q(pk=self.kept) if self.unread else Q()

    def matches(self, entry: Entry) -> bool:
        """The rule of `condition` for an article of the snapshot."""
        if self.source not in ("", entry.source, *entry.further_sources) or self.lang not in ("", entry.language):
            return False
        return all(term in entry.search_text for term in self.terms)


def parse_filter(name: str, text: str) -> str:
    if len(text) > MAX_FILTER_LENGTH:
        raise BadQuery(name, _("Use at most %(count)s characters.") % {"count": MAX_FILTER_LENGTH})
    if "\0" in text:
        raise BadQuery(name, _("This text holds a character that cannot be searched for."))
    return text.strip()


def parse_cursor(text: str, view: str) -> Place | None:
    if not text:
        return None
    try:
        place = unpack(text)
    except ValueError:
        place = None
    if place is None or place.view != view:
        raise BadQuery("cursor", _("This link into the list is broken. Start again from the top of the list."))
    return place


def parse_id(name: str, text: str) -> int:
    if not ARTICLE_ID.fullmatch(text):
        raise BadQuery(name, _("Give the number of an article."))
    return int(text)


@dataclass(frozen=True)
class ListPage:
    """`marks`: how many verdicts of this reader the scores were made from. `sources`, `tags`: what the filters offer."""

    cards: list[Card]
    next_cursor: str | None
    marks: int
    sources: list[str]
    tags: list[str]


def list_page(query: ListQuery, reader: User | None) -> ListPage:
    """At most 30 cards, and where they go on. At most four statements, however many cards there are."""
    present = read_present(reader, with_read=query.unread)
    scores = scores_of(reader, present)
    page_of = ranked_page if query.view == RANKED_VIEW else dated_page
    cards, place = page_of(query, reader, present, scores)
    snapshot = present.snapshot
    return ListPage(cards, pack(place) if place else None, scores.marks, snapshot.sources, snapshot.tags)


def ranked_page(query: ListQuery, reader: User | None, present: Present, scores: Scores) -> tuple[list[Card], Place | None]:
    """By the reader's scores or by heat. The rows decide what is hidden: the scores may be older than a press on another page."""
    place = query.cursor if isinstance(query.cursor, RankedPlace) else TOP
    order = (query.cursor and kept_order(reader, place.order)) or present_order(present, scores)
    ids = ids_below(place, order.ids, query, present.snapshot, scores.hidden | present.read)
    cards = [card for card in cards_in_order(ids, reader, scores) if not card.not_interested or card.id == query.kept]
    if len(cards) > PAGE_SIZE:
        return cards[:PAGE_SIZE], place.after(order.name, [card.id for card in cards[:PAGE_SIZE]])
    return cards, place.after(order.name, ids) if len(ids) >= PAGE_SIZE + SPARE else None


def ids_below(
    place: RankedPlace, order: Sequence[int], query: ListQuery, snapshot: Snapshot, hidden: frozenset[int]
) -> list[int]:
    """A page of ids and some to spare: of this order, what the query asks for and was not shown above or hidden."""
    entries, left_out = snapshot.by_id, place.shown | (hidden - {query.kept})
    left = [i for i in order if i not in left_out and i in entries and query.matches(entries[i])]
    above = [entries[i].source for i in place.last if i in entries]
    ids = list(islice(spread_sources(left, lambda i: entries[i].source, above), PAGE_SIZE + SPARE))
    if query.kept is None or query.kept in ids[:PAGE_SIZE] or query.kept in place.shown:
        return ids
    return [query.kept, *(i for i in ids if i != query.kept)]


def dated_page(query: ListQuery, reader: User | None, present: Present, scores: Scores) -> tuple[list[Card], Place | None]:
    """By time, newest first: of publication, or of the mark."""
    rows = list((latest_rows if query.view == "latest" else marked_rows)(query, reader)[: PAGE_SIZE + 1])
    cards = [card_of(row, scores) for row in rows[:PAGE_SIZE]]
    if len(rows) <= PAGE_SIZE:
        return cards, None
    at, key = ("published_at", "pk") if query.view == "latest" else ("marked_at", "row")
    return cards, DatedPlace(query.view, rows[PAGE_SIZE - 1][at], rows[PAGE_SIZE - 1][key])


def latest_rows(query: ListQuery, reader: User | None) -> CardRows:
    """All articles but the hidden ones, whatever their age."""
    shown = without("not_interested")
    if query.kept is not None:
        shown |= Q(pk=query.kept)
    rows = card_rows(reader).filter(shown, query.condition(), query.unread_rows(), below(query.cursor, "published_at", "pk"))
    return rows.order_by("-published_at", "-pk")


def marked_rows(query: ListQuery, reader: User | None) -> CardRows:
    """What the reader marked so. A kept card that has the mark no longer has no place among the others: it stands on top."""
    verdict, newest = MARKED_VIEWS[query.view], (F("marked_at").desc(), F("row").desc())
    marked = Q(verdict=verdict) & query.condition() & query.unread_rows() & below(query.cursor, "marked_at", "row")
    if query.kept is None:
        return card_rows(reader).filter(marked).order_by(*newest)
    kept = Q(pk=query.kept) & without(verdict)
    return card_rows(reader).filter(marked | kept).order_by(ExpressionWrapper(kept, BooleanField()).desc(), *newest)


def without(verdict: str) -> Q:
    return Q(verdict=None) | ~Q(verdict=verdict)


def below(place: Place | None, at: str, key: str) -> Q:
    if not isinstance(place, DatedPlace):
        return Q()
    older = Q(**{f"{at}__lt": place.at}) | Q(**{at: place.at, f"{key}__lt": place.id})
    return Q(**{f"{at}__lte": place.at}) & older  # the first condition is the one that an index can follow
