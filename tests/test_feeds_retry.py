"""Repeats of one fetch: how many, how long apart, and after which failures. No clock but the test's own."""

from datetime import UTC, datetime
from typing import Any

import pytest

from articles.retry import (
    FAILURES_BEFORE_REST,
    FEED_BACKOFF,
    FEED_RESTS,
    TRANSIENT_STATUSES,
    Backoff,
    RetryPolicy,
    TransientError,
    call_with_retry,
    feed_rest,
    retry_after_seconds,
    wait_ceilings,
)

NOW = datetime(2026, 1, 5, 10, tzinfo=UTC)


class Busy(TransientError):
    def __init__(self, retry_after: float | None = None) -> None:
        self.retry_after = retry_after


class Trial:
    """Calls that fail as told, on a clock that moves only by waiting; `taking` seconds each."""

    def __init__(self, *failures: Exception, taking: float = 0) -> None:
        self.failures, self.taking = list(failures), taking
        self.calls, self.now = 0, 1000.0
        self.waits: list[float] = []

    def action(self) -> str:
        self.calls += 1
        self.now += self.taking
        if self.failures:
            raise self.failures.pop(0)
        return "answer"

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    def run(self, backoff: Backoff, chance: float = 1.0) -> Any:
        return call_with_retry(self.action, backoff, clock=lambda: self.now, sleep=self.sleep, chance=lambda: chance)


def backoff(ceilings: tuple[float, ...], deadline: float = 1000, longest_retry_after: float = 10) -> Backoff:
    return Backoff(ceilings, deadline, longest_retry_after)


@pytest.mark.parametrize(
    ("schedule", "attempts", "waits"),
    [
        ({"base": 1, "rate": 2, "cap": 4}, 5, [1, 2, 4, 4]),
        ({"base": 3, "rate": 1.5, "cap": 1000}, 4, [3, 4.5, 6.75]),
    ],
)
def test_the_published_schedules(schedule: dict[str, float], attempts: int, waits: list[float]) -> None:
    trial = Trial(*[Busy()] * attempts)
    with pytest.raises(Busy):
        trial.run(backoff(wait_ceilings(**schedule, attempts=attempts)))
    assert (trial.calls, trial.waits) == (attempts, waits)
    assert trial.now - 1000 == sum(waits)


def test_the_page_and_the_feeds_wait_by_the_same_rule_with_other_numbers() -> None:
    assert RetryPolicy().ceilings == (1, 2, 4, 4)
    assert FEED_BACKOFF.ceilings == (1, 2)


@pytest.mark.parametrize("attempts", [1, 2])
def test_few_attempts_have_few_waits(attempts: int) -> None:
    assert wait_ceilings(base=9, rate=2, cap=4, attempts=attempts) == (4,) * (attempts - 1)


def test_a_month_of_failures_overflows_nothing() -> None:
    assert wait_ceilings(base=1, rate=2, cap=60, attempts=5000)[-1] == 60


def test_a_success_ends_the_repeats() -> None:
    trial = Trial(Busy(), Busy())
    assert trial.run(backoff((1, 2, 4, 4))) == "answer"
    assert (trial.calls, trial.waits) == (3, [1, 2])


def test_a_first_success_waits_for_nothing() -> None:
    trial = Trial()
    assert trial.run(backoff((1, 2))) == "answer"
    assert (trial.calls, trial.waits) == (1, [])


def test_jitter_is_full() -> None:
    for chance in (0.0, 0.25, 1.0):
        trial = Trial(Busy(), Busy())
        trial.run(backoff((1, 2)), chance)
        assert trial.waits == [chance, 2 * chance]


@pytest.mark.parametrize("failure", [ValueError("broken"), KeyError("x"), RuntimeError("stop")])
def test_any_other_failure_fails_at_once(failure: Exception) -> None:
    trial = Trial(failure)
    with pytest.raises(type(failure)):
        trial.run(backoff((1, 2)))
    assert (trial.calls, trial.waits) == (1, [])


def test_the_whole_time_is_bounded() -> None:
    trial = Trial(*[Busy()] * 9, taking=4)
    with pytest.raises(Busy):
        trial.run(backoff((1, 2, 4, 4), deadline=10))
    assert (trial.calls, trial.waits) == (2, [1])  # 4 + 1 + 4 s; two more would end after the tenth


@pytest.mark.parametrize(("asked", "waited"), [(2.0, 2.0), (0.0, 1.0), (10.0, 10.0), (0.5, 1.0)])
def test_retry_after_is_the_least_wait(asked: float, waited: float) -> None:
    trial = Trial(Busy(asked))
    assert trial.run(backoff((1,))) == "answer"
    assert trial.waits == [waited]


def test_a_longer_retry_after_ends_the_repeats() -> None:
    trial = Trial(Busy(10.5), Busy())
    with pytest.raises(Busy):
        trial.run(backoff((1, 2)))
    assert (trial.calls, trial.waits) == (1, [])


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("Mon, 05 Jan 2026 10:00:30 GMT", 30.0),
        ("Mon, 05 Jan 2026 09:00:00 GMT", 0.0),
        ("Monday, 05-Jan-26 10:01:00 GMT", 60.0),
        ("9" * 400, 9_999_999_999.0),
        *((text, None) for text in ("", "soon", "-5", "1.5", "²", "1e3", "Mon, 99 Foo 0000", "Mon, 05 Jan 99999 10:00:00 GMT")),
    ],
)
def test_retry_after_is_seconds_or_a_date_and_garbage_is_ignored(header: str, seconds: float | None) -> None:
    assert retry_after_seconds(header, NOW) == seconds


def test_which_statuses_are_transient() -> None:
    assert {408, 425, 429, 500, 502, 503, 504} == TRANSIENT_STATUSES


def test_rests_grow_to_a_day_and_a_server_may_ask_for_more_up_to_that() -> None:
    hours = [feed_rest(failures, None) / 3600 for failures in range(1, 10)]
    assert hours == [0, 0, 1, 2, 4, 8, 16, 24, 24]
    assert (FAILURES_BEFORE_REST, FEED_RESTS[-1]) == (3, 86400)
    assert [feed_rest(1, asked) for asked in (None, 90.0, 9e9)] == [0, 90, 86400]
    assert feed_rest(4, 90.0) == 7200
