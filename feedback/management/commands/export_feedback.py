"""manage.py export_feedback USERNAME: all verdicts of a reader, as a file that `import_feedback` reads."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from articles.management.readers import reader_named
from feedback.exports import MEDIA_TYPES, export


class Command(BaseCommand):
    help = "Print all verdicts of a reader, oldest first, in the form that import_feedback and the page read."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--format", choices=list(MEDIA_TYPES), default="json")

    def handle(self, *, username: str, format: str, **options: Any) -> None:
        for piece in export(reader_named(username).pk, format):
            self.stdout.write(piece, ending="")
