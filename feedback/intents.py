"""“Log in to save”: what a visitor asked for, carried through log-in or sign-up in one signed form field, not in the session."""

import secrets
import time
from dataclasses import asdict, dataclass
from enum import Enum

from django.core import signing
from django.core.exceptions import ObjectDoesNotExist
from django.db import IntegrityError
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from articles.models import Article
from feedback.models import Verdict
from feedback.services import apply_feedback, fields_of
from feedback.verdicts import Order, Wish, verdict_after

LIFE_SECONDS = 600
SALT = "devpick.intent"


class Outcome(Enum):
    """What became of an intent after log-in."""

    SAVED = "saved"
    OVERTAKEN = "overtaken"
    GONE = "gone"
    NOT_THEIRS = "not theirs"
    UNREADABLE = "unreadable"


WILL_BE_SAVED = {
    Verdict.LIKED: gettext_lazy("Your like of {title} is kept for ten minutes. It is saved when you log in."),
    Verdict.NOT_INTERESTED: gettext_lazy("{title} is kept as not interesting for ten minutes. It is saved when you log in."),
    Verdict.NONE: gettext_lazy("Your mark on {title} is taken back when you log in within ten minutes."),
}
WAS_SAVED = {
    Verdict.LIKED: gettext_lazy("Your like of {title} was saved."),
    Verdict.NOT_INTERESTED: gettext_lazy("{title} was saved as not interesting."),
    Verdict.NONE: gettext_lazy("Your mark on {title} was taken back."),
}
WAS_NOT_SAVED = {
    Outcome.OVERTAKEN: gettext_lazy("What you pressed before logging in was not saved: a later press of yours stands."),
    Outcome.GONE: gettext_lazy("What you pressed before logging in was not saved: the article is no longer available."),
    Outcome.NOT_THEIRS: gettext_lazy("What was pressed before you logged in was not saved: it was another reader's."),
    Outcome.UNREADABLE: gettext_lazy("What you pressed before logging in was not saved: it is too old. Press once more."),
}


@dataclass(frozen=True)
class Intent:
    """The whole verdict that was asked for; `reader` is the user id of the page it was pressed on, empty on a visitor's page."""

    article: int
    liked: bool
    not_interested: bool
    client: str
    seq: int
    reader: str

    @property
    def verdict(self) -> Verdict:
        return verdict_after(self.wish, Verdict.NONE)

    @property
    def wish(self) -> Wish:
        return Wish(self.liked, self.not_interested)

    @property
    def order(self) -> Order:
        return Order(self.client, self.seq)


def new_order() -> Order:
    """For a press without JavaScript. A client of its own, so that a doubled log-in is a repeat and nothing else is late."""
    return Order(secrets.token_urlsafe(12), time.time_ns() // 1_000_000)


def sign(intent: Intent) -> str:
    return signing.dumps(asdict(intent), salt=SALT)


def read(signed: str) -> Intent | None:
    """None if it is older than ten minutes or not ours, be it of the release before."""
    try:
        return Intent(**signing.loads(signed, salt=SALT, max_age=LIFE_SECONDS))
    except (signing.BadSignature, TypeError):
        return None


def carry_out(intent: Intent | None, reader_id: int) -> Outcome:
    """Save the intent for the reader who is logging in; sent twice, the second is a repeat that changes nothing."""
    if intent is None:
        return Outcome.UNREADABLE
    if intent.reader not in ("", str(reader_id)):
        return Outcome.NOT_THEIRS
    try:
        result = apply_feedback(profile_id=reader_id, article_id=intent.article, wish=intent.wish, order=intent.order)
    except (ObjectDoesNotExist, IntegrityError):
        return Outcome.GONE
    shown = (result.liked, result.not_interested)
    return Outcome.SAVED if shown == fields_of(intent.verdict) else Outcome.OVERTAKEN


def told_before(intent: Intent | None) -> str:
    """What the log-in page says of the intent it carries."""
    if intent is None:
        return _("What you pressed is too old to be saved. Log in and press once more.")
    return format_html(str(WILL_BE_SAVED[intent.verdict]), title=title_of(intent))


def told_after(intent: Intent | None, outcome: Outcome) -> str:
    """What the list says after log-in."""
    if intent is None or outcome in WAS_NOT_SAVED:
        return str(WAS_NOT_SAVED[outcome])
    return format_html(str(WAS_SAVED[intent.verdict]), title=title_of(intent))


def title_of(intent: Intent) -> SafeString:
    """The article's title in quotes, in its own language."""
    article = Article.objects.filter(pk=intent.article).only("title", "language").first()
    if article is None:
        return format_html("{}", _("an article that is gone"))
    return format_html('“<span lang="{}">{}</span>”', article.language, article.title)
