"""Connections that go only where a feed may be, and end in time.

A feed's address, and every address a server redirects to, comes from outside. So each name is resolved here, every address it
stands for is checked, and the connection goes to a checked address: a second look-up could answer something else.
"""

import socket
import ssl
import time
from collections.abc import Iterable
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

import httpcore2
import httpx2
from django.conf import settings
from django.utils.translation import gettext as _

from articles.feeds import FeedError, FeedUnavailable

Address = IPv4Address | IPv6Address

# IPv6 as assigned to networks. Others stand for IPv4 addresses, which may be private ones (mapped, NAT64).
UNICAST = ip_network("2000::/3")
# Where clouds tell a machine its secrets. No feed is there, not even where private addresses are allowed.
METADATA = [
    ip_network(network)
    for network in ("169.254.0.0/16", "fe80::/10", "fd00:ec2::254", "100.100.100.200", "168.63.129.16", "192.0.0.192")
]
# For one of a host's addresses: one that never answers must not use up the time of the others.
CONNECT_SECONDS = 8.0


class Deadline:
    """The end of one fetch, all its redirects included. Time-outs of single reads do not add up to it."""

    def __init__(self, seconds: float) -> None:
        self.at = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds until then, and never none: a socket takes 0 for "do not wait at all"."""
        return max(self.at - time.monotonic(), 0.001)


class GuardedStream(httpcore2.NetworkStream):
    """A connection of which no read or write outlasts the deadline."""

    def __init__(self, stream: httpcore2.NetworkStream, deadline: Deadline) -> None:
        self.stream, self.deadline = stream, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self.stream.read(max_bytes, self.deadline.left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.stream.write(buffer, self.deadline.left())

    def close(self) -> None:
        self.stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return GuardedStream(self.stream.start_tls(ssl_context, server_hostname, self.deadline.left()), self.deadline)

    def get_extra_info(self, info: str) -> Any:
        return self.stream.get_extra_info(info)


class GuardedBackend(httpcore2.SyncBackend):
    """Connects to checked addresses only."""

    def __init__(self, deadline: Deadline) -> None:
        self.deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        *others, last = checked_addresses(host, port)
        for address in others:
            try:
                return self.connect(address, port)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return self.connect(last, port)

    def connect(self, address: str, port: int) -> httpcore2.NetworkStream:
        timeout = min(self.deadline.left(), CONNECT_SECONDS)
        return GuardedStream(super().connect_tcp(address, port, timeout, socket_options=()), self.deadline)


@cache
def tls_context() -> ssl.SSLContext:
    """One for all connections: to read the certificates of all authorities costs more than to fetch a feed."""
    return httpx2.create_ssl_context(trust_env=False)


class GuardedTransport(httpx2.HTTPTransport):
    """httpx2's transport over our backend. It has no argument for one; its connection pool has."""

    def __init__(self, deadline: Deadline) -> None:
        context = tls_context()
        super().__init__(verify=context, trust_env=False)
        self._pool = httpcore2.ConnectionPool(ssl_context=context, network_backend=GuardedBackend(deadline))


def checked_addresses(host: str, port: int) -> list[str]:
    """The addresses of a host. One that is not public refuses them all: such an answer is an attempt to reach it."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, OverflowError) as failure:
        kind = FeedUnavailable if getattr(failure, "errno", None) == socket.EAI_AGAIN else FeedError
        raise kind(_("The name %(host)s cannot be found.") % {"host": host}) from None
    addresses = list(dict.fromkeys(str(address[0]) for *_rest, address in found))
    if not all(may_be_asked(ip_address(address)) for address in addresses):
        raise FeedError(_("%(host)s is an address of a private network; it is not asked.") % {"host": host})
    return addresses


def may_be_asked(address: Address) -> bool:
    plain = address.ipv4_mapped or address if isinstance(address, IPv6Address) else address
    if any(plain in network for network in METADATA):
        return False
    return settings.FEEDS_ALLOW_PRIVATE_ADDRESSES or is_public(address)


def is_public(address: Address) -> bool:
    """An address of the open internet: not this machine, not its network."""
    embeds = isinstance(address, IPv6Address) and (address not in UNICAST or address.sixtofour or address.teredo)
    return address.is_global and not address.is_multicast and not embeds
