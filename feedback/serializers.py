"""From the members of a request to a wish: strict values, and every doubt an error. It saves nothing."""

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from feedback.models import Verdict
from feedback.requests import Pairs
from feedback.verdicts import Order, Wish

FIELDS = (Verdict.LIKED.value, Verdict.NOT_INTERESTED.value)
KNOWN = (*FIELDS, "client", "seq")
MAX_SEQ = 2**53 - 1
CLIENT = re.compile(r"[A-Za-z0-9_-]{8,64}")


@dataclass(frozen=True)
class FeedbackRequest:
    """What a valid request asks for; `given` are its known members, absent ones staying absent."""

    wish: Wish
    order: Order | None
    given: dict[str, Any]


def check_request(pairs: Pairs, query: QueryDict, *, field: Verdict, may_toggle: bool) -> FeedbackRequest:
    """Raises ValidationError with the errors by field. Nothing is coerced: a doubtful value is an error, never a toggle."""
    given = known_members(pairs)
    errors = {name: [_("Send this field in the body, not in the address.")] for name in KNOWN if name in query}
    errors |= verdict_errors(given, field, may_toggle) | order_errors(given)
    if errors:
        raise ValidationError(errors)
    order = Order(given["client"], given["seq"]) if "client" in given else None
    return FeedbackRequest(wish_of(given, field), order, given)


def check_read(pairs: Pairs) -> bool:
    """The mark that a request asks for. Raises ValidationError."""
    asked = [value for name, value in pairs if name == "read"]
    if len(asked) != 1 or not isinstance(asked[0], bool):
        raise ValidationError({"read": [_("Send this field once: the state you want, true or false.")]})
    return asked[0]


def known_members(pairs: Pairs) -> dict[str, Any]:
    """Unknown members are ignored; a known one that stands twice has no meaning."""
    known = [(name, value) for name, value in pairs if name in KNOWN]
    given = dict(known)
    if len(given) < len(known):
        raise ValidationError({name: [_("Send this field once.")] for name in given if [n for n, _v in known].count(name) > 1})
    return given


def verdict_errors(given: dict[str, Any], field: Verdict, may_toggle: bool) -> dict[str, list[str]]:
    errors = {name: [_("Send true or false.")] for name in FIELDS if name in given and not isinstance(given[name], bool)}
    if not errors and given.get("liked") and given.get("not_interested"):
        errors["not_interested"] = [_("An article cannot be liked and not interesting at once.")]
    toggles = may_toggle and not any(name in given for name in FIELDS)
    if field.value not in given and not toggles:
        errors[field.value] = [_("This field is required: the state you want, true or false.")]
    return errors


def order_errors(given: dict[str, Any]) -> dict[str, list[str]]:
    errors = {}
    if ("client" in given) != ("seq" in given):
        errors["seq" if "client" in given else "client"] = [_("Send both client and seq, or neither.")]
    if "client" in given and not (isinstance(given["client"], str) and CLIENT.fullmatch(given["client"])):
        errors["client"] = [_("Send 8 to 64 characters of A-Z, a-z, 0-9, _ and -.")]
    if "seq" in given and not (type(given["seq"]) is int and 0 <= given["seq"] <= MAX_SEQ):
        errors["seq"] = [_("Send a whole number from 0 to 2^53-1.")]
    return errors


def wish_of(given: dict[str, Any], field: Verdict) -> Wish:
    asked = {name: given[name] for name in FIELDS if name in given}
    return Wish(**asked) if asked else Wish(toggle=field)


def fingerprint(endpoint: Verdict, article_id: int, request: FeedbackRequest) -> str:
    """SHA-256 (hex) over endpoint, article and the validated input; spaces and the order of members do not count."""
    content = json.dumps([endpoint.value, article_id, request.given], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(content.encode()).hexdigest()
