"""Addresses as feeds give them: which ones may become a link, and which ones are the same story."""

import re
from hashlib import sha256
from urllib.parse import quote, urljoin, urlsplit

MAX_LENGTH = 2000  # of Article.url and Feed.url
DEFAULT_PORTS = {80, 443}
HOST = re.compile(r"[^\s\"'<>\\^`{|}]+")
# What browsers drop before they read an address (WHATWG URL), and what no database or page can hold.
DROPPED = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
TRACKING = re.compile(
    r"(utm_\w+|fbclid|gclid|dclid|msclkid|yclid|twclid|igshid|mc_[ce]id|mkt_tok|_hsenc|_hsmi)(=|$)|source=rss|ref=rss",
    re.IGNORECASE,
)
USERINFO = re.compile("^((?:[a-z][a-z0-9+.-]*:)?/*)[^/?#]*@", re.IGNORECASE)
ESCAPE = re.compile("%([0-9A-Fa-f]{2})")
UNRESERVED = re.compile("[A-Za-z0-9._~-]")


def web_address(text: str | None, base: str = "") -> str | None:
    """The http(s) address that `text` means on a page at `base`; None where it is anything else.

    Never with a name and password: they are for nobody's eyes, or make one host look like another.
    """
    text = DROPPED.sub("", text or "").strip()
    try:
        url = without_password(urljoin(base, text))
        parts = urlsplit(url)
        host, _port = parts.hostname or "", parts.port
    except ValueError:  # a bracket without its pair, a port that is no number
        return None
    allowed = text and len(url) <= MAX_LENGTH and parts.scheme in ("http", "https") and HOST.fullmatch(host)
    return url if allowed else None


def without_password(address: str) -> str:
    """Also of what is no address, before it is shown to say so."""
    return USERINFO.sub(r"\1", address)


def canonical_address(url: str, *, with_fragment: bool = False) -> str:
    """One spelling for all links to a story. For comparing only: nobody is sent to it."""
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    port = f":{parts.port}" if parts.port and parts.port not in DEFAULT_PORTS else ""
    query = "&".join(part for part in parts.query.split("&") if part and not TRACKING.match(part))
    page = f"https://{host}{port}{one_escaping(parts.path).rstrip('/')}" + (f"?{one_escaping(query)}" if query else "")
    return f"{page}#{one_escaping(parts.fragment)}" if with_fragment and parts.fragment else page


def one_escaping(text: str) -> str:
    """`%7e`, `%7E` and `~` are one character, and so are `é` and `%C3%A9`."""
    return quote(ESCAPE.sub(plain_if_unreserved, text), safe="%/:?#[]@!$&'()*+,;=~|")


def plain_if_unreserved(escape: re.Match[str]) -> str:
    character = chr(int(escape[1], 16))
    return character if UNRESERVED.fullmatch(character) else escape[0].upper()


def address_key(url: str, *, with_fragment: bool = False) -> str:
    """What all links to one story have in common, in a fixed length. A fragment is a place in a page, and no part of it."""
    return sha256(canonical_address(url, with_fragment=with_fragment).encode()).hexdigest()


def host_of(url: str) -> str:
    return (urlsplit(url).hostname or "").removeprefix("www.")
