"""manage.py create_token USERNAME: a new API token for this reader."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from articles.management.readers import reader_named
from articles.models import ApiToken


class Command(BaseCommand):
    help = "Print a new API token of a reader, and nothing else. It is shown once: only its digest is stored."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--name", default="", help="what the token is for; the reader sees it in the list of their tokens")

    def handle(self, *, username: str, name: str, **options: Any) -> None:
        self.stdout.write(ApiToken.objects.create(user=reader_named(username), name=name)[1])
