"""A fake of what was shipped before: it only toggles, knows no `changed`, no version and no order, and answers PUT with 405."""

from django.db import connection, transaction

from articles.models import Article, User
from feedback.models import Feedback, Verdict
from tests.browser.proxy import Exchange, Fate, answer

FIELDS = {"like": Verdict.LIKED, "not-interested": Verdict.NOT_INTERESTED}


def old_server(reader: User, *, tells_count: bool = True) -> Fate:
    """This request meets an old server, which works on the same rows."""

    def fate(exchange: Exchange) -> None:
        if exchange.request.method == "PUT":
            reply = answer(405, {"detail": 'Method "PUT" not allowed.'})
        else:
            reply = answer(200, toggle(reader, exchange.request.path, tells_count))
        exchange.is_done()
        reply(exchange)

    return fate


def toggle(reader: User, path: str, tells_count: bool) -> dict[str, object]:
    """Flip the field of this address, whatever the body says."""
    _, _, _, article_id, name, *_ = path.split("/")
    field = FIELDS[name]
    try:
        row, likes = flip(reader, int(article_id), field)
    finally:
        connection.close()  # this thread's own
    return {str(field): row.verdict == field} | ({"like_count": likes} if tells_count else {})


@transaction.atomic
def flip(reader: User, article_id: int, field: Verdict) -> tuple[Feedback, int]:
    row, _created = Feedback.objects.get_or_create(profile_id=reader.pk, article_id=article_id)
    row.verdict = Verdict.NONE if row.verdict == field else field
    row.save(update_fields=["verdict"])
    likes = Feedback.objects.filter(article_id=article_id, verdict=Verdict.LIKED).count()
    Article.objects.filter(pk=article_id).update(like_count=likes)
    return row, likes
