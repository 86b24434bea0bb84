"""The one way a verdict changes. Read `apply_feedback` first; the rules it applies stand in `feedback.verdicts`.

Read first: an unchanged wish is answered from one plain read and writes nothing. Only a real change, a toggle or a newer `seq`
opens a transaction. Lock order: key row, feedback row with profile, article (the contended one last). The statements of the hot
path are written by hand, the same for both databases: with the ORM's a changed save missed its bound (`make bench`).
"""

import json
from dataclasses import dataclass

from django.db import connection, transaction
from django.utils import timezone

from articles.models import Article, Profile
from feedback.counts import move_like_count, recount_likes
from feedback.models import Feedback, Verdict
from feedback.verdicts import Arrival, Order, Seen, Wish, arrival_of, remember, verdict_after

# State, kept seq, counter and the number of like rows must come from one snapshot; two reads would see drift that is not there.
READ_STATE = """
SELECT article.like_count,
       (SELECT COUNT(*) FROM feedback_feedback f WHERE f.article_id = article.id AND f.verdict = 'liked'),
       COALESCE(own.verdict, ''), COALESCE(own.version, 0), COALESCE(own.seen, '[]'), own.id IS NOT NULL,
       EXISTS (SELECT 1 FROM articles_profile p WHERE p.user_id = %s)
  FROM articles_article article
  LEFT JOIN feedback_feedback own ON own.article_id = article.id AND own.profile_id = %s
 WHERE article.id = %s
"""

READ_OWN = """
SELECT own.* FROM feedback_feedback own JOIN articles_profile reader ON reader.user_id = own.profile_id
 WHERE own.profile_id = %s AND own.article_id = %s
"""
# Not the key of the rows: a plain FOR UPDATE on the profile would block every insert that refers to it.
LOCK_OWN = "FOR NO KEY UPDATE OF own, reader"
MOVE_VERSION = "UPDATE articles_profile SET interest_version = interest_version + 1 WHERE user_id = %s RETURNING interest_version"


@dataclass(frozen=True)
class State:
    """What one snapshot holds of a reader and an article."""

    like_count: int
    like_rows: int
    verdict: Verdict
    version: int
    seen: Seen
    has_row: bool
    has_profile: bool


@dataclass(frozen=True)
class FeedbackResult:
    """The reply to one call: its fields are the members of the JSON."""

    article: int
    liked: bool
    not_interested: bool
    like_count: int
    version: int
    changed: bool
    stale: bool


def current_state(*, profile_id: int, article_id: int) -> State:
    """Read only. Raises Article.DoesNotExist."""
    with connection.cursor() as cursor:
        cursor.execute(READ_STATE, [profile_id, profile_id, article_id])
        row = cursor.fetchone()
    if row is None:
        raise Article.DoesNotExist
    like_count, like_rows, verdict, version, seen, has_row, has_profile = row
    kept = [(client, seq) for client, seq in json.loads(seen)]
    return State(like_count, like_rows, Verdict(verdict), version, kept, bool(has_row), bool(has_profile))


def apply_feedback(*, profile_id: int, article_id: int, wish: Wish, order: Order | None = None) -> FeedbackResult:
    """Bring one reader's verdict on one article to `wish`, and say whether this call changed it.

    `profile_id` is the reader's user id. Raises Article.DoesNotExist; IntegrityError if the article or the reader is deleted
    meanwhile. Sending it again never does harm: README, "The API".
    """
    state = current_state(profile_id=profile_id, article_id=article_id)
    if not needs_lock(state, wish, order):
        return unchanged(article_id, state, order)
    with transaction.atomic(savepoint=False):
        row = locked_row(profile_id, article_id, state)
        return decide(row, wish, order)


def needs_lock(state: State, wish: Wish, order: Order | None) -> bool:
    """A repeat and a late arrival never write; otherwise a newer seq, a toggle and a change do."""
    if arrival_of(order, state.seen) is not Arrival.NEW:
        return False
    return order is not None or wish.toggle is not None or verdict_after(wish, state.verdict) != state.verdict


def locked_row(profile_id: int, article_id: int, state: State) -> Feedback:
    """The reader's row for this article, made if missing, locked together with the profile. Raises Feedback.DoesNotExist.

    ON CONFLICT DO NOTHING and not try/except: a unique-key error would poison the transaction.
    """
    if not state.has_profile:
        Profile.objects.bulk_create([Profile(user_id=profile_id)], ignore_conflicts=True)
    if not state.has_row:
        Feedback.objects.bulk_create([Feedback(profile_id=profile_id, article_id=article_id)], ignore_conflicts=True)
    lock = LOCK_OWN if connection.features.has_select_for_no_key_update else ""  # SQLite's transaction is a lock itself
    for row in Feedback.objects.raw(READ_OWN + lock, [profile_id, article_id]):
        return row
    raise Feedback.DoesNotExist


def decide(row: Feedback, wish: Wish, order: Order | None) -> FeedbackResult:
    """Under the lock: what the read promised may have changed while we waited."""
    arrival, before = arrival_of(order, row.seen), Verdict(row.verdict)
    after = verdict_after(wish, before) if arrival is Arrival.NEW else before
    if order is not None and arrival is Arrival.NEW:
        row.seen = remember(order, row.seen)
    if after != before:
        return save_change(row, before, after)
    if order is not None and arrival is Arrival.NEW:
        row.save(update_fields=["seen"])
    return unchanged(row.article_id, current_state(profile_id=row.profile_id, article_id=row.article_id), order)


def save_change(row: Feedback, before: Verdict, after: Verdict) -> FeedbackResult:
    """Verdict, interest version and counter move together, the article's row last."""
    row.verdict, row.version, row.marked_at = after, next_version(row.profile_id), timezone.now()
    row.save(update_fields=["verdict", "version", "marked_at", "seen"])
    if by := (after == Verdict.LIKED) - (before == Verdict.LIKED):
        likes = move_like_count(row.article_id, by)
    else:
        likes = true_like_count(row.article_id, current_state(profile_id=row.profile_id, article_id=row.article_id))
    return FeedbackResult(row.article_id, *fields_of(after), likes, row.version, changed=True, stale=False)


def next_version(profile_id: int) -> int:
    """Move the reader's interest version, and with it every cached score of this reader out of use."""
    with connection.cursor() as cursor:
        cursor.execute(MOVE_VERSION, [profile_id])
        return int(cursor.fetchone()[0])


def unchanged(article_id: int, state: State, order: Order | None) -> FeedbackResult:
    """The present state, and whether a newer send of this client was here before."""
    stale = arrival_of(order, state.seen) is Arrival.LATE
    likes = true_like_count(article_id, state)
    return FeedbackResult(article_id, *fields_of(state.verdict), likes, state.version, changed=False, stale=stale)


def true_like_count(article_id: int, state: State) -> int:
    """The number of like rows. A counter that does not equal it is repaired on the way."""
    return state.like_rows if state.like_rows == state.like_count else recount_likes(article_id)


def fields_of(verdict: Verdict) -> tuple[bool, bool]:
    """(liked, not_interested)"""
    return verdict == Verdict.LIKED, verdict == Verdict.NOT_INTERESTED
