"""`manage.py fetch_feeds`: asks feeds for what is new and stores it. Meant for cron or a systemd timer.

It may overlap itself and run on several machines: who fetches which feed is settled in the database.
"""

import logging
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any
from urllib.parse import urlsplit

from django.core.management.base import BaseCommand
from django.db import DatabaseError
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from articles.feeds import FeedError
from articles.feeds.claims import active_feeds, claim, release, resting_feeds, unfetched
from articles.feeds.fetch import TIMEOUT_SECONDS
from articles.feeds.health import note_failure, rest_of
from articles.feeds.links import without_password
from articles.feeds.store import Stored
from articles.feeds.subscriptions import add_default_feeds, feed_at
from articles.feeds.update import Download, download, keep
from articles.models import Feed

IN_FLIGHT = 8
INTERRUPTED = 130  # as shells tell it

logger = logging.getLogger(__name__)


class Command(BaseCommand):
    help = (
        "Fetches feeds and stores what is new. Without addresses: all active feeds that are not resting after failures. "
        "Several runs may overlap: they share the feeds. Exit status 1 if one failed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "urls", nargs="*", metavar="URL", help="only these feeds; one that is not known yet is added if it can be read"
        )
        parser.add_argument("--default-list", action="store_true", help="first add the feeds of data/feeds.txt that are missing")
        parser.add_argument(
            "--timeout", type=float, default=TIMEOUT_SECONDS, metavar="SECONDS", help="for each feed, repeats included"
        )

    def handle(self, *, urls: list[str], default_list: bool, timeout: float, **options: Any) -> None:
        self.counts: Counter[str] = Counter()
        self.added = set[int]()
        self.flights = dict[Future[Download], Feed]()
        if default_list:
            add_default_feeds()
        if not urls and not Feed.objects.filter(is_active=True).exists():
            self.stdout.write(_("There are no active feeds. Add one by its address: manage.py fetch_feeds URL"))
            return
        start = timezone.now()
        try:
            self.fetch_all(unfetched(self.named(urls) if urls else active_feeds(start), since=start), timeout)
        except KeyboardInterrupt:
            self.stderr.write(_("Stopped. What was fetched until then is stored."))
            sys.exit(INTERRUPTED)
        finally:
            self.tidy_up()
        self.counts["resting"] = 0 if urls else resting_feeds(start).count()
        self.stdout.write(summary(self.counts))
        if self.counts["failed"]:
            sys.exit(1)

    def named(self, urls: Iterable[str]) -> QuerySet[Feed]:
        """These feeds, resting or switched off as they may be: somebody wants them now."""
        keys = []
        for url in dict.fromkeys(urls):
            try:
                feed, is_new = feed_at(url)
            except FeedError as failure:
                self.report(without_password(url), str(failure))
            else:
                keys.append(feed.pk)
                self.added |= {feed.pk} if is_new else set()
        return Feed.objects.filter(pk__in=keys)

    def fetch_all(self, feeds: QuerySet[Feed], timeout: float) -> None:
        """The network's part in threads, one feed of a host at a time; the database's here, one after the other."""
        total = feeds.count()
        with ThreadPoolExecutor(IN_FLIGHT) as pool:
            while self.take_off(pool, feeds, timeout):
                for flight in wait(self.flights, return_when=FIRST_COMPLETED).done:
                    self.land(self.flights[flight], flight)
                    del self.flights[flight]
                    self.counts["landed"] += 1
                    self.progress(f"\r{self.counts['landed']}/{total}")
        self.progress("\n")
        self.counts["others"] = total - self.counts["landed"]

    def take_off(self, pool: ThreadPoolExecutor, feeds: QuerySet[Feed], timeout: float) -> bool:
        """Claims feeds as long as there are any and there is room; whether anything is in flight."""
        busy = self.flights
        while len(busy) < IN_FLIGHT and (feed := claim(feeds, {host(feed) for feed in busy.values()}, timeout)):
            busy[pool.submit(download, feed, timeout)] = feed
        return bool(busy)

    def land(self, feed: Feed, flight: Future[Download]) -> None:
        """One feed's result. Its failure is its own: the others go on."""
        try:
            self.count(keep(feed, flight.result(), timezone.now()))
        except FeedError as failure:
            self.fail(feed, failure)
        except Feed.DoesNotExist:
            self.report(feed.url, _("The feed was removed meanwhile."))
        except DatabaseError as failure:
            self.fail(feed, FeedError(_("The articles could not be stored: %(reason)s") % {"reason": failure}))
        except Exception as failure:  # a fault of ours that only this feed meets
            logger.exception("feed %s", feed.url)
            self.fail(feed, FeedError(_("DevPick failed with it: %(reason)s") % {"reason": repr(failure)}))

    def tidy_up(self) -> None:
        """What is still in flight was stopped. An address that this run met first and could not read may be mistyped."""
        if self.flights:
            release(self.flights.values())
        if self.added:
            Feed.objects.filter(pk__in=self.added, last_succeeded_at=None).delete()

    def fail(self, feed: Feed, failure: FeedError) -> None:
        if feed.pk in self.added:
            return self.report(feed.url, f"{failure} " + _("It was not added."))
        was_active = feed.is_active
        note_failure(feed, failure, timezone.now())
        return self.report(feed.url, " ".join([str(failure), *consequences(feed, was_active)]))

    def count(self, stored: Stored | None) -> None:
        if stored is None:
            self.counts["unchanged"] += 1
        else:
            self.counts.update(fetched=1, new=stored.new, updated=stored.updated)

    def report(self, url: str, reason: str) -> None:
        self.counts["failed"] += 1
        over_progress = "\r" if self.stdout.isatty() else ""
        self.stderr.write(f"{over_progress}{url}: {reason}")

    def progress(self, text: str) -> None:
        if self.stdout.isatty():
            self.stdout.write(text, ending="")
            self.stdout.flush()


def host(feed: Feed) -> str:
    return urlsplit(feed.url).hostname or ""


def consequences(feed: Feed, was_active: bool) -> Iterator[str]:
    """What a failure means for the next runs, where it means anything."""
    if was_active and not feed.is_active:
        yield _("It is switched off.")
    elif feed.next_try_at:
        yield rest_of(feed)


def summary(counts: Counter[str]) -> str:
    total = counts["fetched"] + counts["unchanged"] + counts["failed"]
    feeds = ngettext("%(total)d feed", "%(total)d feeds", total) % {"total": total}
    articles = ngettext("%(new)d new article", "%(new)d new articles", counts["new"]) % {"new": counts["new"]}
    text = _("%(feeds)s: %(fetched)d fetched, %(unchanged)d unchanged, %(failed)d failed; %(articles)s, %(updated)d updated") % {
        "feeds": feeds,
        "articles": articles,
        **{name: counts[name] for name in ("fetched", "unchanged", "failed", "updated")},
    }
    left = {"resting": _("%(count)d resting after failures"), "others": _("%(count)d left to another run")}
    return "; ".join([text, *(words % {"count": counts[name]} for name, words in left.items() if counts[name])])
