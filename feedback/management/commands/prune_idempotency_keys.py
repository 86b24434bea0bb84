"""manage.py prune_idempotency_keys: forget the keys whose day is over."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone
from django.utils.translation import gettext as _

from feedback.idempotency import LIFE
from feedback.models import IdempotencyKey


class Command(BaseCommand):
    help = "Delete expired Idempotency-Keys in batches, safe beside traffic."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--batch", type=int, default=1000, help="rows deleted in one statement (default 1000)")

    def handle(self, *args: Any, batch: int, **options: Any) -> None:
        deleted = total = self.delete_batch(batch)
        while deleted:
            deleted = self.delete_batch(batch)
            total += deleted
        self.stdout.write(_("%s expired keys deleted.") % total)

    def delete_batch(self, batch: int) -> int:
        """A key that a request renews meanwhile stays: the delete looks at the row's own date again after its lock wait."""
        expired = IdempotencyKey.objects.filter(created_at__lte=timezone.now() - LIFE)
        ids = list(expired.order_by("pk").values_list("pk", flat=True)[:batch])
        return expired.filter(pk__in=ids)._raw_delete(expired.db) if ids else 0
