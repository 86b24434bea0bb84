"""From an address to rows: fetch → parse → store."""

from articles.retry import TransientError


class FeedError(Exception):
    """Why a feed could not be read, in a sentence for the person who runs this site."""


class FeedUnavailable(FeedError, TransientError):
    """The server or the way to it is down or busy; the same question may be answered in a while."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class FeedGone(FeedError):
    """The server says that this feed will never come back (410)."""
