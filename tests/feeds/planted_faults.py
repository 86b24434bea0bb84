"""Plant known faults in the gathering of feeds; a test catches each: `python -m tests.feeds.planted_faults [NAME ...]`."""

import sys

from tests.planted_faults import Fault, main

FAULTS = [
    Fault(
        "a pruned article judged by the look before the delete",
        "feedback/pruning.py",
        "unliked(before).filter(pk__in=ids)",
        "Article.objects.filter(pk__in=ids)",
        "tests/test_prune.py",
    ),
    Fault(
        "no tombstone",
        "feedback/pruning.py",
        "    Tombstone.objects.bulk_create([tombstone(article) for article in articles], ignore_conflicts=True)\n",
        "",
        "tests/test_prune.py",
    ),
    Fault(
        "a tombstone overlooked",
        "articles/feeds/store.py",
        " and not known.was_removed(story)",
        "",
        "tests/test_prune.py",
    ),
    Fault(
        "an update that makes an article new again",
        "articles/feeds/store.py",
        '"features", "search_text"]',
        '"features", "search_text", "first_seen_at", "like_count"]',
        "tests/test_feeds_store.py",
    ),
    Fault(
        "a link with tracking taken for another story",
        "articles/feeds/links.py",
        "if part and not TRACKING.match(part)",
        "if part",
        "tests/test_feeds_links.py",
    ),
    Fault(
        "a breaker that never closes",
        "articles/feeds/health.py",
        'closed = {"failures": 0, "next_try_at": None,',
        'closed = {"next_try_at": None,',
        "tests/test_feeds_health.py",
    ),
    Fault(
        "a feed that is gone asked again",
        "articles/feeds/health.py",
        "feed.is_active and not isinstance(failure, FeedGone)",
        "feed.is_active",
        "tests/test_feeds_health.py",
    ),
    Fault(
        "Retry-After overlooked",
        "articles/retry.py",
        "asked = failure.retry_after or 0",
        "asked = 0",
        "tests/test_feeds_retry.py",
    ),
    Fault(
        "the jitter left out",
        "articles/retry.py",
        "wait = max(chance * ceiling, asked)",
        "wait = max(ceiling, asked)",
        "tests/test_feeds_retry.py",
    ),
    Fault(
        "a permanent redirect followed anew each time",
        "articles/feeds/update.py",
        "    if download.answer.moved_to:",
        "    if False:",
        "tests/test_feeds_health.py",
    ),
    Fault(
        "one feed claimed by two processes",
        "articles/feeds/claims.py",
        "free = feeds.filter(Q(claimed_until=None) | Q(claimed_until__lt=now))",
        "free = feeds",
        "tests/test_claims.py",
    ),
    Fault(
        "only the first address of a name checked",
        "articles/feeds/network.py",
        "not all(may_be_asked(ip_address(address)) for address in addresses)",
        "not may_be_asked(ip_address(addresses[0]))",
        "tests/test_feeds_fetch.py",
    ),
    Fault(
        "a hop to a private address followed",
        "articles/feeds/network.py",
        "*others, last = checked_addresses(host, port)",
        "*others, last = [host]",
        "tests/test_feeds_fetch.py",
    ),
    Fault(
        "a packed body unpacked without a bound",
        "articles/feeds/encoding.py",
        "MAX_BODY_BYTES + 1",
        "10 * MAX_BODY_BYTES",
        "tests/test_feeds_parse.py",
    ),
    Fault(
        "half an entry taken for a whole one",
        "articles/feeds/parse.py",
        "document.entries[: len(END_OF_ENTRY.findall(text))]",
        "document.entries",
        "tests/test_feeds_parse.py",
    ),
    Fault(
        "a cut-off document not asked for again",
        "articles/feeds/update.py",
        " if parsed.is_whole else {}",
        "",
        "tests/test_feeds_commands.py",
    ),
    Fault(
        "a refused certificate taken for a passing failure",
        "articles/feeds/fetch.py",
        "if isinstance(tls, ssl.SSLCertVerificationError):",
        "if False:",
        "tests/test_feeds_fetch.py",
    ),
    Fault(
        "a password kept in an address",
        "articles/feeds/links.py",
        "url = without_password(urljoin(base, text))",
        "url = urljoin(base, text)",
        "tests/test_feeds_links.py",
    ),
    Fault(
        "a mistyped address kept",
        "articles/management/commands/fetch_feeds.py",
        "Feed.objects.filter(pk__in=self.added, last_succeeded_at=None).delete()",
        "pass",
        "tests/test_feeds_commands.py",
    ),
    Fault(
        "a claim kept by what could not be stored",
        "articles/feeds/health.py",
        "feed.last_error, feed.last_fetched_at, feed.claimed_until = shorten(str(failure), 500), now, None",
        "feed.last_error, feed.last_fetched_at = shorten(str(failure), 500), now",
        "tests/test_feeds_commands.py",
    ),
]

if __name__ == "__main__":
    sys.exit(main(FAULTS))
