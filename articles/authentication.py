"""Who asks the API: the owner of a token, else the reader of the session, with the CSRF token and from a page of their own."""

import logging
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import BadRequest, SuspiciousOperation
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.multipartparser import MultiPartParserError
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from knox.auth import TokenAuthentication as KnoxTokenAuthentication
from knox.crypto import hash_token
from rest_framework import authentication, exceptions
from rest_framework.request import Request

from articles.models import ApiToken, User

logger = logging.getLogger(__name__)

NOTE_AGAIN_SECONDS = 60
UNREADABLE_FORM = (BadRequest, SuspiciousOperation, MultiPartParserError)


class CsrfFailed(exceptions.PermissionDenied):
    default_code = "csrf_failed"
    default_detail = _("The CSRF token is missing or wrong. Read the cookie again and send the request once more.")


class ReaderChanged(exceptions.PermissionDenied):
    default_code = "reader_changed"
    default_detail = _("Another reader is logged in now. Nothing was saved; reload the page.")


class TokenAuthentication(KnoxTokenAuthentication):
    """knox makes and stores the tokens. Its look-up loads all tokens and deletes expired ones on a GET; ours is one statement."""

    def authenticate_credentials(self, token: bytes) -> tuple[User, ApiToken]:
        try:
            digest = hash_token(token.decode("ascii"))
            found = ApiToken.objects.select_related("user").get(digest=digest)
        except (UnicodeDecodeError, ApiToken.DoesNotExist):
            raise exceptions.AuthenticationFailed(_("Invalid token."), "not_authenticated") from None
        if found.expiry is not None and found.expiry < timezone.now():
            raise exceptions.AuthenticationFailed(_("This token has expired."), "not_authenticated")
        answer = self.validate_user(found)
        if found.last_used_on != timezone.localdate():
            note_use(found)
        return answer


def note_use(token: ApiToken) -> None:
    """Write down the day of use, on the token's first request of the day.

    Here no transaction is open yet, so a save never holds or waits for this row. Knowing the day is not worth a request: where
    the database cannot write, the request goes on, and the token is left alone for a minute.
    """
    today = timezone.localdate()
    if not cache.add(f"token-used:{token.pk}:{today}", True, NOTE_AGAIN_SECONDS):
        return
    try:
        ApiToken.objects.filter(pk=token.pk).update(last_used_on=today)
    except DatabaseError as error:
        logger.warning("the day of use of a token was not written: %s", error)


class SessionAuthentication(authentication.SessionAuthentication):
    """Django's session, for the reader the page was rendered for (`X-DevPick-Reader`) and nobody else."""

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        user = getattr(request._request, "user", None)
        if user is None or not user.is_active:
            return None
        named = request.headers.get("X-DevPick-Reader")
        if named is not None and named != str(user.pk):
            raise ReaderChanged
        self.enforce_csrf(request)
        return user, None

    def enforce_csrf(self, request: Request) -> None:
        """By header, or by a form's field for old clients. On Django's request: DRF's own would parse the body first."""
        keep_body_readable(request._request, settings.API_MAX_BODY_BYTES)
        check = authentication.CSRFCheck(answer_nothing)
        check.process_request(request._request)
        if check.process_view(request._request, answer_nothing, (), {}):
            raise CsrfFailed


def answer_nothing(request: HttpRequest) -> HttpResponse:
    """The CSRF check wants a view to stand before; ours only asks it for its opinion."""
    return HttpResponse()


def keep_body_readable(request: HttpRequest, max_bytes: int) -> None:
    """Django's CSRF check looks into forms and would use the body up.

    A small body is read now and can be read again. Of a large one (it will be refused by its length) nothing is read: `read(0)`
    makes Django take the form as unreadable. A form that Django refuses holds no CSRF token; the header may, and what is wrong
    with the form is for the view to say.
    """
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not (length.isascii() and length.isdigit() and int(length) <= max_bytes):
        request.read(0)
        return
    request.body  # noqa: B018
    try:
        request.POST  # noqa: B018
    except UNREADABLE_FORM:
        request.POST = QueryDict()
