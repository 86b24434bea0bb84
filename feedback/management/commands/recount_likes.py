"""manage.py recount_likes: does every counter equal its rows?"""

import sys
from contextlib import suppress
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db.models import Count, F, Q
from django.utils.translation import gettext as _

from articles.models import Article
from feedback.counts import recount_likes
from feedback.models import Verdict


class Command(BaseCommand):
    help = "Compare each article's like counter with its rows and repair what differs, one article at a time beside traffic."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="only report; exit status 1 if a counter differs")

    def handle(self, *args: Any, check: bool, **options: Any) -> None:
        """Exit status: 0 all is right (now), 1 with --check if a counter differs."""
        likes = Count("feedback", filter=Q(feedback__verdict=Verdict.LIKED))
        drifted = Article.objects.order_by("pk").annotate(likes=likes).exclude(like_count=F("likes"))
        found = list(drifted.values_list("pk", "like_count", "likes"))
        for article_id, counter, rows in found:
            self.stdout.write(
                _("article %(id)s: counter %(counter)s, rows %(rows)s") % {"id": article_id, "counter": counter, "rows": rows}
            )
            if not check:
                with suppress(Article.DoesNotExist):  # pruned meanwhile
                    recount_likes(article_id)
        self.stdout.write((_("%s counters differ.") if check else _("%s counters repaired.")) % len(found))
        if found and check:
            sys.exit(1)
