"""Old articles that nobody cares for are removed beside traffic; a tombstone keeps their feeds from bringing them back.

Whatever a reader says in between wins. A like moves the article's own `like_count`, and lock and DELETE look at that column again
after they waited for the row; NOT EXISTS they would not. Any other row of a reader that came in between breaks the foreign key at
the commit: the batch is rolled back and tried in halves, down to the one article that stays. Lock order, as in a save: feedback
before article.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from articles.models import Article, ArticleSource, Tombstone
from feedback.models import Feedback, Verdict

BATCH = 200


def prune(before: datetime) -> int:
    """Remove the articles published before then that are liked or marked by nobody and read by nobody since then.

    Tells how many there were. Lock waits end in an OperationalError, as everywhere; what was removed until then is.
    """
    return sum(remove(ids, before) for ids in batches(before))


def prunable(before: datetime) -> QuerySet[Article]:
    cared_for = Exists(Feedback.objects.filter(~unused(before), article=OuterRef("pk")))
    return unliked(before).filter(~cared_for)


def unliked(before: datetime) -> QuerySet[Article]:
    """By columns of the article's own row alone."""
    return Article.objects.filter(like_count=0, published_at__lt=before)


def unused(before: datetime) -> Q:
    """A reader's row that says nothing: no verdict, and not read since then."""
    return Q(verdict=Verdict.NONE) & (Q(read_at=None) | Q(read_at__lt=before))


def batches(before: datetime) -> Iterator[list[int]]:
    """By ascending id, so that what had to stay is not met again."""
    last = 0
    while ids := list(prunable(before).filter(pk__gt=last).order_by("pk").values_list("pk", flat=True)[:BATCH]):
        yield ids
        last = ids[-1]


def remove(ids: Sequence[int], before: datetime) -> int:
    """One transaction; where a foreign key still holds, its halves. How many articles were removed."""
    try:
        with transaction.atomic():
            return remove_at_once(ids, before)
    except IntegrityError:
        half = len(ids) // 2
        return remove(ids[:half], before) + remove(ids[half:], before) if half else 0


def remove_at_once(ids: Sequence[int], before: datetime) -> int:
    said_nothing = Feedback.objects.filter(unused(before))
    list(said_nothing.filter(article__in=ids).order_by("pk").select_for_update().values_list("pk"))
    articles = list(unliked(before).filter(pk__in=ids).order_by("pk").select_for_update())
    going = [article.pk for article in articles]
    unliked(before).filter(pk__in=going)._raw_delete("default")
    # After the articles: what was said of one that stays stays too. The foreign keys are checked at the commit.
    said_nothing.filter(article__in=going)._raw_delete("default")
    ArticleSource.objects.filter(article__in=going)._raw_delete("default")
    Tombstone.objects.bulk_create([tombstone(article) for article in articles], ignore_conflicts=True)
    return len(going)


def tombstone(article: Article) -> Tombstone:
    known_by = {name: getattr(article, name) for name in ("address_key", "feed_id", "guid", "published_at")}
    return Tombstone(**known_by, removed_at=timezone.now())
