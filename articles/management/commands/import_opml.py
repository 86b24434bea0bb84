"""`manage.py import_opml`: adds the feeds of another reader's export."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from articles.feeds import FeedError
from articles.feeds.opml import MAX_BYTES, import_opml


class Command(BaseCommand):
    help = "Adds the feeds that an OPML file names and that are not known yet. Exit status 1 if the file cannot be read."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help='"-" reads the standard input')

    def handle(self, *, file: str, **options: Any) -> None:
        try:
            report = import_opml(read_file(file))
        except FeedError as failure:
            raise CommandError(f"{file}: {failure}") from None
        self.stdout.write("\n".join(report.lines()))


def read_file(path: str) -> bytes:
    """At most a byte more than is allowed, so that a larger file is seen to be one."""
    if path == "-":
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    try:
        with Path(path).open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as failure:
        raise FeedError(_("The file cannot be read: %(reason)s.") % {"reason": failure.strerror}) from None
