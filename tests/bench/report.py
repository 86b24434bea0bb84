"""Figures for people: a median with its spread, beside what was promised."""

from collections.abc import Callable, Sequence
from statistics import median, quantiles
from time import perf_counter

missed: list[str] = []


def timed(action: Callable[[], object], times: int) -> float:
    """Milliseconds of one call, the mean of `times`."""
    start = perf_counter()
    for _ in range(times):
        action()
    return (perf_counter() - start) * 1000 / times


def spread(values: Sequence[float]) -> str:
    """The median, and between which figures 80 % of the rounds lie."""
    tenths = quantiles(values, n=10)
    return f"{median(values):7.3f}   ({tenths[0]:.3f} to {tenths[-1]:.3f})"


def bound(name: str, value: float, at_most: float, told: str) -> None:
    """One line; a bound that does not hold makes the whole run fail at its end."""
    holds = value <= at_most
    print(f"  {name:48} {told}   at most {at_most:g}   {'ok' if holds else 'MISSED'}")
    if not holds:
        missed.append(name)
