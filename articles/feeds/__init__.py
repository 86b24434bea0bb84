"""From an address to rows: fetch → parse → store."""


class FeedError(Exception):
    """Why a feed could not be read, in a sentence for the person who runs this site."""
