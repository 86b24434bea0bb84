"""Every failure in words: `application/problem+json` (RFC 9457) below /api/, a page elsewhere; never a stack trace."""

import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.core.signals import got_request_exception
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt
from redis.exceptions import ConnectionError as CacheAway
from redis.exceptions import TimeoutError as CacheSlow
from rest_framework import exceptions
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request

logger = logging.getLogger(__name__)

RETRY_AFTER_SECONDS = 2
# Away, busy, locked or out of connections; a cache that several processes share can be away like the database.
AWAY = (OperationalError, InterfaceError, CacheAway, CacheSlow)


class Unavailable(exceptions.APIException):
    status_code = 503
    default_code = "unavailable"
    default_detail = "The database or the cache is away or busy. Nothing was lost; send the request again."
    wait = RETRY_AFTER_SECONDS


class IgnoreAccept(BaseContentNegotiation):
    """The API speaks JSON, whatever `Accept` asks for."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type


def problem(status: int, code: str, detail: str, errors: dict[str, Any] | None = None) -> JsonResponse:
    """One problem document; `code` is stable, `detail` is for people."""
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail, "code": code}
    response = JsonResponse(body | ({"errors": errors} if errors else {}), status=status, content_type="application/problem+json")
    response["Cache-Control"] = "no-store"
    return response


def as_api_exception(error: Exception) -> exceptions.APIException:
    """The API's name for an exception; what nobody foresaw is logged and stays a 500."""
    if isinstance(error, exceptions.APIException):
        return error
    if isinstance(error, Http404):
        return exceptions.NotFound()
    if isinstance(error, PermissionDenied):
        return exceptions.PermissionDenied()
    if isinstance(error, UnreadablePostError):
        return exceptions.ParseError("The body could not be read to its end. Nothing was saved; send it again.")
    if isinstance(error, SuspiciousOperation):
        return exceptions.ParseError("The request has too many parts, or parts that no client sends. Nothing was saved.")
    if isinstance(error, AWAY):
        logger.warning("database or cache unavailable: %s", error)
        return Unavailable()
    logger.error("unforeseen failure below /api/", exc_info=error)
    return exceptions.APIException("Something went wrong on our side.", "error")


def problem_response(error: Exception, context: dict[str, Any]) -> HttpResponse:
    """The exception handler of every API view."""
    failure = as_api_exception(error)
    if failure.status_code == 500:
        got_request_exception.send(sender=None, request=context["request"])
    response = problem(failure.status_code, code_of(failure), detail_of(failure), errors_of(failure))
    if challenge := getattr(failure, "auth_header", None):
        response["WWW-Authenticate"] = challenge
    if (wait := getattr(failure, "wait", None)) is not None:
        response["Retry-After"] = str(int(-(-wait // 1)))
    if allowed := getattr(context.get("view"), "allowed_methods", None) if failure.status_code == 405 else None:
        response["Allow"] = ", ".join(allowed)
    return response


def code_of(failure: exceptions.APIException) -> str:
    codes = failure.get_codes()
    if failure.status_code == 401:
        return "not_authenticated"  # a wrong token is no other case than none
    return codes if isinstance(codes, str) else "invalid"


def detail_of(failure: exceptions.APIException) -> str:
    return str(failure.detail) if isinstance(failure.detail, str) else "The request is not valid; see errors."


def errors_of(failure: exceptions.APIException) -> dict[str, Any] | None:
    return failure.detail if isinstance(failure.detail, dict) else None


@csrf_exempt  # else a PUT to a wrong address would be answered by a page about forms
def api_not_found(request: HttpRequest) -> HttpResponse:
    return problem(404, "not_found", "There is nothing at this address.")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "404.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    if request.path.startswith("/api/"):
        return problem(500, "error", "Something went wrong on our side.")
    return render(request, "500.html", status=500)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return render(request, "403_csrf.html", status=403)


def unavailable_page(request: HttpRequest) -> HttpResponse:
    response = render(None, "503.html", status=503)
    response["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


class UnavailableMiddleware:
    """A page whose database is away or busy says so, and when to come back."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, AWAY):
            return None
        logger.warning("database or cache unavailable: %s", error)
        return unavailable_page(request)
