"""One address → its document, if it changed. Everything about the other side is bounded: time, size, redirects, addresses."""

import ssl
from dataclasses import dataclass

import httpx2
from django.utils import timezone
from django.utils.translation import gettext as _

from articles.feeds import FeedError, FeedGone, FeedUnavailable
from articles.feeds.encoding import MAX_BODY_BYTES, too_large
from articles.feeds.links import web_address
from articles.feeds.network import Deadline, GuardedTransport
from articles.retry import TRANSIENT_STATUSES, retry_after_seconds

TIMEOUT_SECONDS = 30.0
MAX_REDIRECTS = 5
PERMANENT_REDIRECTS = (301, 308)
BROKEN_OFF = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)
HEADERS = {
    "User-Agent": "DevPick/1.0 (feed reader; asks only for what changed)",
    "Accept": "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, */*;q=0.5",
    "Accept-Encoding": "gzip",
}


@dataclass(frozen=True)
class Answer:
    """What a server sent. `body` is as sent, perhaps packed, and empty where nothing `changed`.

    `url` is where it came from in the end; `moved_to`, where to ask from now on, if the way there was a permanent redirect.
    """

    changed: bool
    url: str
    body: bytes = b""
    content_type: str = ""
    etag: str = ""
    last_modified: str = ""
    moved_to: str = ""


def fetch(url: str, *, etag: str = "", last_modified: str = "", timeout: float = TIMEOUT_SECONDS) -> Answer:
    """Asks for a feed, and with `etag` or `last_modified` only for a changed one. `timeout`: seconds, for everything together."""
    address = web_address(url)
    if address is None:
        raise FeedError(_("This is no web address. It must begin with http:// or https://."))
    conditions = {"If-None-Match": etag, "If-Modified-Since": last_modified}
    try:
        return ask(address, HEADERS | {name: value for name, value in conditions.items() if value}, timeout)
    except httpx2.TimeoutException:
        raise FeedUnavailable(_("No complete answer within %(seconds)g seconds.") % {"seconds": round(timeout, 1)}) from None
    except (httpx2.HTTPError, httpx2.InvalidURL) as failure:
        raise connection_failure(failure) from None


def connection_failure(failure: Exception) -> FeedError:
    """A connection that broke off may hold a second later. A certificate or a protocol that was refused is the same then."""
    tls = tls_failure(failure)
    if isinstance(tls, ssl.SSLCertVerificationError):
        return FeedError(_("The server's certificate is not valid: %(reason)s.") % {"reason": tls.verify_message})
    passes = isinstance(failure, httpx2.TransportError) and (tls is None or isinstance(tls, BROKEN_OFF))
    kind = FeedUnavailable if passes else FeedError
    return kind(_("The connection failed: %(reason)s.") % {"reason": failure or type(failure).__name__})


def tls_failure(failure: BaseException | None) -> ssl.SSLError | None:
    """What of TLS is behind it, if that is what failed."""
    while failure is not None and not isinstance(failure, ssl.SSLError):
        failure = failure.__cause__ or failure.__context__
    return failure


def ask(url: str, headers: dict[str, str], timeout: float) -> Answer:
    """Redirects are followed by hand: the library would read the body of each, however large it is unpacked."""
    deadline, address, moved_to, moves = Deadline(timeout), url, "", True
    with httpx2.Client(transport=GuardedTransport(deadline), trust_env=False, timeout=timeout) as client:
        for _hop in range(MAX_REDIRECTS + 1):
            with client.stream("GET", address, headers=headers) as response:
                if not response.has_redirect_location:
                    return answer_of(response, address, moved_to)
                # Behind the first temporary redirect an address is for this once only.
                moves = moves and response.status_code in PERMANENT_REDIRECTS
                address = target_of(response, address)
                moved_to = address if moves else moved_to
    raise FeedError(_("The address redirects more than %(limit)d times.") % {"limit": MAX_REDIRECTS})


def target_of(response: httpx2.Response, address: str) -> str:
    target = web_address(response.headers["Location"], address)
    if target is None:
        raise FeedError(_("The address redirects to something that is no web address."))
    return target


def answer_of(response: httpx2.Response, address: str, moved_to: str) -> Answer:
    if response.status_code == 304:
        return Answer(changed=False, url=address, moved_to=moved_to)
    if response.status_code != 200:
        raise refusal(response)
    return Answer(
        changed=True,
        url=address,
        body=bounded_body(response),
        content_type=response.headers.get("Content-Type", ""),
        etag=response.headers.get("ETag", ""),
        last_modified=response.headers.get("Last-Modified", ""),
        moved_to=moved_to,
    )


def refusal(response: httpx2.Response) -> FeedError:
    status = f"{response.status_code} {response.reason_phrase}".strip()
    reason = _("The server answers %(status)s.") % {"status": status}
    if response.status_code == 401:
        return FeedError(_("The server answers %(status)s: it asks for a password, and DevPick has none.") % {"status": status})
    if response.status_code == 410:
        return FeedGone(_("The server answers %(status)s: this feed was given up for good.") % {"status": status})
    if response.status_code in TRANSIENT_STATUSES:
        return FeedUnavailable(reason, retry_after_seconds(response.headers.get("Retry-After", ""), timezone.now()))
    return FeedError(reason)


def bounded_body(response: httpx2.Response) -> bytes:
    """The body as sent: a bomb is unpacked within bounds by the parser, which meets packed files without this header too."""
    body = bytearray()
    for piece in response.iter_raw():
        body += piece
        if len(body) > MAX_BODY_BYTES:
            raise too_large()
    return bytes(body)
