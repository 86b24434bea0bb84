"""How often a reader or an address may write, and try the forms of an account."""

import unicodedata
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.translation import gettext as _
from rest_framework.request import Request

from articles.addresses import client_address
from articles.limits import seconds_to_wait
from articles.pages import problem_page

View = Callable[..., HttpResponseBase]


def wait_to_write(request: HttpRequest | Request) -> int | None:
    """Seconds until this reader, and this address, may write again; None if now."""
    reader = request.user.pk
    by_reader = seconds_to_wait("write-reader", reader) if reader is not None else None
    return by_reader or seconds_to_wait("write-address", client_address(request))


def wait_to_import(request: HttpRequest | Request) -> int | None:
    """One import stands for many writes, so there are fewer of them."""
    reader = request.user.pk
    return seconds_to_wait("import-reader", client_address(request) if reader is None else reader)


def wait_for_account_form(request: HttpRequest) -> int | None:
    """Guessing is slow from one address, and slow for one account from many addresses."""
    account = account_of(request)
    by_account = seconds_to_wait("login-name", account) if account else None
    return by_account or seconds_to_wait("account-address", client_address(request))


def account_of(request: HttpRequest) -> str:
    """Whose account a form is for: the name as log-in looks it up (its form strips blanks and folds wide letters, too), the
    reader who is logged in, or the address that a mail would go to."""
    names = (request.POST.get("username"), str(request.user.pk or ""), request.POST.get("email"))
    name = next((name.strip() for name in names if name and name.strip()), "")
    return unicodedata.normalize("NFKC", name)[:254].casefold()


def limited(wait: Callable[[HttpRequest], int | None]) -> Callable[[View], View]:
    """A page view that answers 429, with the time to wait, where `wait` says so. Reading is never limited."""

    def decorate(view: View) -> View:
        @wraps(view)
        def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            seconds = wait(request) if request.method == "POST" else None
            return too_many(request, seconds) if seconds is not None else view(request, *args, **kwargs)

        return answer

    return decorate


def too_many(request: HttpRequest, seconds: int) -> HttpResponse:
    detail = _("Nothing was saved. Please try again in %(seconds)s seconds.") % {"seconds": seconds}
    response = problem_page(request, 429, _("Too many tries in a short time"), detail)
    response["Retry-After"] = str(seconds)
    return response
