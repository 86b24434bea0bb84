"""What the page's script is told: who reads, how to repeat, where to send, and every sentence it may show."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext


def page_data(request: HttpRequest) -> dict[str, Any]:
    """Data for the `page-data` element; the script reads nothing else but the cards."""
    return {
        "reader": request.user.pk,
        "csrf_cookie": settings.CSRF_COOKIE_NAME,
        "policy": settings.PAGE_RETRY_POLICY.in_milliseconds(),
        "urls": {
            "liked": address("api-like") + "/",
            "not_interested": address("api-not-interested") + "/",
            "states": reverse("api-articles") + "/",
            "read": address("api-read") + "/",
            "form": address("article-feedback"),
        },
        "texts": texts(),
        "likes": {"one": ngettext("like", "likes", 1), "other": ngettext("like", "likes", 2)},
    }


def address(name: str) -> str:
    """The address of this view for any article, with `{article}` in place of its id."""
    return reverse(name, args=[0]).replace("/0/", "/{article}/")


def texts() -> dict[str, str]:
    """Words of the note row: at most 34 Latin or 20 Japanese characters, so that no card grows."""
    return {
        "saving": _("Saving…"),
        "saved": _("Saved."),
        "failed": _("Not confirmed."),
        "wait_seconds": _("Not confirmed. Try again in {n} s."),
        "wait_minutes": _("Not confirmed. Wait {n} min."),
        "offline": _("Offline. Sent when you are back."),
        "unconfirmed": _("Not confirmed. It may be saved."),
        "login": _("Not saved yet."),
        "refused": _("Not saved. The server refused it."),
        "gone": _("No longer available."),
        "reader": _("Another reader is logged in now."),
        "changed": _("Changed in the meantime."),
        "hidden": _("Hidden. Similar ones sink."),
        "retry": _("Retry"),
        "reload": _("Reload"),
        "log_in": _("Log in to save"),
        "undo": _("Undo"),
    }
