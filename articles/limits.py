"""How often one reader or address may ask: fixed windows of a minute, counted in the shared cache."""

import time

from django.conf import settings
from django.core.cache import cache

WINDOW_SECONDS = 60


def seconds_to_wait(scope: str, who: object) -> int | None:
    """Count one request of `who`; None if it is within settings.LIMITS[scope], else the seconds until the window ends."""
    window, elapsed = divmod(int(time.time()), WINDOW_SECONDS)
    key = f"limit:{scope}:{who}:{window}"
    cache.add(key, 0, WINDOW_SECONDS)
    try:
        asked = cache.incr(key)
    except ValueError:  # evicted between the two calls
        return None
    return WINDOW_SECONDS - elapsed if asked > settings.LIMITS[scope] else None
