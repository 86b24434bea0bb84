"""Feedback over HTTP: who asks, for which article, what for; then `apply_feedback`, once."""

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import cast

from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist
from django.db import IntegrityError
from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from rest_framework.exceptions import NotAuthenticated, NotFound
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from articles.models import User
from feedback.idempotency import Reply, answer_once, parse_key
from feedback.limits import wait_to_write
from feedback.models import Verdict
from feedback.reading import mark_read, read_at
from feedback.requests import read_pairs
from feedback.serializers import FeedbackRequest, check_read, check_request, fingerprint
from feedback.services import apply_feedback, current_state, fields_of

toggles = logging.getLogger("feedback.toggles")


def is_write(request: Request, view: APIView) -> bool:
    """The framework asks for limits before it refuses a method; what it will refuse is no write."""
    return request.method in ("PUT", "POST") and request.method in view.allowed_methods


class WriteLimit(BaseThrottle):
    """Writes of one reader, and of one address, in a minute."""

    seconds: int | None = None

    def allow_request(self, request: Request, view: APIView) -> bool:
        if is_write(request, view):
            self.seconds = self.wait_for(request)
        return self.seconds is None

    def wait_for(self, request: Request) -> int | None:
        return wait_to_write(request)

    def wait(self) -> float | None:
        return self.seconds


class FeedbackView(APIView):
    """One verdict of one reader: GET tells it, PUT and POST with the field bring it about, POST without it toggles."""

    http_method_names = ["get", "head", "put", "post"]
    permission_classes = [IsAuthenticated]
    throttle_classes = [WriteLimit]
    field: Verdict = Verdict.NONE

    def get(self, request: Request, article_id: str) -> HttpResponse:
        with missing_as_not_found(request):
            state = current_state(profile_id=reader_id(request), article_id=int(article_id))
        liked, not_interested = fields_of(state.verdict)
        counts = {"like_count": state.like_rows, "version": state.version}
        told = {"article": int(article_id), "liked": liked, "not_interested": not_interested, **counts}
        return respond(Reply(200, json.dumps(told)))

    def put(self, request: Request, article_id: str) -> HttpResponse:
        return self.save(request, int(article_id), may_toggle=False)

    def post(self, request: Request, article_id: str) -> HttpResponse:
        return self.save(request, int(article_id), may_toggle=True)

    def save(self, request: Request, article_id: int, *, may_toggle: bool) -> HttpResponse:
        pairs = read_pairs(request._request)
        asked = check_request(pairs, request.query_params, field=self.field, may_toggle=may_toggle)
        key = parse_key(request.headers.get("Idempotency-Key"))
        headers = toggle_headers(request) if asked.wish.toggle else {}

        def act() -> Reply:
            result = apply_feedback(profile_id=reader_id(request), article_id=article_id, wish=asked.wish, order=asked.order)
            return Reply(200, json.dumps(asdict(result)), headers)

        with missing_as_not_found(request):
            reply = act() if key is None else once(request, article_id, asked, key, self.field, act)
        if asked.wish.toggle and not reply.replayed:
            log_toggle(request)
        return respond(reply)


class LikeView(FeedbackView):
    field = Verdict.LIKED


class NotInterestedView(FeedbackView):
    field = Verdict.NOT_INTERESTED


class ReadView(APIView):
    """One reader's read mark on one article: GET tells it, PUT brings it about."""

    http_method_names = ["get", "head", "put"]
    permission_classes = [IsAuthenticated]
    throttle_classes = [WriteLimit]

    def get(self, request: Request, article_id: str) -> HttpResponse:
        with missing_as_not_found(request):
            read = read_at(profile_id=reader_id(request), article_id=int(article_id)) is not None
        return respond(Reply(200, json.dumps({"article": int(article_id), "read": read})))

    def put(self, request: Request, article_id: str) -> HttpResponse:
        read = check_read(read_pairs(request._request))
        with missing_as_not_found(request):
            mark = mark_read(profile_id=reader_id(request), article_id=int(article_id), read=read)
        return respond(Reply(200, json.dumps(asdict(mark))))


def reader_id(request: Request) -> int:
    """The asking reader's user id; IsAuthenticated has refused everybody else."""
    return cast(int, request.user.pk)


def once(request: Request, article_id: int, asked: FeedbackRequest, key: str, field: Verdict, act: Callable[[], Reply]) -> Reply:
    content = fingerprint(field, article_id, asked)
    return answer_once(profile_id=reader_id(request), key=key, fingerprint=content, action=act)


@contextmanager
def missing_as_not_found(request: Request) -> Iterator[None]:
    """What is deleted between the read and the commit (only foreign keys can fail here) is as missing as what never was."""
    try:
        yield
    except (ObjectDoesNotExist, IntegrityError):
        if not User.objects.filter(pk=reader_id(request)).exists():
            raise NotAuthenticated from None
        raise NotFound(_("This article is not available, or no longer.")) from None


def respond(reply: Reply) -> HttpResponse:
    response = HttpResponse(reply.body, status=reply.status, content_type="application/json", headers=reply.headers)
    response["Cache-Control"] = "no-store"
    if reply.replayed:
        response["Idempotency-Replayed"] = "true"
    return response


def toggle_headers(request: Request) -> dict[str, str]:
    """Tells the author of an old client since when toggles are deprecated (RFC 9745), and where to read on."""
    notes = request.build_absolute_uri(reverse("toggle-upgrade-notes"))
    link = f'<{notes}>; rel="deprecation"; type="text/html"'
    return {"Deprecation": f"@{settings.TOGGLE_DEPRECATED_AT}", "Link": link}


def log_toggle(request: Request) -> None:
    """One line per toggle: the operator sees which old clients are left."""
    names = ("User-Agent", "X-Client-Version")
    told = [f"{name}: {printable(request.headers[name])}" for name in names if name in request.headers]
    toggles.info("legacy toggle by reader %s; %s", request.user.pk, "; ".join(told) or "no User-Agent")


def printable(text: str) -> str:
    """At most 200 characters, none of which could forge another log line."""
    return "".join(character for character in text if character.isprintable())[:200]
