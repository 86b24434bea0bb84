"""`manage.py export_opml`: the active feeds, for another reader."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from articles.feeds.opml import export_opml
from articles.models import Feed


class Command(BaseCommand):
    help = "Writes the active feeds as OPML, to the standard output or into a file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", nargs="?", metavar="FILE")

    def handle(self, *, file: str | None, **options: Any) -> None:
        document = export_opml(Feed.objects.filter(is_active=True))
        if file is None:
            self.stdout.write(document, ending="")
            return
        try:
            Path(file).write_text(document, encoding="utf-8")
        except OSError as failure:
            raise CommandError(f"{file}: {failure.strerror}") from None
