"""What a save costs, as ratios in one run on one server.

F is the same view doing nothing (with the same authentication) plus the bare SQL transaction of a changed save. The requests go
straight into the WSGI application: a socket would add the same noise to all of them.
"""

import json
from collections.abc import Callable
from io import BytesIO
from statistics import median
from typing import Any
from uuid import uuid4

import psycopg
from django.db import connection
from django.test.utils import CaptureQueriesContext

from articles.models import Article, User
from devpick.wsgi import application
from feedback.models import Feedback
from tests.bench.report import bound, spread, timed
from tests.factories import ArticleFactory, FeedbackFactory, UserFactory, token_of

ROUNDS, CALLS = 300, 4
LOCK = (
    "SELECT f.verdict, f.version, f.seen, p.interest_version FROM feedback_feedback f"
    " JOIN articles_profile p ON p.user_id = f.profile_id"
    " WHERE f.profile_id = %s AND f.article_id = %s FOR NO KEY UPDATE OF f, p"
)
MARK = (
    "UPDATE feedback_feedback SET verdict = %s, version = version + 1, marked_at = now()"
    " WHERE profile_id = %s AND article_id = %s"
)
MOVE = "UPDATE articles_profile SET interest_version = interest_version + 1 WHERE user_id = %s"
COUNT = "UPDATE articles_article SET like_count = like_count + %s WHERE id = %s RETURNING like_count"


class Client:
    """One reader's client of the application in this process. Each save is sent by a method named after its kind."""

    def __init__(self, user: User, article: Article) -> None:
        self.authorization = f"Token {token_of(user)}"
        self.path = f"/api/articles/{article.pk}/like/"
        self.noop_path = f"/noop/{article.pk}/"
        self.liked = False
        self.key = ""
        self.changed_with_key()

    def put(self, path: str, **headers: str) -> dict[str, Any]:
        body = json.dumps({"liked": self.liked, "not_interested": False}).encode()
        environ = {
            "REQUEST_METHOD": "PUT",
            "PATH_INFO": path,
            "QUERY_STRING": "",
            "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_AUTHORIZATION": self.authorization,
            "wsgi.input": BytesIO(body),
            "wsgi.url_scheme": "http",
            **headers,
        }
        response = application(environ, lambda status, headers: None)
        response.close()
        return dict(json.loads(b"".join(response)))

    def noop(self) -> None:
        self.put(self.noop_path)

    def changed(self) -> None:
        self.liked = not self.liked
        assert self.put(self.path)["changed"]

    def repeated(self) -> None:
        assert not self.put(self.path)["changed"]

    def changed_with_key(self) -> None:
        self.liked, self.key = not self.liked, str(uuid4())
        assert self.replayed()["changed"]

    def replayed(self) -> dict[str, Any]:
        return self.put(self.path, HTTP_IDEMPOTENCY_KEY=self.key)


class BareTransaction:
    """The statements that a changed save cannot do without, prepared, with nothing around them."""

    def __init__(self, user: User, article: Article) -> None:
        database = connection.get_connection_params() | {"cursor_factory": psycopg.Cursor, "prepare_threshold": 0}
        self.connection = psycopg.connect(**{name: value for name, value in database.items() if name != "context"})
        self.user, self.article, self.by = user.pk, article.pk, 1

    def save(self) -> None:
        self.by = -self.by
        with self.connection.transaction():
            self.connection.execute(LOCK, [self.user, self.article]).fetchone()
            self.connection.execute(MARK, ["liked" if self.by > 0 else "", self.user, self.article])
            self.connection.execute(MOVE, [self.user])
            self.connection.execute(COUNT, [self.by, self.article]).fetchone()


def bench_saves() -> None:
    liked_by_others = ArticleFactory()
    for _ in range(20):
        FeedbackFactory(article=liked_by_others)
    Article.objects.filter(pk=liked_by_others.pk).update(like_count=20)
    client = Client(UserFactory(), liked_by_others)
    other = FeedbackFactory()
    bare = BareTransaction(other.profile.user, other.article)
    report_ratios(measure({"noop": client.noop, "sql": bare.save, **kinds(client)}))
    report_statements(client)
    report_writes(client)


def kinds(client: Client) -> dict[str, Callable[[], object]]:
    return {
        "changed": client.changed,
        "repeated": client.repeated,
        "changed with key": client.changed_with_key,
        "replayed": client.replayed,
    }


def measure(actions: dict[str, Callable[[], object]]) -> dict[str, list[float]]:
    """Milliseconds by kind and round. The rounds are interleaved: a busy moment of the machine meets all kinds alike."""
    for action in actions.values():
        timed(action, 20)  # connections, caches, prepared statements
    rounds: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(ROUNDS):
        for name, action in actions.items():
            rounds[name].append(timed(action, CALLS))
    return rounds


def report_ratios(ms: dict[str, list[float]]) -> None:
    print(f"Saves, milliseconds each: median of {ROUNDS} rounds of {CALLS} (80 % of the rounds)")
    for name, values in ms.items():
        print(f"  {name:48} {spread(values)}")
    print("Ratios within a round. F = noop + sql")
    floor = [noop + sql for noop, sql in zip(ms["noop"], ms["sql"], strict=True)]
    ratio("changed save / F", ms["changed"], floor, 2.5)
    ratio("unchanged repeat / changed save", ms["repeated"], ms["changed"], 0.65)
    ratio("changed save with key / without", ms["changed with key"], ms["changed"], 1.6)
    ratio("replay of a key / changed save", ms["replayed"], ms["changed"], 0.6)


def ratio(name: str, values: list[float], base: list[float], at_most: float) -> None:
    ratios = [value / floor for value, floor in zip(values, base, strict=True)]
    bound(name, median(ratios), at_most, spread(ratios))


def report_statements(client: Client) -> None:
    print("Statements with a token (BEGIN and COMMIT counted)")
    bounds = {"changed": 10, "repeated": 3}
    for name, action in kinds(client).items():
        with CaptureQueriesContext(connection) as statements:
            action()
        told = f"{len(statements):7d}"
        if name in bounds:
            bound(name, len(statements), bounds[name], told)
        else:
            print(f"  {name:48} {told}")


def report_writes(client: Client) -> None:
    """PostgreSQL's own word: a transaction that writes takes an id, and a row that is written has a new xmin."""
    print("Writes of 20 unchanged repeats")
    ids, rows = next_transaction_id(), row_versions()
    for _ in range(20):
        client.repeated()
    bound("transaction ids used", next_transaction_id() - ids, 0, f"{next_transaction_id() - ids:7d}")
    bound("rows written", len(row_versions() ^ rows), 0, f"{len(row_versions() ^ rows):7d}")


def next_transaction_id() -> int:
    return int(one("SELECT pg_snapshot_xmax(pg_current_snapshot())::text"))


def row_versions() -> set[tuple[Any, ...]]:
    tables = ("articles_article", "articles_profile", Feedback._meta.db_table, "feedback_idempotencykey", "articles_apitoken")
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(f"SELECT '{table}', ctid::text, xmin::text FROM {table}" for table in tables))
        return set(cursor.fetchall())


def one(sql: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone()[0]
