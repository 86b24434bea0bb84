"""Idempotency-Key: the same key gets the same answer, and its effect happens once.

Key, verdict and saved reply commit in one transaction, and the unique index is the lock: a second request with the key waits for
the first like any writer. What fails rolls back with its key, so it can be sent again.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from django.db import connection, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from rest_framework import exceptions

from feedback.models import IdempotencyKey

LIFE = timedelta(hours=24)
FIND_KEY = "SELECT * FROM feedback_idempotencykey WHERE reader_id = %s AND key = %s"
LOCK_KEY = " FOR NO KEY UPDATE"
LOCK_READER = "SELECT 1 FROM articles_user WHERE id = %s FOR KEY SHARE"
CLAIM_KEY = """
INSERT INTO feedback_idempotencykey (reader_id, key, fingerprint, headers, body, created_at)
VALUES (%s, %s, '', '{}', '', CURRENT_TIMESTAMP) ON CONFLICT (reader_id, key) DO NOTHING
"""
KEY = re.compile(r'("?)([A-Za-z0-9._:~-]{8,128})\1')


class KeyInvalid(exceptions.APIException):
    status_code = 400
    default_code = "idempotency_key_invalid"
    default_detail = _("Send one Idempotency-Key of 8 to 128 characters of A-Z, a-z, 0-9 and . _ : ~ -")


class KeyReused(exceptions.APIException):
    status_code = 422
    default_code = "idempotency_key_reused"
    default_detail = _("This Idempotency-Key was used for another request. Send a new key with a new request.")


@dataclass(frozen=True)
class Reply:
    """An answer as it was sent. `body` is text: a replay repeats its exact bytes."""

    status: int
    body: str
    headers: dict[str, str] = field(default_factory=dict)
    replayed: bool = False


def parse_key(header: str | None) -> str | None:
    """The key without its quotes, None if none was sent. Raises KeyInvalid."""
    if header is None:
        return None
    match = KEY.fullmatch(header)
    if match is None:
        raise KeyInvalid
    return match[2]


def answer_once(*, profile_id: int, key: str, fingerprint: str, action: Callable[[], Reply]) -> Reply:
    """The reply saved under this reader's key, or `action`'s, saved together with its effect.

    `profile_id` is the reader's user id. Raises KeyReused, and whatever `action` raises (then nothing is kept).
    """
    if (row := find_key(profile_id, key)) and is_alive(row):
        return replay(row, fingerprint)
    with transaction.atomic():
        row = locked_key(profile_id, key)
        if row.status is not None and is_alive(row):
            return replay(row, fingerprint)
        return save_reply(row, fingerprint, action())


def find_key(profile_id: int, key: str, lock: str = "") -> IdempotencyKey | None:
    return next(iter(IdempotencyKey.objects.raw(FIND_KEY + lock, [profile_id, key])), None)


def is_alive(row: IdempotencyKey) -> bool:
    return row.created_at > timezone.now() - LIFE


def locked_key(profile_id: int, key: str) -> IdempotencyKey:
    """The key's row, made if missing. One without a status is new: no other transaction can have committed it."""
    has_row_locks = connection.features.has_select_for_no_key_update  # SQLite's transaction is a lock itself
    if has_row_locks:
        # Its reference would lock the reader only at the commit, after the rows; a deletion locks the reader first.
        with connection.cursor() as cursor:
            cursor.execute(LOCK_READER, [profile_id])
    while True:
        with connection.cursor() as cursor:
            cursor.execute(CLAIM_KEY, [profile_id, key])
        if row := find_key(profile_id, key, LOCK_KEY if has_row_locks else ""):  # else it was pruned between the two statements
            return row


def replay(row: IdempotencyKey, fingerprint: str) -> Reply:
    if row.fingerprint != fingerprint:
        raise KeyReused
    assert row.status is not None
    return Reply(row.status, row.body, row.headers, replayed=True)


def save_reply(row: IdempotencyKey, fingerprint: str, reply: Reply) -> Reply:
    row.fingerprint, row.created_at = fingerprint, timezone.now()
    row.status, row.body, row.headers = reply.status, reply.body, reply.headers
    row.save(update_fields=["fingerprint", "created_at", "status", "body", "headers"])
    return reply
