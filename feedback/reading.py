"""Read marks: that a reader has opened an article. A desired state like a verdict, but nothing is ranked or counted by it.

The mark stands in the reader's row for the article (`Feedback.read_at`), so a card shows it without another statement.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import FilteredRelation, Q
from django.utils import timezone

from articles.models import Article
from feedback.services import current_state, locked_row

# An article that is opened again counts as read lately, and is not pruned; written at most once in this time.
RENEWED_AFTER = timedelta(days=1)


@dataclass(frozen=True)
class ReadMark:
    article: int
    read: bool
    changed: bool


def read_at(*, profile_id: int, article_id: int) -> datetime | None:
    """Read only. Raises Article.DoesNotExist."""
    mine = FilteredRelation("feedback", condition=Q(feedback__profile=profile_id))
    return Article.objects.annotate(mine=mine).values_list("mine__read_at", flat=True).get(pk=article_id)


def mark_read(*, profile_id: int, article_id: int, read: bool) -> ReadMark:
    """Bring one reader's mark on one article to `read`. Sent again it writes nothing, but for the day of a late second look.

    Raises Article.DoesNotExist; IntegrityError if the article or the reader is deleted meanwhile.
    """
    now = timezone.now()
    if is_so(read_at(profile_id=profile_id, article_id=article_id), read, now):
        return ReadMark(article_id, read, changed=False)
    state = current_state(profile_id=profile_id, article_id=article_id)
    with transaction.atomic(savepoint=False):
        row = locked_row(profile_id, article_id, state)
        changed = (row.read_at is not None) != read
        row.read_at = now if read else None
        row.save(update_fields=["read_at"])
    return ReadMark(article_id, read, changed)


def is_so(at: datetime | None, read: bool, now: datetime) -> bool:
    return at is not None and now - at < RENEWED_AFTER if read else at is None
