"""A reader's own verdicts over HTTP: what changed since a version, all of them as a file, and such a file brought about."""

import re
from itertools import chain
from typing import Any

from django.http import HttpResponseBase, StreamingHttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import cache_control
from rest_framework.decorators import permission_classes, throttle_classes
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from articles.http import api_methods
from feedback.api import WriteLimit, reader_id
from feedback.exports import MEDIA_TYPES, export
from feedback.import_files import MAX_BYTES, BadFile, Line, read_lines
from feedback.imports import Outcome, Report, apply_lines
from feedback.limits import wait_to_import, wait_to_write
from feedback.models import Feedback, Verdict
from feedback.requests import BodyTooLarge, read_body
from feedback.services import fields_of

PAGE_SIZE = 200
# An answer must come before proxies and clients lose patience, so a long file takes several requests.
LINES_AT_ONCE = 1000
NUMBER = re.compile("[0-9]{1,18}")
KINDS = {media_type: kind for kind, media_type in MEDIA_TYPES.items()}

# Not a conditional request: `since` is one already, and no cache may keep what a reader said.
unstored = cache_control(no_store=True)


class ImportLimit(WriteLimit):
    """Those of every write, and one of its own."""

    def wait_for(self, request: Request) -> int | None:
        return wait_to_write(request) or wait_to_import(request)


# Changes


@unstored
@api_methods("GET", "HEAD")
@permission_classes([IsAuthenticated])
def changes(request: Request) -> Response:
    """The latest verdict on each article that changed after version `since`, in the order of the changes.

    A version is given out and committed under the lock of the reader's profile. So whoever sees one has seen all lower ones, and
    a client that goes on from the last version it saw misses nothing.
    """
    since = number_in(request, "since", 0)
    rows = list(Feedback.objects.filter(profile_id=reader_id(request), version__gt=since).order_by("version")[: PAGE_SIZE + 1])
    page = rows[:PAGE_SIZE]
    more = request.build_absolute_uri(f"{request.path}?since={page[-1].version}") if len(rows) > PAGE_SIZE else None
    return Response({"results": [change_of(row) for row in page], "next": more})


def change_of(row: Feedback) -> dict[str, Any]:
    liked, not_interested = fields_of(Verdict(row.verdict))
    said = {"article": row.article_id, "liked": liked, "not_interested": not_interested}
    return said | {"version": row.version, "marked_at": row.marked_at}


def number_in(request: Request, name: str, default: int) -> int:
    """The whole number of this name in the address. Raises ValidationError, also where the name stands twice."""
    texts = request.query_params.getlist(name)
    if texts and (len(texts) > 1 or not NUMBER.fullmatch(texts[0])):
        raise ValidationError({name: [_("Give one whole number, such as 0 or 17.")]})
    return int(texts[0]) if texts else default


# Export and import


@unstored
@api_methods("GET", "HEAD")
@permission_classes([IsAuthenticated])
def export_file(request: Request) -> HttpResponseBase:
    """All that this reader says now, oldest first, as a file that can be imported anywhere."""
    kinds = request.query_params.getlist("format") or ["json"]
    if len(kinds) > 1 or kinds[0] not in MEDIA_TYPES:
        raise ValidationError({"format": [_("Choose one of these: %(kinds)s.") % {"kinds": ", ".join(MEDIA_TYPES)}]})
    pieces = export(reader_id(request), kinds[0])
    first = next(pieces)  # now, while a database that is away can still be answered 503
    response = StreamingHttpResponse(chain([first], pieces), content_type=f"{MEDIA_TYPES[kinds[0]]}; charset=utf-8")
    name = f"devpick-verdicts-{timezone.localdate()}.{kinds[0]}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@unstored
@api_methods("POST")
@permission_classes([IsAuthenticated])
@throttle_classes([ImportLimit])
def import_file(request: Request) -> Response:
    """Bring the file's verdicts about, at most a thousand at once from `start`; `next` is where the same body goes then."""
    start = number_in(request, "start", 1)
    lines = lines_in(request)
    if not 1 <= start <= max(len(lines), 1):
        raise ValidationError({"start": [_("The file has %(count)s verdicts; start with one of them.") % {"count": len(lines)}]})
    report = Report(len(lines))
    for outcome in apply_lines(reader_id(request), lines[start - 1 : start - 1 + LINES_AT_ONCE]):
        report.add(outcome)
    return Response(report_json(report, address_after(request, start + report.done, len(lines))))


def lines_in(request: Request) -> list[Line]:
    """Raises as `read_body` does, and ParseError for a file of which nothing can be used."""
    too_large = BodyTooLarge(_("The body is larger than %(size)s MiB. Send it in parts.") % {"size": MAX_BYTES // 2**20})
    kind, _parameters, raw = read_body(request._request, KINDS, MAX_BYTES, too_large)
    try:
        return read_lines(raw, KINDS.get(kind, "json"))
    except BadFile as error:
        raise ParseError(str(error)) from error


def address_after(request: Request, start: int, total: int) -> str | None:
    return request.build_absolute_uri(f"{request.path}?start={start}") if start <= total else None


def report_json(report: Report, more: str | None) -> dict[str, Any]:
    counts = {kind: report.counts[kind] for kind in ("changed", "unchanged", "unknown", "invalid")}
    return {"total": report.total, **counts, "remarks": [remark_json(remark) for remark in report.remarks], "next": more}


def remark_json(remark: Outcome) -> dict[str, Any]:
    return {"number": remark.number, "kind": remark.kind, "reason": remark.reason}
