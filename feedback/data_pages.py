"""The page where a reader takes their verdicts along and brings them in again. It works without JavaScript."""

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from django.contrib.auth.decorators import login_required
from django.core.files.uploadedfile import UploadedFile
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods
from rest_framework.exceptions import APIException

from articles.models import User
from articles.pages import problem_page
from feedback.import_files import MAX_BYTES, MAX_LINES, BadFile, Line, read_lines
from feedback.imports import Report, apply_lines
from feedback.requests import content_length

FORM_BYTES = 64 * 1024  # what a form has beside its file
LINES_A_STEP = 100
HERE = "<!-- the import goes here -->"


@csrf_exempt
def own_data(request: HttpRequest) -> HttpResponseBase:
    """The CSRF check would first take the whole upload in, however large."""
    try:
        length = content_length(request)
    except APIException as error:
        return problem_page(request, error.status_code, _("This file could not be read"), str(error.detail))
    if length > MAX_BYTES + FORM_BYTES:
        detail = _("Send a file of at most %(size)s MiB. Nothing was saved.") % {"size": MAX_BYTES // 2**20}
        return problem_page(request, 413, _("This file is too large"), detail)
    return export_or_import(request)


@csrf_protect
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def export_or_import(request: HttpRequest) -> HttpResponseBase:
    assert isinstance(request.user, User)
    if request.method != "POST":
        return form_page(request)
    try:
        lines = lines_of(request.FILES.get("file"))
    except BadFile as error:
        return form_page(request, str(error))
    return StreamingHttpResponse(import_page(request, request.user.pk, lines))


def form_page(request: HttpRequest, error: str = "") -> HttpResponse:
    context = {"error": error, "max_lines": MAX_LINES, "max_mib": MAX_BYTES // 2**20}
    return render(request, "account/data.html", context, status=400 if error else 200)


def lines_of(file: UploadedFile | None) -> list[Line]:
    """Raises BadFile."""
    if file is None:
        raise BadFile(_("Choose a file first."))
    kind = "csv" if PurePath(file.name or "").suffix.lower() == ".csv" else "json"
    return read_lines(file.read(MAX_BYTES + 1), kind)


def import_page(request: HttpRequest, profile_id: int, lines: Sequence[Line]) -> Iterator[str]:
    """The page in pieces: its beginning at once, a line of progress now and then, the report at the end.

    Each line of progress takes the place of the one before, by the stylesheet alone. The database may go away in the middle, and
    the head of the answer is long sent then: the report says so.
    """
    head, tail = render_to_string("account/import.html", {"here": HERE}, request).split(HERE)
    yield head
    report, stopped = Report(len(lines)), False
    try:
        for outcome in apply_lines(profile_id, lines):
            report.add(outcome)
            if report.done % LINES_A_STEP == 0:
                yield render_to_string("account/_progress.html", {"report": report})
    except (OperationalError, InterfaceError):
        stopped = True
    yield render_to_string("account/_report.html", {"report": report, "counts": report.counts, "stopped": stopped})
    yield tail
