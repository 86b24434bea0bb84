"""What a search looks in, and the one folding of letters that both sides of it use."""

import unicodedata
from collections.abc import Iterable


def fold(text: str) -> str:
    """One form for letters that a reader takes for the same: ＡＰＩ and api, Straße and STRASSE."""
    return unicodedata.normalize("NFKC", text).casefold()


def search_text(title: str, summary: str, tags: Iterable[str]) -> str:
    """An article's text for the search box; a whole line `#tag` is what the tag filter looks for."""
    return fold(f"{title}\n{summary}\n" + "".join(f"#{tag}\n" for tag in tags))
