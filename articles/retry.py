"""How often and how soon the page may send a save again: the only place of these numbers."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RetryPolicy:
    """Times in seconds. The wait before a repeat is random, from nothing to its ceiling ("full jitter").

    Why full jitter: cards that failed together do not come back together.
    """

    ceilings: tuple[float, ...] = (1, 2, 4, 4)
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
