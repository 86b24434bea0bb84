"""Asking a server that answers well, badly, slowly, or with somebody else's address."""

import gzip
import socket
import ssl
import tracemalloc
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from ipaddress import ip_address
from threading import Event, Thread
from typing import Any

import pytest
import trustme

from articles.feeds import FeedError
from articles.feeds.encoding import MAX_BODY_BYTES
from articles.feeds.fetch import Answer, fetch
from articles.feeds.network import is_public, may_be_asked
from articles.feeds.parse import parse
from articles.retry import TransientError
from tests.feeds.documents import item, rss
from tests.feeds.server import FeedServer, Reply

DOCUMENT = rss(item("Hello"))


@pytest.fixture
def server(settings: Any) -> Iterator[FeedServer]:
    settings.FEEDS_ALLOW_PRIVATE_ADDRESSES = True
    with FeedServer() as server:
        yield server


def test_the_answer_carries_what_the_next_question_needs(server: FeedServer) -> None:
    url = server.serve("/feed", DOCUMENT, "application/rss+xml", ETag='"v1"', Last_Modified="Mon, 05 Jan 2026 10:00:00 GMT")
    assert fetch(url) == Answer(
        changed=True,
        url=url,
        body=DOCUMENT,
        content_type="application/rss+xml",
        etag='"v1"',
        last_modified="Mon, 05 Jan 2026 10:00:00 GMT",
    )
    assert "DevPick" in server.received[0]["User-Agent"]
    assert "If-None-Match" not in server.received[0]


@pytest.mark.parametrize("known", [{"etag": '"v1"'}, {"last_modified": "Mon, 05 Jan 2026 10:00:00 GMT"}])
def test_an_unchanged_feed_is_not_sent_again(server: FeedServer, known: dict[str, str]) -> None:
    url = server.serve("/feed", DOCUMENT, ETag='"v1"', Last_Modified="Mon, 05 Jan 2026 10:00:00 GMT")
    assert fetch(url, **known) == Answer(changed=False, url=url)


def test_a_certificate_that_nobody_vouches_for_is_not_accepted_and_not_asked_for_again(server: FeedServer) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    server.server.socket = context.wrap_socket(server.server.socket, server_side=True)
    with pytest.raises(FeedError, match="certificate is not valid: unable to get local issuer certificate") as failure:
        fetch(server.serve("/feed", DOCUMENT).replace("http:", "https:"))
    assert not isinstance(failure.value, TransientError)


def test_a_server_that_speaks_no_tls_is_not_asked_again(server: FeedServer) -> None:
    with pytest.raises(FeedError, match="connection failed") as failure:
        fetch(server.serve("/feed", DOCUMENT).replace("http:", "https:"))
    assert not isinstance(failure.value, TransientError)


def test_a_tls_connection_that_breaks_off_is_a_passing_failure(server: FeedServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        Thread(target=lambda: listener.accept()[0].close(), daemon=True).start()
        with pytest.raises(TransientError, match="connection failed"):
            fetch(f"https://127.0.0.1:{listener.getsockname()[1]}/")


def test_no_password_is_sent_or_told_and_who_asks_for_one_is_said_to(server: FeedServer) -> None:
    secret = server.serve("/feed", DOCUMENT).replace("//", "//me:secret@")
    assert fetch(secret).url == server.url("/feed")
    assert fetch(server.redirect("/old", secret, 301)).moved_to == server.url("/feed")
    assert not any("Authorization" in headers for headers in server.received)
    server.replies["/feed"] = Reply(status=401)
    with pytest.raises(FeedError, match="asks for a password"):
        fetch(secret)


def test_a_redirect_is_followed_and_the_last_address_is_the_base(server: FeedServer) -> None:
    url = server.serve("/new/feed", DOCUMENT)
    assert fetch(server.redirect("/old", "/new/feed")).url == url


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 429, 500, 503, 204])
def test_another_status_is_said(server: FeedServer, status: int) -> None:
    server.replies["/feed"] = Reply(status=status)
    with pytest.raises(FeedError, match=str(status)):
        fetch(server.url("/feed"))


def test_a_body_that_never_ends_is_cut_off(server: FeedServer) -> None:
    stopped = Event()

    def pour(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        try:
            for _piece in range(50 * MAX_BODY_BYTES // 2**16):
                handler.wfile.write(b" " * 2**16)
        except ConnectionError:
            stopped.set()

    server.replies["/feed"] = pour
    with pytest.raises(FeedError, match="larger than 5 MB"):
        fetch(server.url("/feed"))
    assert stopped.wait(5)


def test_a_gzip_bomb_is_small_on_the_way_and_stops_in_the_parser(server: FeedServer) -> None:
    url = server.serve("/feed", gzip.compress(b" " * 20 * MAX_BODY_BYTES, compresslevel=1), Content_Encoding="gzip")
    answer = fetch(url)
    assert len(answer.body) < MAX_BODY_BYTES
    with pytest.raises(FeedError, match="larger than 5 MB"):
        parse(answer.body)


@pytest.mark.parametrize("headers", [{"Content_Encoding": "gzip"}, {}])
def test_a_packed_feed_is_read_with_or_without_its_header(server: FeedServer, headers: dict[str, str]) -> None:
    answer = fetch(server.serve("/feed.gz", gzip.compress(DOCUMENT), **headers))
    assert parse(answer.body).entries[0].title == "Hello"


def slowly(pieces: list[bytes]) -> Callable[[BaseHTTPRequestHandler], None]:
    """Sends piece after piece, each well within any single read's time-out."""
    gone = Event()

    def drip(handler: BaseHTTPRequestHandler) -> None:
        try:
            for piece in pieces:
                handler.wfile.write(piece)
                gone.wait(0.02)
        except ConnectionError:
            gone.set()

    return drip


@pytest.mark.parametrize(
    "pieces",
    [
        [b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n", *[b"x"] * 9999],
        [b"HTTP/1.1 200 OK\r\n", *[b"X"] * 9999],
    ],
    ids=["body", "headers"],
)
def test_a_server_that_drips_runs_out_of_time(server: FeedServer, pieces: list[bytes]) -> None:
    server.replies["/feed"] = slowly(pieces)
    with pytest.raises(FeedError, match=r"within 0\.3 seconds"):
        fetch(server.url("/feed"), timeout=0.3)


def test_a_server_that_never_answers_runs_out_of_time(server: FeedServer) -> None:
    over = Event()
    server.replies["/feed"] = lambda handler: over.wait(30)
    with pytest.raises(FeedError, match=r"within 0\.2 seconds"):
        fetch(server.url("/feed"), timeout=0.2)
    over.set()


def test_an_answer_shorter_than_announced_is_a_failure(server: FeedServer) -> None:
    def lie(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "99999")
        handler.end_headers()
        handler.wfile.write(DOCUMENT)

    server.replies["/feed"] = lie
    with pytest.raises(FeedError, match="connection failed"):
        fetch(server.url("/feed"))


def test_nobody_there_is_said() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(FeedError):
        fetch(f"http://127.0.0.1:{port}/")


# Where it may not go


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://feed.example/", "javascript:alert(1)", "feed.example", "http://", ""]
)
def test_only_web_addresses_are_asked(url: str) -> None:
    with pytest.raises(FeedError, match="http://"):
        fetch(url)


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1:70/x", "data:text/xml,<rss/>"]
)
def test_a_redirect_to_anything_but_the_web_is_refused(server: FeedServer, location: str) -> None:
    with pytest.raises(FeedError, match=r"no web address|connection failed"):
        fetch(server.redirect("/feed", location))


@pytest.mark.parametrize("location", ["http://feed.example:99999999999999999999/", "http://[::1/", "http://:80/"])
def test_a_redirect_to_an_address_that_nobody_can_have_is_refused(server: FeedServer, location: str) -> None:
    with pytest.raises(FeedError, match="no web address"):
        fetch(server.redirect("/feed", location))


def test_the_body_of_a_redirect_is_not_read(server: FeedServer) -> None:
    bomb = gzip.compress(b" " * 20 * MAX_BODY_BYTES, compresslevel=1)
    url = server.serve("/feed", DOCUMENT)
    server.replies["/old"] = Reply(bomb, 301, {"Location": "/feed", "Content-Encoding": "gzip"})
    tracemalloc.start()
    assert fetch(server.url("/old")) == Answer(changed=True, url=url, body=DOCUMENT, content_type="application/xml", moved_to=url)
    _now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < MAX_BODY_BYTES


def test_redirects_in_a_circle_end(server: FeedServer) -> None:
    with pytest.raises(FeedError, match="more than 5 times"):
        fetch(server.redirect("/feed", "/feed"))
    assert len(server.received) == 6


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "0x7f.1", "2130706433", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "10.0.0.1", "169.254.169.254"],
)
def test_private_addresses_are_refused_in_every_spelling(host: str) -> None:
    with FeedServer() as server:
        server.serve("/feed", DOCUMENT)
        with pytest.raises(FeedError, match="private network"):
            fetch(f"http://{host}:{server.server.server_port}/feed")
        assert server.received == []


def test_a_redirect_to_a_private_address_is_refused(server: FeedServer, settings: Any) -> None:
    """The first address is allowed, as a public one is; what it redirects to is checked like the first."""
    inner = server.serve("/secret", DOCUMENT)

    def close_the_door(handler: BaseHTTPRequestHandler) -> None:
        settings.FEEDS_ALLOW_PRIVATE_ADDRESSES = False
        handler.send_response(302)
        handler.send_header("Location", inner.replace("127.0.0.1", "localhost"))
        handler.end_headers()

    server.replies["/feed"] = close_the_door
    with pytest.raises(FeedError, match="private network"):
        fetch(server.url("/feed"))
    assert len(server.received) == 1


@pytest.mark.parametrize("answer", [["127.0.0.1", "93.184.216.34"], ["93.184.216.34", "127.0.0.1"], ["93.184.216.34", "::1"]])
def test_a_name_that_stands_for_a_private_address_too_is_refused(monkeypatch: pytest.MonkeyPatch, answer: list[str]) -> None:
    """As an attacker's own name server answers."""
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 80)) for address in answer]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_options: found)
    with pytest.raises(FeedError, match=r"feed\.example is an address of a private network"):
        fetch("http://feed.example/")


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:4700::6810:84e5", True),
        ("192.168.1.1", False),
        ("172.16.0.1", False),
        ("100.64.0.1", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("fe80::1", False),
        ("fd00::1", False),
        ("ff02::1", False),
        ("2001:db8::1", False),
        ("::ffff:8.8.8.8", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::1", False),
    ],
)
def test_what_counts_as_public(address: str, public: bool) -> None:
    assert is_public(ip_address(address)) is public


@pytest.mark.parametrize(
    ("address", "asked"),
    [
        ("127.0.0.1", True),
        ("10.0.0.1", True),
        ("fd00::1", True),
        ("169.254.169.254", False),
        ("::ffff:169.254.169.254", False),
        ("fe80::1%eth0", False),
        ("fd00:ec2::254", False),
        ("100.100.100.200", False),
        ("168.63.129.16", False),
    ],
)
def test_where_private_addresses_are_allowed_a_clouds_secrets_are_not(settings: Any, address: str, asked: bool) -> None:
    settings.FEEDS_ALLOW_PRIVATE_ADDRESSES = True
    assert may_be_asked(ip_address(address)) is asked


def test_a_redirect_to_a_clouds_secrets_is_refused(server: FeedServer) -> None:
    with pytest.raises(FeedError, match="private network"):
        fetch(server.redirect("/feed", "http://169.254.169.254/latest/meta-data/"))


def test_a_proxy_of_the_environment_is_not_asked(server: FeedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would connect for us, to addresses that nobody checked."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    assert fetch(server.serve("/feed", DOCUMENT)).body == DOCUMENT
