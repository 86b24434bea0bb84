"""Readers come and go; what they said comes and goes with them, and the counts stay right."""

from django.db import IntegrityError, models, transaction
from django.db.models import F

from articles.models import Article, Profile, User
from feedback.models import Feedback, Verdict


class NameTaken(Exception):
    """Somebody has this user name, perhaps since a moment ago."""


def sign_up(*, username: str, password: str, email: str = "") -> User:
    """Make a reader. Without an e-mail address a forgotten password cannot be reset. Raises NameTaken."""
    try:
        with transaction.atomic():
            return User.objects.create_user(username, email, password)
    except IntegrityError:
        raise NameTaken from None


def change_email(reader_id: int, email: str) -> None:
    """Links in password mails that were sent before are void with it."""
    User.objects.filter(pk=reader_id).update(email=email)


def delete_account(reader_id: int) -> None:
    """Delete a reader with all they said, and take their likes out of the counts, in one transaction.

    Locks are taken in the order in which a save takes them (key's owner, row, profile, article), articles by ascending id: a save
    under way ends first and is counted, a later one finds no reader, and two deletions cannot wait for each other.
    """
    with transaction.atomic():
        lock(User.objects.filter(pk=reader_id).select_for_update())
        own_rows = Feedback.objects.filter(profile_id=reader_id)
        lock(own_rows.order_by("pk").select_for_update())
        lock(Profile.objects.filter(pk=reader_id).select_for_update())
        liked = Article.objects.filter(pk__in=own_rows.filter(verdict=Verdict.LIKED).values("article_id"))
        lock(liked.order_by("pk").select_for_update(no_key=True))
        liked.update(like_count=F("like_count") - 1)
        User.objects.filter(pk=reader_id).delete()


def lock(rows: models.QuerySet) -> None:
    """Read the locked rows' keys, in the order asked for."""
    list(rows.values_list("pk"))
