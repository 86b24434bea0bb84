"""manage.py prune_articles: remove old articles that nobody cares for. In `feedback`, because readers' marks decide."""

from argparse import ArgumentTypeError
from datetime import datetime, timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from feedback.pruning import prunable, prune


class Command(BaseCommand):
    help = (
        "Remove the articles published more than DAYS ago, except what anyone liked or marked, or read in these days. "
        "The next fetch does not bring them back. Safe beside traffic."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--older-than", type=days_ago, required=True, metavar="DAYS", dest="before")
        parser.add_argument("--dry-run", action="store_true", help="only count them")

    def handle(self, *args: Any, before: datetime, dry_run: bool, **options: Any) -> None:
        count = prunable(before).count() if dry_run else prune(before)
        text = (
            ngettext("%s article would be removed.", "%s articles would be removed.", count)
            if dry_run
            else ngettext("%s article removed.", "%s articles removed.", count)
        )
        self.stdout.write(text % count)


def days_ago(text: str) -> datetime:
    try:
        days = int(text)
        moment = timezone.now() - timedelta(days=days)
    except (ValueError, OverflowError):
        days = 0
    if days < 1:
        raise ArgumentTypeError(_("give a number of days, at least 1"))
    return moment
