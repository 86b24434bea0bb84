"""The site, and beside it the same view doing nothing: same authentication, same permission, no read and no write."""

from typing import Any

from django.http import HttpResponse
from django.urls import include, path
from rest_framework.request import Request

from feedback.api import FeedbackView, respond
from feedback.idempotency import Reply

ANSWER = (
    '{"article": 7, "liked": true, "not_interested": false, "like_count": 42, "version": 17, "changed": true, "stale": false}'
)


class NoopView(FeedbackView):
    throttle_classes: list[Any] = []

    def save(self, request: Request, article_id: int, *, may_toggle: bool) -> HttpResponse:
        return respond(Reply(200, ANSWER))


urlpatterns = [path("noop/<article_id>/", NoopView.as_view()), path("", include("devpick.urls"))]
