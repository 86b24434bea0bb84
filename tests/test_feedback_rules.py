"""The rules of a verdict against a model a reader could say in ten lines."""

from hypothesis import given
from hypothesis import strategies as st

from feedback.models import Verdict
from feedback.verdicts import CLIENTS_KEPT, Arrival, Order, Wish, arrival_of, remember, verdict_after

verdicts = st.sampled_from(Verdict)
flags = st.sampled_from([None, True, False])
wishes = st.builds(Wish, liked=flags, not_interested=flags).filter(
    lambda wish: (wish.liked, wish.not_interested) not in [(None, None), (True, True)]
)
orders = st.builds(Order, st.sampled_from([f"client-{n}" for n in range(12)]), st.integers(0, 30))


def model(wish: Wish, now: Verdict) -> Verdict:
    """Two lamps that exclude each other: each field given sets its lamp, and a lamp put on puts the other out."""
    lamps = {"liked": now == "liked", "not_interested": now == "not_interested"}
    for lamp, other in (("liked", "not_interested"), ("not_interested", "liked")):
        wanted = getattr(wish, lamp)
        if wanted is not None:
            lamps[lamp] = wanted
        if wanted:
            lamps[other] = False
    return next((Verdict(lamp) for lamp, on in lamps.items() if on), Verdict.NONE)


@given(wishes, verdicts)
def test_a_wish_leads_where_the_model_says(wish: Wish, now: Verdict) -> None:
    assert verdict_after(wish, now) == model(wish, now)


@given(wishes, verdicts)
def test_asking_again_changes_nothing(wish: Wish, now: Verdict) -> None:
    once = verdict_after(wish, now)
    assert verdict_after(wish, once) == once


@given(st.sampled_from([Verdict.LIKED, Verdict.NOT_INTERESTED]), verdicts)
def test_a_toggle_flips_its_own_field(field: Verdict, now: Verdict) -> None:
    assert verdict_after(Wish(toggle=field), now) == (Verdict.NONE if now == field else field)


@given(st.lists(orders, max_size=40))
def test_the_highest_seq_of_the_newest_clients_is_kept(sent: list[Order]) -> None:
    seen: list[tuple[str, int]] = []
    highest: dict[str, int] = {}
    for order in sent:
        arrival = arrival_of(order, seen)
        kept = highest.get(order.client, -1)
        assert arrival is (Arrival.NEW if order.seq > kept else Arrival.REPEAT if order.seq == kept else Arrival.LATE)
        if arrival is Arrival.NEW:
            seen = remember(order, seen)
            highest.pop(order.client, None)
            highest = dict([*highest.items(), (order.client, order.seq)][-CLIENTS_KEPT:])
    assert dict(seen) == highest


@given(st.lists(orders, max_size=20))
def test_a_request_without_an_order_is_always_new(sent: list[Order]) -> None:
    assert arrival_of(None, [(order.client, order.seq) for order in sent]) is Arrival.NEW
