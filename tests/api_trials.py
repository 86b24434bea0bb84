"""Trials of the API: for every operation and status a request to the real endpoint, in a small world that is always the same.

Their answers are the examples of the OpenAPI document: `make schema` writes them down, tests/test_openapi.py tries them again.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import time_machine
from django.core.cache import cache
from django.db import OperationalError, connection, transaction
from django.test import override_settings
from rest_framework.test import APIClient

from articles import snapshot
from articles.models import ApiToken, User
from devpick.api_operations import OPERATIONS, Operation
from devpick.api_shapes import HEADERS
from feedback.services import apply_feedback
from feedback.verdicts import Wish
from tests.factories import ArticleFactory, FeedFactory, UserFactory

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
JSON, CSV = "application/json", "text/csv"
FILE = {"url": "https://blog.example/postgres-locks", "liked": True, "not_interested": False, "marked_at": "2026-11-30T18:00:00Z"}
ELSEWHERE = {"url": "https://elsewhere.example/unknown", "liked": True, "not_interested": False}


@dataclass(frozen=True)
class Trial:
    """One request of an operation. `before`: requests whose answers are not looked at. `setting`: what the world is like."""

    operation: str
    status: int
    name: str
    query: str = ""
    body: Any = None
    content_type: str = JSON
    headers: dict[str, str] = field(default_factory=dict)
    article: int = 7
    who: str = "token"
    setting: str = ""
    before: tuple[Any, ...] = ()


def methods() -> Iterator[tuple[str, str, Operation]]:
    for (path, method), operation in OPERATIONS.items():
        yield path, method, operation


def failures_of_all() -> Iterator[Trial]:
    """What every operation answers alike."""
    for _path, method, operation in methods():
        body = VALID.get(operation.name)
        sent = {"body": body} if body is not None else {}
        for status in (401, 403, 503, *((429, 415, 413, 411) if method in ("PUT", "POST") else ())):
            yield failing(operation.name, status, sent)


def failing(name: str, status: int, sent: dict[str, Any]) -> Trial:
    too_long = "x" * (5 * 1024 * 1024 + 1) if name == "import_feedback" else "x" * 5000
    different: dict[int, dict[str, Any]] = {
        401: {"name": "a token that is not valid", "headers": {"Authorization": "Token 0000"}, "who": "nobody", **sent},
        403: {"name": "another reader's page", "headers": {"X-DevPick-Reader": "99"}, "who": "session", **sent},
        411: {"name": "a body in chunks", "headers": {"Transfer-Encoding": "chunked"}},
        413: {"name": "a body that is too large", "body": too_long},
        415: {"name": "a body of another type", "body": "liked", "content_type": "text/plain"},
        429: {"name": "too many requests", "setting": "no writes", **sent},
        503: {"name": "a database that is away", "setting": "no database", **sent},
    }
    return Trial(name, status, **different[status])


def feedback_trials(what: str, field_name: str) -> Iterator[Trial]:
    put, post, other = f"put_{what}", f"post_{what}", {"liked": "not_interested", "not_interested": "liked"}[field_name]
    wish, key = {field_name: True}, {"Idempotency-Key": "5f6d0c1e-press-1"}
    numbered = {**wish, "client": "my-phone-1", "seq": 1796117400000}
    yield Trial(f"get_{what}", 200, "a state")
    yield Trial(f"get_{what}", 404, "no such article", article=404)
    yield Trial(put, 200, "a change", body=wish)
    yield Trial(put, 200, "sent again", body=wish, before=({"body": wish},))
    yield Trial(put, 200, "the whole verdict", body={field_name: False, other: True})
    yield Trial(put, 200, "a late arrival", body=numbered | {"seq": 1796117399000}, before=({"body": numbered},))
    yield Trial(put, 200, "a key sent again", body=wish, headers=key, before=({"body": wish, "headers": key},))
    yield Trial(put, 400, "a field that is missing", body={})
    yield Trial(put, 400, "broken JSON", body="{")
    yield Trial(put, 400, "a key that is too short", body=wish, headers={"Idempotency-Key": "1"})
    yield Trial(put, 403, "a form without its CSRF token", body=wish, who="session")
    yield Trial(post, 200, "a change", body=wish)
    yield Trial(post, 200, "a toggle of an old client")
    yield Trial(post, 200, "a toggle with a key sent again", headers=key, before=({"headers": key},))
    yield Trial(post, 400, "a value that is no boolean", body={field_name: "yes"})
    for name in (put, post):
        yield Trial(name, 404, "no such article", body=wish, article=404)
        yield Trial(name, 422, "a key of another request", body=wish, headers=key, before=({"body": numbered, "headers": key},))


def trials() -> Iterator[Trial]:
    yield Trial("list_articles", 200, "the latest", "?view=latest&tag=postgres", who="nobody")
    yield Trial("list_articles", 200, "chosen articles, for a reader", "?id=9")
    yield Trial("list_articles", 304, "nothing changed", "?id=9", before=({},))
    yield Trial("list_articles", 400, "a list that is not there", "?view=best")
    yield Trial("list_articles", 401, "a list of a reader, for nobody", "?view=liked", who="nobody")
    yield Trial("get_article", 200, "an article, for a reader", article=9)
    yield Trial("get_article", 304, "nothing changed", before=({},))
    yield Trial("get_article", 404, "no such article", article=404)
    yield from feedback_trials("like", "liked")
    yield from feedback_trials("not_interested", "not_interested")
    yield Trial("get_read", 200, "an article that was not read")
    yield Trial("get_read", 404, "no such article", article=404)
    yield Trial("put_read", 200, "a change", body={"read": True})
    yield Trial("put_read", 200, "sent again", body={"read": True}, before=({"body": {"read": True}},))
    yield Trial("put_read", 400, "a field that is missing", body={})
    yield Trial("put_read", 403, "a form without its CSRF token", body={"read": True}, who="session")
    yield Trial("put_read", 404, "no such article", body={"read": True}, article=404)
    yield Trial("list_changes", 200, "from the beginning")
    yield Trial("list_changes", 200, "nothing new", "?since=3")
    yield Trial("list_changes", 400, "a version that is no number", "?since=yesterday")
    yield Trial("export_feedback", 200, "as JSON")
    yield Trial("export_feedback", 200, "as CSV", "?format=csv")
    yield Trial("export_feedback", 400, "a format that is not there", "?format=xml")
    yield Trial("import_feedback", 200, "a file", body={"verdicts": [FILE, ELSEWHERE, {"liked": True, "not_interested": False}]})
    csv = "url,liked,not_interested\r\nhttps://blog.example/postgres-locks,true,false\r\n"
    yield Trial("import_feedback", 200, "a file of CSV", body=csv, content_type=CSV)
    yield Trial("import_feedback", 400, "no file of verdicts", body=[])
    yield Trial("import_feedback", 403, "without its CSRF token", body={"verdicts": []}, who="session")
    yield from failures_of_all()


VALID: dict[str, Any] = {
    "put_like": {"liked": True},
    "post_like": {"liked": True},
    "put_not_interested": {"not_interested": True},
    "post_not_interested": {"not_interested": True},
    "put_read": {"read": True},
    "import_feedback": {"verdicts": [FILE]},
}


# The world


def build_world() -> User:
    """Three articles of one source; the reader likes one, refused one and took one back; another reader likes two."""
    feed = FeedFactory(title="Lab notes")
    titles = {7: "Locks in PostgreSQL, from the bottom up", 8: "A small language", 9: "Vacuum without fear"}
    slugs = {7: "postgres-locks", 8: "small-language", 9: "vacuum"}
    for number, title in titles.items():
        tags = ["languages"] if number == 8 else ["postgres", "databases"]
        made = ArticleFactory.build(
            pk=number,
            feed=feed,
            title=title,
            url=f"https://blog.example/{slugs[number]}",
            summary=f"What “{title}” says.",
            tags=tags,
        )
        made.published_at = made.first_seen_at = datetime(2026, 11, 20 + number - 7, 8, tzinfo=UTC)
        made.save(force_insert=True)
    reader, other = (UserFactory(pk=number, username=name) for number, name in ((5, "mika"), (6, "sam")))
    for who, number, wish in (
        (other, 7, Wish(liked=True)),
        (other, 9, Wish(liked=True)),
        (reader, 9, Wish(liked=True)),
        (reader, 8, Wish(not_interested=True)),
        (reader, 7, Wish(liked=True)),
        (reader, 7, Wish(liked=False)),
    ):
        apply_feedback(profile_id=who.pk, article_id=number, wish=wish)
    return reader


@contextmanager
def world() -> Iterator[User]:
    """The same for every trial, and gone after it."""
    with time_machine.travel(NOW, tick=False), transaction.atomic():
        cache.clear()
        snapshot._kept = None
        yield build_world()
        transaction.set_rollback(True)


def away(*arguments: Any) -> None:
    raise OperationalError("the database is away")


SETTINGS: dict[str, Callable[[], Any]] = {
    "": lambda: override_settings(),
    "no database": lambda: connection.execute_wrapper(away),
    "no writes": lambda: override_settings(LIMITS={"write-reader": 0, "write-address": 0, "import-reader": 0}),
}


def client_of(who: str, reader: User) -> APIClient:
    client = APIClient(enforce_csrf_checks=True)
    if who == "token":
        client.credentials(HTTP_AUTHORIZATION=f"Token {ApiToken.objects.create(user=reader, last_used_on=NOW.date())[1]}")
    if who == "session":
        client.force_login(reader)
    return client


def carry_out(trial: Trial, instead: str = "") -> dict[str, Any]:
    """The trial as the document tells it: what was asked (by the operation's method, or another one), and what came."""
    path, method = next((path, instead or method) for path, method, operation in methods() if operation.name == trial.operation)
    address = path.replace("{article_id}", str(trial.article)) + trial.query
    with world() as reader:
        client, headers = client_of(trial.who, reader), dict(trial.headers)
        for request in trial.before:
            earlier = send(client, method, address, request.get("body"), trial.content_type, request.get("headers", {}))
            headers |= {"If-None-Match": earlier["ETag"]} if trial.status == 304 else {}
        with SETTINGS[trial.setting]():
            answer = send(client, method, address, trial.body, trial.content_type, headers)
        return {"name": trial.name, "request": request_told(trial, method, address, headers), **answer_told(answer)}


def send(client: APIClient, method: str, address: str, body: Any, content_type: str, headers: dict[str, str]) -> Any:
    data = "" if body is None else body if isinstance(body, str) else json.dumps(body)
    names = {"HTTP_" + name.upper().replace("-", "_"): value for name, value in headers.items()}
    return client.generic(method, address, data, content_type if data else "", **names)


def request_told(trial: Trial, method: str, address: str, headers: dict[str, str]) -> dict[str, Any]:
    told: dict[str, Any] = {"method": method, "address": address, "headers": headers}
    small = trial.body is not None and len(str(trial.body)) < 2000
    return told | ({"content_type": trial.content_type, "body": trial.body} if small else {})


def answer_told(answer: Any) -> dict[str, Any]:
    raw = b"".join(answer.streaming_content) if answer.streaming else answer.content
    kind = answer.headers.get("Content-Type", "")
    headers = {name: answer[name] for name in HEADERS if name in answer}
    body = (json.loads(raw) if "json" in kind else raw.decode()) if raw else None
    return {"status": answer.status_code, "content_type": kind, "headers": headers, "body": body}


def write_down(found: list[tuple[Trial, dict[str, Any]]]) -> str:
    """The text of api_examples.json."""
    told: dict[str, dict[str, list[Any]]] = {}
    for trial, answer in found:
        told.setdefault(trial.operation, {}).setdefault(str(answer["status"]), []).append(answer)
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"
