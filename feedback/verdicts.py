"""The rules of a verdict, free of any database: what a wish makes of a verdict, and whether a request came in order."""

from dataclasses import dataclass
from enum import Enum

from feedback.models import Verdict

CLIENTS_KEPT = 8

Seen = list[tuple[str, int]]  # (client, highest seq), the client used last at the end


@dataclass(frozen=True)
class Wish:
    """What a request asks for: a whole verdict (both fields), one field of it, or the legacy toggle of one field."""

    liked: bool | None = None
    not_interested: bool | None = None
    toggle: Verdict | None = None


@dataclass(frozen=True)
class Order:
    """Where a request stands among those of its client."""

    client: str
    seq: int


class Arrival(Enum):
    NEW = "new"
    REPEAT = "repeat"  # the same send once more
    LATE = "late"  # a newer one was here before


def verdict_after(wish: Wish, now: Verdict) -> Verdict:
    """The verdict that `wish` leaves where `now` stood. Taking back what was not said changes nothing."""
    if wish.toggle is not None:
        return Verdict.NONE if now == wish.toggle else wish.toggle
    if wish.liked:
        return Verdict.LIKED
    if wish.not_interested:
        return Verdict.NOT_INTERESTED
    wanted = {Verdict.LIKED: wish.liked, Verdict.NOT_INTERESTED: wish.not_interested}
    return Verdict.NONE if wanted.get(now) is False else now


def arrival_of(order: Order | None, seen: Seen) -> Arrival:
    """A request without an order is always new: the last to arrive wins."""
    if order is None:
        return Arrival.NEW
    kept = dict(seen).get(order.client, -1)
    if order.seq > kept:
        return Arrival.NEW
    return Arrival.REPEAT if order.seq == kept else Arrival.LATE


def remember(order: Order, seen: Seen) -> Seen:
    """`seen` with this order kept, the newest clients by use."""
    others = [(client, seq) for client, seq in seen if client != order.client]
    return [*others, (order.client, order.seq)][-CLIENTS_KEPT:]
