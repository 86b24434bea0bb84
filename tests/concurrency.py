"""Real threads, each with its own database connection, let go at one moment."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

from django.db import connections

Result = TypeVar("Result")


def at_once(calls: Sequence[Callable[[], Result]]) -> list[Result]:
    """Run all calls from threads behind one barrier; their results in the order of `calls`, the first error raised."""
    barrier = Barrier(len(calls))

    def run(call: Callable[[], Result]) -> Result:
        try:
            barrier.wait(timeout=10)
            return call()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result(timeout=60) for future in [pool.submit(run, call) for call in calls]]
