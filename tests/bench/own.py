"""What a reader's own verdicts cost to take along, to bring in and to follow, and what a list costs over the API."""

import json
import tracemalloc
from time import perf_counter
from typing import Any

from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from articles import snapshot
from articles.models import Article, Profile, User
from feedback.models import Feedback, Verdict
from tests.bench.report import bound, timed
from tests.factories import ArticleFactory, FeedFactory, UserFactory, profile_of, token_of

VERDICTS, FEW, IMPORTED = 10_000, 1_000, 4_000


def bench_own() -> None:
    feed = FeedFactory()
    rows = [ArticleFactory.build(feed=feed, url=f"https://taken-along.example/{n}") for n in range(VERDICTS)]
    articles = Article.objects.bulk_create(rows, batch_size=500)
    many, few = reader_of(articles), reader_of(articles[:FEW])
    Article.objects.filter(pk__in=[article.pk for article in articles]).update(like_count=1)
    Article.objects.filter(pk__in=[article.pk for article in articles[:FEW]]).update(like_count=2)
    report_export(client_of(few), client_of(many))
    report_import(articles[:IMPORTED])
    report_changes(client_of(many))
    report_statements(client_of(many))


def reader_of(articles: list[Article]) -> User:
    """A reader who liked all of these."""
    profile = profile_of(UserFactory())
    said = [
        Feedback(profile=profile, article=article, verdict=Verdict.LIKED, marked_at=timezone.now(), version=number)
        for number, article in enumerate(articles, 1)
    ]
    Feedback.objects.bulk_create(said, batch_size=500)
    Profile.objects.filter(pk=profile.pk).update(interest_version=len(said))
    return profile.user


def client_of(user: User) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {token_of(user)}")
    return client


def report_export(few: APIClient, many: APIClient) -> None:
    print(f"An export of {VERDICTS:,} verdicts beside one of {FEW:,}")
    for client in (few, many):
        export(client)  # imports, connections, caches
    start = perf_counter()
    size = export(many)
    print(f"  {'seconds, MiB sent':48} {perf_counter() - start:7.3f}   {size / 2**20:.2f}")
    small, large = peak_of(few), peak_of(many)
    bound("memory, times that of the small one", large / small, 1.5, f"{large / small:7.2f}   ({large / 2**20:.2f} MiB)")


def export(client: APIClient) -> int:
    """Bytes, none of which are kept."""
    response: Any = client.get("/api/feedback/export/")
    return sum(len(piece) for piece in response.streaming_content)


def peak_of(client: APIClient) -> int:
    tracemalloc.start()
    export(client)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def report_import(articles: list[Article]) -> None:
    print(f"An import of {IMPORTED:,} verdicts, milliseconds a line in the quickest of its requests")
    lines = [{"url": article.url, "liked": True, "not_interested": False} for article in articles]
    client, body = client_of(UserFactory()), json.dumps({"verdicts": lines})
    changed = import_all(client, body, "changed")
    bound("changed lines (300 a second)", changed, 1000 / 300, f"{changed:7.3f}   ({1000 / changed:,.0f} a second)")
    unchanged = import_all(client, body, "unchanged")
    print(f"  {'unchanged lines':48} {unchanged:7.3f}   ({1000 / unchanged:,.0f} a second)")


def import_all(client: APIClient, body: str, kind: str) -> float:
    """Milliseconds a line. The quickest request: the others tell of the machine's other work."""
    address, done, found = "/api/feedback/import/", 0, []
    while address:
        start = perf_counter()
        answer = client.post(address, body, content_type="application/json").json()
        found.append((perf_counter() - start) * 1000 / answer[kind])
        done, address = done + answer[kind], answer["next"]
    assert done == IMPORTED
    return min(found)


def report_changes(client: APIClient) -> None:
    print(f"Asking what is new, of a reader with {VERDICTS:,} verdicts, milliseconds")
    for name, since in (("nothing new", VERDICTS), ("a page from the beginning", 0)):
        print(f"  {name:48} {timed(lambda since=since: client.get(f'/api/feedback/?since={since}'), 30):7.3f}")  # type: ignore[misc]


def report_statements(client: APIClient) -> None:
    print("Statements of a list over the API, everything cold, beside the one that finds the token")
    for view in ("for-you", "latest", "liked", "not-interested"):
        cache.clear()
        snapshot._kept = None
        with CaptureQueriesContext(connection) as statements:
            assert client.get(f"/api/articles/?view={view}").status_code == 200
        bound(view, len(statements) - 1, 4, f"{len(statements) - 1:7d}")
