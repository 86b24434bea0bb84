"""Where "More" goes on, as text in an address: opaque to the reader, and untrusted when it comes back."""

import base64
import binascii
import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate, pairwise
from typing import Any, Self

from articles.ordering import RUN

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
MAX_ID = 2**63 - 1
# A short text can unpack to gigabytes.
MAX_UNPACKED_BYTES = 64 * 1024
RANKED_VIEW = "for-you"
ORDER_NAME = re.compile(r"(hot|[0-9]{1,19}):[0-9a-f.]{1,48}")


@dataclass(frozen=True)
class RankedPlace:
    """In the order of this name, below the articles `shown`; `last` are the last of them, which the next run of ten begins with.

    What was shown is named and not counted: it holds for another order too, should this one be gone.
    """

    order: str
    shown: frozenset[int]
    last: tuple[int, ...]

    view = RANKED_VIEW

    def after(self, order: str, ids: Sequence[int]) -> Self:
        return type(self)(order, self.shown.union(ids), (*self.last, *ids)[1 - RUN :])

    def content(self) -> list[Any]:
        # Gaps between neighbours are small numbers, often the same one: they pack to a few bits for each article.
        ids = sorted(self.shown)
        return [self.view, self.order, self.last, ids[:1] + [high - low for low, high in pairwise(ids)]]


@dataclass(frozen=True)
class DatedPlace:
    """In this view, below the row of this time and id."""

    view: str
    at: datetime
    id: int

    def content(self) -> list[Any]:
        return [self.view, (self.at - EPOCH) // MICROSECOND, self.id]


Place = RankedPlace | DatedPlace
TOP = RankedPlace("", frozenset(), ())


def pack(place: Place) -> str:
    packed = zlib.compress(json.dumps(place.content(), separators=(",", ":")).encode(), 9)
    return base64.urlsafe_b64encode(packed).rstrip(b"=").decode()


def unpack(text: str) -> Place:
    """Raises ValueError for whatever `pack` did not make."""
    match json_of(text):
        case [view, str(order), [*last], [*gaps]] if view == RANKED_VIEW and ORDER_NAME.fullmatch(order):
            return RankedPlace(order, frozenset(accumulate(whole(gaps))), tuple(whole(last)))
        case [str(view), int(at), int(row)] if view != RANKED_VIEW:
            return DatedPlace(view, moment(at), whole([row])[0])
    raise ValueError("not a place in a list")


def json_of(text: str) -> Any:
    try:
        packed = base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
        unpacker = zlib.decompressobj()
        unpacked = unpacker.decompress(packed, MAX_UNPACKED_BYTES)
        if not unpacker.eof:
            raise ValueError("cut short, or too long")
        return json.loads(unpacked)
    except (binascii.Error, zlib.error, RecursionError) as error:
        raise ValueError(str(error)) from error


def whole(numbers: list[Any]) -> list[int]:
    """The numbers, if each is one that an id can be."""
    if not all(type(number) is int and 0 < number <= MAX_ID for number in numbers):
        raise ValueError("not a list of ids")
    return numbers


def moment(microseconds: int) -> datetime:
    try:
        return EPOCH + microseconds * MICROSECOND
    except OverflowError as error:
        raise ValueError("not a time") from error
