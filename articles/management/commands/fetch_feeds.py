"""`manage.py fetch_feeds`: asks feeds for what is new and stores it. Meant for cron or a systemd timer."""

import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import Any

from django.core.management.base import BaseCommand
from django.db import DatabaseError
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from articles.feeds import FeedError
from articles.feeds.fetch import TIMEOUT_SECONDS
from articles.feeds.store import Stored, note_failure
from articles.feeds.subscriptions import add_default_feeds, feed_at
from articles.feeds.update import Download, download, keep
from articles.models import Feed

IN_FLIGHT = 8


class Command(BaseCommand):
    help = "Fetches feeds and stores what is new. Without addresses: all active feeds. Exit status 1 if one failed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("urls", nargs="*", metavar="URL", help="only these feeds; one that is not known yet is added")
        parser.add_argument("--default-list", action="store_true", help="first add the feeds of data/feeds.txt that are missing")
        parser.add_argument("--timeout", type=float, default=TIMEOUT_SECONDS, metavar="SECONDS", help="for each feed, all in all")

    def handle(self, *, urls: list[str], default_list: bool, timeout: float, **options: Any) -> None:
        self.counts: Counter[str] = Counter()
        if default_list:
            add_default_feeds()
        feeds = self.named(urls) if urls else list(Feed.objects.filter(is_active=True))
        if not feeds and not urls:
            self.stdout.write(_("There are no active feeds. Add one by its address: manage.py fetch_feeds URL"))
            return
        self.fetch_all(feeds, timeout)
        self.stdout.write(summary(self.counts))
        if self.counts["failed"]:
            sys.exit(1)

    def named(self, urls: Iterable[str]) -> list[Feed]:
        feeds: dict[int, Feed] = {}
        for url in dict.fromkeys(urls):
            try:
                feed = feed_at(url)
                feeds[feed.pk] = feed
            except FeedError as failure:
                self.report(url, str(failure))
        return list(feeds.values())

    def fetch_all(self, feeds: list[Feed], timeout: float) -> None:
        """The network's part in threads, several feeds at once; the database's here, one after the other."""
        with ThreadPoolExecutor(IN_FLIGHT) as pool:
            flights = {pool.submit(download, feed, timeout): feed for feed in feeds}
            for done, flight in enumerate(as_completed(flights), 1):
                self.land(flights[flight], flight)
                self.progress(done, len(feeds))

    def land(self, feed: Feed, flight: Future[Download]) -> None:
        """One feed's result. Its failure is its own: the others go on."""
        try:
            self.count(keep(feed, flight.result(), timezone.now()))
        except FeedError as failure:
            note_failure(feed, str(failure), timezone.now())
            self.report(feed.url, str(failure))
        except Feed.DoesNotExist:
            self.report(feed.url, _("The feed was removed meanwhile."))
        except DatabaseError as failure:
            self.report(feed.url, _("The articles could not be stored: %(reason)s") % {"reason": failure})

    def count(self, stored: Stored | None) -> None:
        if stored is None:
            self.counts["unchanged"] += 1
        else:
            self.counts.update(fetched=1, new=stored.new, updated=stored.updated)

    def report(self, url: str, reason: str) -> None:
        self.counts["failed"] += 1
        over_progress = "\r" if self.stdout.isatty() else ""
        self.stderr.write(f"{over_progress}{url}: {reason}")

    def progress(self, done: int, total: int) -> None:
        if self.stdout.isatty():
            self.stdout.write(f"\r{done}/{total}", ending="\n" if done == total else "")
            self.stdout.flush()


def summary(counts: Counter[str]) -> str:
    total = counts["fetched"] + counts["unchanged"] + counts["failed"]
    feeds = ngettext("%(total)d feed", "%(total)d feeds", total) % {"total": total}
    articles = ngettext("%(new)d new article", "%(new)d new articles", counts["new"]) % {"new": counts["new"]}
    return _("%(feeds)s: %(fetched)d fetched, %(unchanged)d unchanged, %(failed)d failed; %(articles)s, %(updated)d updated") % {
        "feeds": feeds,
        "articles": articles,
        **{name: counts[name] for name in ("fetched", "unchanged", "failed", "updated")},
    }
