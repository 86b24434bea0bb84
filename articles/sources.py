"""Which feeds carry an article: the one that told it first (`Article.feed`), and the others."""

from collections.abc import Iterable

from django.db.models import OuterRef, Q, Subquery

from articles.json_lists import listed
from articles.models import ArticleSource


def further_sources() -> Subquery:
    """The names of the others, as a column of the articles' own statement: a list costs no more statements for them."""
    return listed(ArticleSource.objects.filter(article=OuterRef("pk")), "feed__title")


def all_sources(first: str, further: Iterable[str] | None) -> list[str]:
    """The first, then the others by name; each name once, for two feeds of one site may be called the same."""
    return list(dict.fromkeys([first, *sorted(further or (), key=str.casefold)]))


def carried_by(source: str) -> Q:
    """The articles that a feed of this name carries."""
    further = ArticleSource.objects.filter(feed__title=source)
    return Q(feed__title=source) | Q(pk__in=further.values("article"))
