"""Who is behind a request's address: the socket's peer, or the client that a trusted proxy names."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest
from rest_framework.request import Request


def client_address(request: HttpRequest | Request) -> str:
    """The nearest address that is no trusted proxy. A header is believed only as far as trusted proxies wrote it.

    A proxy on a Unix socket has no address; TRUSTED_PROXIES names it "unix".
    """
    hops = [hop.strip() for hop in request.headers.get("X-Forwarded-For", "").split(",") if hop.strip()]
    address = request.META.get("REMOTE_ADDR") or "unix"
    while hops and is_trusted(address):
        address = hops.pop()
    return network_of(address)


def is_trusted(address: str) -> bool:
    if address == "unix":
        return "unix" in settings.TRUSTED_PROXIES
    try:
        found = plain(address)
    except ValueError:
        return False
    return any(found in ip_network(proxy) for proxy in settings.TRUSTED_PROXIES if proxy != "unix")


def plain(address: str) -> IPv4Address | IPv6Address:
    """A socket for both kinds shows an IPv4 peer as an IPv6 address. Raises ValueError."""
    found = ip_address(address)
    return getattr(found, "ipv4_mapped", None) or found


def network_of(address: str) -> str:
    """One household: an IPv6 client owns a whole /64 and could change its address with every request."""
    try:
        found = plain(address)
    except ValueError:
        return "unknown"
    return str(ip_network((found, 64), strict=False)) if found.version == 6 else str(found)
