"""Readers as an operator names them."""

from django.core.management.base import CommandError

from articles.models import User


def reader_named(username: str) -> User:
    """Raises CommandError, which ends a command with its text."""
    try:
        return User.objects.get_by_natural_key(username)
    except User.DoesNotExist:
        raise CommandError(f"There is no reader named {username!r}. Sign up on the page first.") from None
