"""Orders of a list, as plain functions: how fresh, how hot, and no source three times too often. No database, no clock."""

import math
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from statistics import fmean, pstdev
from typing import TypeVar

Item = TypeVar("Item")

RECENCY_HALF_LIFE_SECONDS = 3 * 24 * 3600
RECENCY_WEIGHT = 0.25
HOT_SECONDS = 22 * 3600  # an article this much younger is worth ten times the likes
RUN = 10
SAME_SOURCE_IN_RUN = 3


def recency(published: Sequence[float]) -> list[float]:
    """What freshness adds to each article's z, `published` being seconds since the epoch.

    It is a z itself, so it needs no clock: later all ages have decayed by one factor, which mean and deviation take out.
    """
    newest = max(published, default=0.0)
    fresh = [0.5 ** ((newest - at) / RECENCY_HALF_LIFE_SECONDS) for at in published]
    if not (spread := pstdev(fresh) if fresh else 0.0):
        return [0.0] * len(fresh)
    centre = fmean(fresh)
    return [RECENCY_WEIGHT * (value - centre) / spread for value in fresh]


def heat(likes: int, published: float) -> float:
    """`log10(1 + likes)` less the age; the age stands as the time of publication, so that heat needs no clock either."""
    return math.log10(1 + max(likes, 0)) + published / HOT_SECONDS


def spread_sources(ranked: Iterable[Item], source_of: Callable[[Item], str], above: Iterable[str] = ()) -> Iterator[Item]:
    """`ranked` with at most three of one source in any run of ten, while others remain.

    `above`: the sources of what is shown just above, so that a page continues the page before.
    """
    waiting: defaultdict[str, deque[tuple[int, Item]]] = defaultdict(deque)
    for place, item in enumerate(ranked):
        waiting[source_of(item)].append((place, item))
    heads = [(queue[0][0], source) for source, queue in waiting.items()]
    heapify(heads)
    window = deque(above, maxlen=RUN - 1)
    while heads:
        resting = []
        while heads and window.count(heads[0][1]) >= SAME_SOURCE_IN_RUN:
            resting.append(heappop(heads))
        source = (heappop(heads) if heads else resting.pop(0))[1]
        yield waiting[source].popleft()[1]
        window.append(source)
        if waiting[source]:
            resting.append((waiting[source][0][0], source))
        for head in resting:
            heappush(heads, head)
