"""SQLite has one writer at a time: a save that waits too long is told so, and nothing is lost. PostgreSQL: test_under_fire.py."""

from functools import partial

import pytest
from django.db import connection, connections

from articles.models import Article, User
from feedback.models import Feedback
from tests.concurrency import at_once
from tests.conftest import client_of

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL locks rows, not the database"),
]


def test_past_the_wait_a_writer_is_answered_503_and_a_reader_is_not_held_up(
    reader: User, other_reader: User, article: Article, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", 0.2)  # seconds; 5 in production
    url, api, other_api = f"/api/articles/{article.pk}/like/", client_of(reader), client_of(other_reader)
    holder = connections.create_connection("default")
    try:
        with holder.cursor() as cursor:
            cursor.execute("BEGIN IMMEDIATE")
            saved, read = at_once([partial(api.put, url, {"liked": True}, format="json"), partial(other_api.get, url)])
    finally:
        holder.close()
    assert (saved.status_code, saved.json()["code"], saved["Retry-After"]) == (503, "unavailable", "2")
    assert (read.status_code, Feedback.objects.count()) == (200, 0)
    assert api.put(url, {"liked": True}, format="json").json()["changed"] is True
