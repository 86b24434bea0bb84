"""A hostile network between two readers' clients and the real server, against a pure model of the contract.

Requests wait in flight and are delivered in any order, any number of times; replies may be lost; keys expire and are pruned.
"""

from dataclasses import dataclass, field
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from articles.models import Article, Profile
from feedback.models import Feedback, IdempotencyKey, Verdict
from feedback.verdicts import Wish, verdict_after
from tests.conftest import client_of
from tests.factories import ArticleFactory, UserFactory

pytestmark = pytest.mark.django_db(transaction=True)

EXAMPLES = 60 if connection.vendor == "postgresql" else 20
VERDICTS = {"liked": (True, False), "not_interested": (False, True), "": (False, False)}


@dataclass
class Request:
    """One act of a client, as it stands on the wire."""

    reader: int
    body: dict[str, Any]
    key: str | None = None


@dataclass
class Reader:
    """What the contract says a reader's side must hold."""

    api: Any
    pk: int
    verdict: Verdict = Verdict.NONE
    version: int = 0
    seen: dict[str, int] = field(default_factory=dict)
    replies: dict[str, bytes] = field(default_factory=dict)
    changes_told: int = 0


def transactions_used() -> int:
    """The next transaction id; reading it uses none."""
    if connection.vendor != "postgresql":
        return 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
        return int(cursor.fetchone()[0])


class Network(RuleBasedStateMachine):
    @initialize()
    def start(self) -> None:
        self.article = ArticleFactory()
        users = UserFactory.create_batch(2)
        self.readers = [Reader(client_of(user), user.pk) for user in users]
        self.in_flight: list[Request] = []
        self.seq = 0
        self.keys = 0

    @rule(reader=st.integers(0, 1), client=st.integers(0, 1), verdict=st.sampled_from(sorted(VERDICTS)), keyed=st.booleans())
    def press(self, reader: int, client: int, verdict: str, keyed: bool) -> None:
        self.seq += 1
        liked, not_interested = VERDICTS[verdict]
        body = {"liked": liked, "not_interested": not_interested, "client": f"browser-{client}", "seq": self.seq}
        self.in_flight.append(Request(reader, body, self.new_key() if keyed else None))

    @rule(reader=st.integers(0, 1), order=st.booleans())
    def toggle_with_key(self, reader: int, order: bool) -> None:
        self.seq += 1
        body = {"client": "extension", "seq": self.seq} if order else {}
        self.in_flight.append(Request(reader, body, self.new_key()))

    @rule(index=st.integers(0, 50))
    def retry(self, index: int) -> None:
        """Retry asks for the recorded verdict again, as a new act: with a new seq."""
        if self.in_flight and "liked" in (old := self.in_flight[index % len(self.in_flight)]).body:
            self.seq += 1
            self.in_flight.append(Request(old.reader, old.body | {"seq": self.seq}))

    @rule(index=st.integers(0, 50))
    def deliver(self, index: int) -> None:
        """Any request in flight, for the first or the tenth time: late, doubled, reordered; the client may never hear of it."""
        if self.in_flight:
            self.send(self.in_flight[index % len(self.in_flight)])

    @rule(index=st.integers(0, 50))
    def deliver_twice(self, index: int) -> None:
        self.deliver(index)
        self.deliver(index)

    @rule(index=st.integers(0, 50))
    def expire(self, index: int) -> None:
        if self.keys:
            key = f"key-number-{index % self.keys}"
            ids = [reader.pk for reader in self.readers]
            IdempotencyKey.objects.filter(reader_id__in=ids, key=key).update(created_at="2020-01-01T00:00Z")
            for reader in self.readers:
                reader.replies.pop(key, None)

    @rule()
    def prune(self) -> None:
        call_command("prune_idempotency_keys", verbosity=0)

    @rule(by=st.integers(-3, 3))
    def drift_and_recount(self, by: int) -> None:
        Article.objects.filter(pk=self.article.pk).update(like_count=self.likes() + by)
        call_command("recount_likes")

    def new_key(self) -> str:
        self.keys += 1
        return f"key-number-{self.keys - 1}"

    def likes(self) -> int:
        return sum(reader.verdict == Verdict.LIKED for reader in self.readers)

    def send(self, request: Request) -> None:
        reader = self.readers[request.reader]
        headers = {"HTTP_IDEMPOTENCY_KEY": request.key} if request.key else {}
        before = transactions_used()
        reply = reader.api.post(f"/api/articles/{self.article.pk}/like/", request.body, format="json", **headers)
        assert reply.status_code == 200, reply.content
        if request.key in reader.replies:
            assert reply.has_header("Idempotency-Replayed")
            assert reply.content == reader.replies[request.key or ""]
            assert transactions_used() == before
            return
        must_write = self.apply(reader, request, reply.json())
        assert must_write or transactions_used() == before
        if request.key:
            reader.replies[request.key] = reply.content

    def apply(self, reader: Reader, request: Request, told: dict[str, Any]) -> bool:
        """The model's own step, compared with the reply; True if the server had to write."""
        client, seq = request.body.get("client"), request.body.get("seq", 0)
        kept = reader.seen.get(client or "", -1)
        wish = Wish(toggle=Verdict.LIKED)
        if "liked" in request.body:
            wish = Wish(request.body["liked"], request.body["not_interested"])
        fresh = client is None or seq > kept
        after = verdict_after(wish, reader.verdict) if fresh else reader.verdict
        changed = after != reader.verdict
        if client and fresh:
            reader.seen[client] = seq
        reader.verdict, reader.version = after, reader.version + changed
        reader.changes_told += told["changed"]
        assert told["changed"] is changed
        assert told["stale"] is (client is not None and seq < kept)
        assert (told["liked"], told["not_interested"]) == VERDICTS[after]
        assert told["like_count"] == self.likes()
        return changed or request.key is not None or (client is not None and fresh)

    @invariant()
    def the_rows_are_what_the_model_holds(self) -> None:
        rows = {row.profile_id: row for row in Feedback.objects.filter(article=self.article)}
        versions = dict(Profile.objects.filter(feedback__in=rows.values()).values_list("pk", "interest_version"))
        for reader in self.readers:
            row = rows.get(reader.pk)
            assert (row.verdict if row else Verdict.NONE) == reader.verdict
            assert versions.get(reader.pk, 0) == reader.version == reader.changes_told
            assert (dict(row.seen) if row else {}) == reader.seen

    @invariant()
    def the_count_equals_the_rows(self) -> None:
        counter = Article.objects.values_list("like_count", flat=True).get(pk=self.article.pk)
        assert counter == self.likes() == Feedback.objects.filter(article=self.article, verdict=Verdict.LIKED).count()


def test_whatever_the_network_does_the_contract_holds() -> None:
    checks = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
    run_state_machine_as_test(
        Network, settings=settings(max_examples=EXAMPLES, stateful_step_count=30, deadline=None, suppress_health_check=checks)
    )
