"""How often and how soon something is tried again: the only place of these numbers, for the page's saves and for feeds.
Which answers the page repeats after stands with the rules of a card, in `feedback_state.js`.

The two differ on purpose: a reader waits for a save and sees it; nobody waits for a feed, whose server has other guests.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

Result = TypeVar("Result")

# Answers of a feed that another try may change. Every other status is the same tomorrow.
TRANSIENT_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})


class TransientError(Exception):
    """A failure that another try may mend. `retry_after`: the seconds that the other side asks for, None if it does not."""

    retry_after: float | None = None


def wait_ceilings(base: float, rate: float, cap: float, attempts: int) -> tuple[float, ...]:
    """The longest wait before each repeat of `attempts` tries: exponential, up to `cap`. Before the first there is none."""
    ceilings = [min(cap, base)]
    while len(ceilings) < attempts:
        ceilings.append(min(cap, ceilings[-1] * rate))  # never a power: it would overflow after a month of failures
    return tuple(ceilings[: attempts - 1])


@dataclass(frozen=True)
class Backoff:
    """Times in seconds. `deadline` is for everything together; no wait begins that would outlast it.

    The wait before a repeat is random, from nothing to its ceiling ("full jitter"): what failed together does not come back
    together. `Retry-After` is the least wait; one longer than `longest_retry_after` ends the repeats.
    """

    ceilings: tuple[float, ...]
    deadline: float
    longest_retry_after: float

    def wait(self, ceiling: float, failure: TransientError, elapsed: float, chance: float) -> float | None:
        """Seconds until the next try, None if there is to be none. `chance`: random, from 0 to 1."""
        asked = failure.retry_after or 0
        wait = max(chance * ceiling, asked)
        return None if asked > self.longest_retry_after or elapsed + wait > self.deadline else wait


# Within one run, and then from run to run: a feed that goes on failing rests, longer each time.
FEED_BACKOFF = Backoff(ceilings=wait_ceilings(base=1, rate=2, cap=4, attempts=3), deadline=30, longest_retry_after=10)
FAILURES_BEFORE_REST = 3
FEED_RESTS = wait_ceilings(base=3600, rate=2, cap=24 * 3600, attempts=7)


def feed_rest(failures: int, retry_after: float | None) -> float:
    """Seconds that a feed is left alone after so many failures in a row; its server may ask for more, within the longest rest."""
    growing = FEED_RESTS[min(failures - FAILURES_BEFORE_REST, len(FEED_RESTS) - 1)] if failures >= FAILURES_BEFORE_REST else 0
    return max(growing, min(retry_after or 0, FEED_RESTS[-1]))


def call_with_retry(
    action: Callable[[], Result],
    backoff: Backoff,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
    chance: Callable[[], float] = random.random,
) -> Result:
    """The action's result. It is called again after a TransientError only, and the last failure is raised without a wait."""
    start = clock()
    for ceiling in backoff.ceilings:
        try:
            return action()
        except TransientError as failure:
            wait = backoff.wait(ceiling, failure, clock() - start, chance())
            if wait is None:
                raise
            sleep(wait)
    return action()


def retry_after_seconds(header: str, now: datetime) -> float | None:
    """`Retry-After` as seconds from `now`: a number of them or an HTTP date, of which a past one means at once. Else None."""
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text[:10])  # any more digits are longer than anybody waits
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return max((at.replace(tzinfo=at.tzinfo or UTC) - now).total_seconds(), 0.0)


@dataclass(frozen=True)
class RetryPolicy:
    """How the page sends a save again. Times in seconds; the wait before a repeat is random, as `Backoff` says."""

    ceilings: tuple[float, ...] = wait_ceilings(base=1, rate=2, cap=4, attempts=5)
    max_sends: int = 5
    deadline: float = 20
    timeout: float = 8
    longest_retry_after: float = 4
    repeats_per_minute: int = 10
    minute: float = 60
    intent_life: float = 600

    def in_milliseconds(self) -> dict[str, int | list[int]]:
        """The policy as the page's script reads it."""
        return {
            "ceilings": [milliseconds(ceiling) for ceiling in self.ceilings],
            "max_sends": self.max_sends,
            "deadline": milliseconds(self.deadline),
            "timeout": milliseconds(self.timeout),
            "longest_retry_after": milliseconds(self.longest_retry_after),
            "repeats_per_minute": self.repeats_per_minute,
            "minute": milliseconds(self.minute),
            "intent_life": milliseconds(self.intent_life),
        }


def milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
