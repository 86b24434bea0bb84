"""The like counter of an article: moved with each like, and recounted from the rows where it may have drifted."""

import logging

from django.db import connection, transaction

from articles.models import Article
from feedback.models import Feedback, Verdict

logger = logging.getLogger(__name__)

MOVE_COUNTER = "UPDATE articles_article SET like_count = like_count + %s WHERE id = %s RETURNING like_count"


def move_like_count(article_id: int, by: int) -> int:
    """Add `by` to the counter and return it. Call it last in a transaction: every reader of the article waits for this row.

    A counter that had drifted below the truth cannot go below zero: it is recounted instead.
    """
    with connection.cursor() as cursor:
        cursor.execute(MOVE_COUNTER, [by, article_id])
        moved = cursor.fetchone()
    if moved is None:
        raise Article.DoesNotExist
    return moved[0] if moved[0] >= 0 else recount_likes(article_id)


def recount_likes(article_id: int) -> int:
    """Bring the counter to the number of like rows and return it; a drift is logged.

    The count is a statement of its own after the lock: one that waited and counted at once would answer from the old snapshot.
    """
    with transaction.atomic(savepoint=False):
        article = Article.objects.select_for_update(no_key=True).only("like_count").get(pk=article_id)
        likes = Feedback.objects.filter(article_id=article_id, verdict=Verdict.LIKED).count()
        if article.like_count != likes:
            logger.warning("like count of article %s was %s, is %s by its rows", article_id, article.like_count, likes)
            Article.objects.filter(pk=article_id).update(like_count=likes)
    return likes
