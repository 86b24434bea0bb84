"""Reading a feedback request strictly: all of the body or none of it, and never a toggle by accident.

Presence is decided on the raw input. Two ordinary parsers would betray an old client here: a form without the field reads as
False (the toggle would un-like), and a body cut off by the network reads as a shorter form, or as an empty one (a toggle).
"""

import json
import re
from collections.abc import Container
from email.message import Message
from email.parser import BytesParser
from typing import Any
from urllib.parse import parse_qsl

from django.conf import settings
from django.http import HttpRequest
from django.utils.http import parse_header_parameters
from django.utils.translation import gettext_lazy as _
from rest_framework import exceptions

MAX_FORM_FIELDS = 100
# Of a body's `charset`: JSON is UTF-8, a form ASCII. In another one the fields would go by names that nobody knows.
READABLE_CHARSETS = ("", "utf-8", "utf8", "us-ascii")

Pairs = list[tuple[str, Any]]  # as sent: a name may stand twice, and the caller decides what that means


class LengthRequired(exceptions.APIException):
    status_code = 411
    default_code = "length_required"
    default_detail = _("Send the body with a Content-Length, not in chunks: a cut one would look whole.")


class BodyTooLarge(exceptions.APIException):
    status_code = 413
    default_code = "body_too_large"
    default_detail = _("The body is larger than 4 KiB. Send only the fields of the verdict.")


def read_pairs(request: HttpRequest, max_bytes: int = settings.API_MAX_BODY_BYTES) -> Pairs:
    """The members of the body in the order they were sent; an empty body of any type has none.

    Raises LengthRequired, BodyTooLarge, UnsupportedMediaType, ParseError, in this order.
    """
    kind, parameters, raw = read_body(request, PARSERS, max_bytes, BodyTooLarge())
    return PARSERS[kind](raw, parameters) if raw else []


def read_body(
    request: HttpRequest, kinds: Container[str], max_bytes: int, too_large: BodyTooLarge
) -> tuple[str, dict[str, str], bytes]:
    """The whole body, its media type (one of `kinds`; an empty body may have any) and that type's parameters."""
    length = content_length(request)
    if length > max_bytes:
        raise too_large
    kind, parameters = parse_header_parameters(request.META.get("CONTENT_TYPE", ""))
    if length and kind not in kinds:
        raise exceptions.UnsupportedMediaType(kind or "without a Content-Type")
    if length and (charset := parameters.get("charset", "").lower()) not in READABLE_CHARSETS:
        raise exceptions.UnsupportedMediaType(charset, _("Send the body in UTF-8, not in %(charset)s.") % {"charset": charset})
    return kind, parameters, whole_body(request, length)


def content_length(request: HttpRequest) -> int:
    """Bytes. Django reads a chunked body as empty and a broken length as 0: both would turn a lost body into a toggle."""
    length = request.META.get("CONTENT_LENGTH") or ""
    if not length and request.META.get("HTTP_TRANSFER_ENCODING"):
        raise LengthRequired
    if length and not (length.isascii() and length.isdigit()):
        raise exceptions.ParseError(_("Content-Length is not a number."))
    return int(length or 0)


def whole_body(request: HttpRequest, length: int) -> bytes:
    raw = request.read(length) if length else b""
    if len(raw) < length:
        raise exceptions.ParseError(_("The body is shorter than its Content-Length. Nothing was saved; send it again."))
    return raw


def parse_json(raw: bytes, parameters: dict[str, str]) -> Pairs:
    """Objects are read as tuples of pairs, arrays as lists: that tells them apart and keeps doubled names."""
    try:
        body = json.loads(raw.decode(), object_pairs_hook=tuple, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        raise exceptions.ParseError(_("The body is not valid JSON.")) from None
    if not isinstance(body, tuple):
        raise exceptions.ParseError(_("The body must be a JSON object."))
    return list(body)


def refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def parse_form(raw: bytes, parameters: dict[str, str]) -> Pairs:
    try:
        pairs = parse_qsl(raw.decode("ascii"), True, True, errors="strict", max_num_fields=MAX_FORM_FIELDS)
    except ValueError:
        pairs = []
    if not pairs or b"\0" in raw:  # which is ASCII, and every second byte of UTF-16
        raise exceptions.ParseError(_("The body is not a valid form."))
    return [(name, from_text(name, value)) for name, value in pairs]


def parse_multipart(raw: bytes, parameters: dict[str, str]) -> Pairs:
    """By the standard library's parser, which names its doubts; one that skips what it cannot read would make toggles."""
    boundary = parameters.get("boundary", "").encode("latin-1", "replace")
    if boundary and raw.strip() == b"--%s--" % boundary:
        return []
    message = BytesParser().parsebytes(b'Content-Type: multipart/form-data; boundary="%s"\r\n\r\n' % boundary + raw)
    parts: Any = message.get_payload() if message.is_multipart() else []
    if message.defects or not boundary or not parts or len(parts) > MAX_FORM_FIELDS:
        raise exceptions.ParseError(_("The body is not a complete multipart form."))
    return [part_pair(part) for part in parts]


def part_pair(part: Message) -> tuple[str, Any]:
    name = part.get_param("name", header="content-disposition")
    if part.defects or part.is_multipart() or part.get_content_disposition() != "form-data" or not isinstance(name, str):
        raise exceptions.ParseError(_("A part of the multipart form has no name or is broken."))
    if part.get_filename() is not None:
        return name, None  # a file is never a value
    content: Any = part.get_payload(decode=True)
    return name, from_text(name, content.decode("utf-8", "replace"))


def from_text(name: str, text: str) -> Any:
    """A form has only texts; anything but the exact word or digits stays a text and is refused as a value."""
    if name == "seq":
        return int(text) if re.fullmatch(r"[0-9]{1,16}", text) else text
    return {"true": True, "false": False}.get(text, text)


PARSERS = {
    "application/json": parse_json,
    "application/x-www-form-urlencoded": parse_form,
    "multipart/form-data": parse_multipart,
}
