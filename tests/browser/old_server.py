"""A fake of what was shipped before: it only toggles, knows no `changed`, no version and no order, and answers PUT with 405."""

from django.db import connection, transaction

from articles.models import Article, User
from feedback.models import Feedback, Verdict
from tests.browser.proxy import Exchange, Fate, answer

FIELDS = {"like": Verdict.LIKED, "not-interested": Verdict.NOT_INTERESTED}


def old_server(reader: User, *, tells_count: bool = True) -> Fate:
    """This request meets an old server, which works on the same rows."""

    def fate(exchange: Exchange) -> None:
        exchange.proxy.note(exchange.proxy.received, exchange.request)
        if exchange.request.method == "PUT":
            return answer(405, {"detail": 'Method "PUT" not allowed.'})(exchange)
        try:
            told = toggle(reader, exchange.request.path)
        finally:
            connection.close()  # this thread's own
        return answer(200, told if tells_count else {name: told[name] for name in told if name != "like_count"})(exchange)

    return fate


@transaction.atomic
def toggle(reader: User, path: str) -> dict[str, object]:
    """Flip the field of this address, whatever the body says."""
    _, _, _, article_id, name, *_ = path.split("/")
    field = FIELDS[name]
    row, _created = Feedback.objects.get_or_create(profile_id=reader.pk, article_id=int(article_id))
    row.verdict = Verdict.NONE if row.verdict == field else field
    row.save(update_fields=["verdict"])
    likes = Feedback.objects.filter(article_id=row.article_id, verdict=Verdict.LIKED).count()
    Article.objects.filter(pk=row.article_id).update(like_count=likes)
    return {str(field): row.verdict == field, "like_count": likes}
