"""A card: one article as one reader sees it. Its state always comes from the rows, its match and reasons from the scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, FilteredRelation, Q, QuerySet
from django.utils.translation import gettext as _

from articles.models import Article, User
from articles.ranking import Scores, current_scores
from articles.sources import all_sources, further_sources

CardRows = QuerySet[Article, dict[str, Any]]
COLUMNS = ("pk", "url", "title", "summary", "tags", "published_at", "language", "like_count")


@dataclass(frozen=True)
class Card:
    """`match`: 1–99, None where nothing is known of the reader. `reasons` follow "because you liked:", `marks_against` "less:".

    `source` told the story first; `sources` are all that carry it, that one first and the others by name. `version`: the reader's
    interest version at which the verdict last changed, 0 if never.
    """

    id: int
    url: str
    title: str
    summary: str
    source: str
    sources: list[str]
    tags: list[str]
    published_at: datetime
    language: str
    read: bool
    liked: bool
    not_interested: bool
    like_count: int
    version: int
    match: int | None
    reasons: list[str]
    marks_against: list[str]


def card_rows(reader: User | None) -> CardRows:
    """Every article with what this reader said of it, in one statement."""
    mine = FilteredRelation("feedback", condition=Q(feedback__profile=reader.pk if reader else None))
    said = {name: F(f"mine__{name}") for name in ("verdict", "version", "marked_at", "read_at")}
    sources = {"source": F("feed__title"), "further": further_sources()}
    rows = Article.objects.annotate(mine=mine, row=F("mine__pk"), **sources, **said)
    return rows.values(*COLUMNS, "features", *sources, "row", *said)


def card_of(row: Mapping[str, Any], scores: Scores) -> Card:
    match, reasons, against = scores.fit(row["pk"], row["features"])
    return Card(
        id=row["pk"],
        source=row["source"],
        sources=all_sources(row["source"], row["further"]),
        read=row["read_at"] is not None,
        liked=row["verdict"] == "liked",
        not_interested=row["verdict"] == "not_interested",
        version=row["version"] or 0,
        match=match,
        reasons=[reason(feature) for feature in reasons],
        marks_against=[reason(feature) for feature in against],
        **{name: row[name] for name in COLUMNS[1:]},
    )


def reason(feature: str) -> str:
    """A feature of `articles.scoring` in words; in the language of the request."""
    kind, name = feature.split(":", 1)
    return _("from %(host)s") % {"host": name} if kind == "s" else name


def cards_by_id(ids: Sequence[int], reader: User | None) -> list[Card]:
    """The cards in the order of `ids`; an id without an article is left out."""
    return cards_in_order(ids, reader, current_scores(reader))


def cards_in_order(ids: Sequence[int], reader: User | None, scores: Scores) -> list[Card]:
    rows = {row["pk"]: row for row in card_rows(reader).filter(pk__in=ids)}
    return [card_of(rows[article_id], scores) for article_id in ids if article_id in rows]
