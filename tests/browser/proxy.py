"""The network between the browser and the server, as a small TCP proxy that can lose, cut, hold and answer.

It speaks just enough HTTP/1.1: one request at a time per connection, bodies by Content-Length.
"""

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count, repeat
from typing import Any

from articles.models import Article

SAVE = r"/api/articles/\d+/(like|not-interested)/"  # a read mark is none
HOLD_SECONDS = 20


@dataclass(frozen=True)
class Request:
    """A request as the browser sent it. `is_first`: nothing else went over its connection before."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    head: bytes
    connection: int
    is_first: bool

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Closed(Exception):
    """The other side hung up."""


def read_message(stream: socket.socket) -> tuple[bytes, bytes]:
    """One message's head and body. Raises Closed if the stream ends before it."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += read_some(stream)
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(headers_of(head).get("content-length", 0))
    while len(body) < length:
        body += read_some(stream)
    return head + b"\r\n\r\n", body


def read_some(stream: socket.socket) -> bytes:
    data = stream.recv(65536)
    if not data:
        raise Closed
    return data


def headers_of(head: bytes) -> dict[str, str]:
    lines = head.decode("latin-1").split("\r\n")[1:]
    return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


# What may become of a request


class Exchange:
    """One request and the way back to the browser."""

    def __init__(self, proxy: "Proxy", request: Request, browser: socket.socket) -> None:
        self.proxy, self.request, self.browser = proxy, request, browser

    def is_done(self) -> None:
        """The server has answered this request."""
        self.proxy.note(self.proxy.received, self.request)

    def hold(self, gate: "Gate") -> None:
        """Go on when the gate opens. Raises Closed if it never does."""
        self.proxy.guard(gate)
        gate.pass_through()

    def forward(self) -> bytes:
        """The server's reply."""
        with socket.create_connection(("127.0.0.1", self.proxy.upstream)) as server:
            server.sendall(one_request(self.request.head) + self.request.body)
            reply = b"".join(iter(lambda: server.recv(65536), b""))
        self.is_done()
        return reply

    def reply(self, data: bytes) -> None:
        self.browser.sendall(data if self.proxy.keeps_alive else data.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
        if not self.proxy.keeps_alive:
            raise Closed


Fate = Callable[[Exchange], None]


def one_request(head: bytes) -> bytes:
    return re.sub(rb"(?mi)^connection: [^\r]*", b"Connection: close", head)


def deliver(exchange: Exchange) -> None:
    exchange.reply(re.sub(rb"(?mi)^connection: close\r\n", b"", exchange.forward()))


def lose_request(exchange: Exchange) -> None:
    raise Closed


def lose_reply(exchange: Exchange) -> None:
    exchange.forward()
    raise Closed


def cut_head(exchange: Exchange) -> None:
    exchange.browser.sendall(exchange.forward()[:30])
    raise Closed


def cut_body(exchange: Exchange) -> None:
    """The head promises more than comes. Chromium gives such a reply as a 200 with what came."""
    head, _, body = exchange.forward().partition(b"\r\n\r\n")
    exchange.browser.sendall(head + b"\r\n\r\n" + body[: len(body) // 2])
    raise Closed


def no_body(exchange: Exchange) -> None:
    head, _, _ = exchange.forward().partition(b"\r\n\r\n")
    exchange.browser.sendall(head + b"\r\n\r\n")
    raise Closed


def answer(status: int, body: Any = None, content_type: str = "application/json", **headers: str) -> Fate:
    """A reply of ours; the server never sees the request. `headers`: `Retry_After="2"`."""

    def fate(exchange: Exchange) -> None:
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        lines = {"Content-Type": content_type, "Content-Length": str(len(data))}
        lines |= {name.replace("_", "-"): value for name, value in headers.items()}
        head = f"HTTP/1.1 {status} X\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items()) + "\r\n"
        exchange.reply(head.encode("latin-1") + data)

    return fate


def problem(status: int, code: str, **headers: str) -> Fate:
    return answer(status, {"status": status, "code": code}, "application/problem+json", **headers)


class Gate:
    """Holds what comes to it until it is opened; at the end of the test what it still holds is lost."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.decided = threading.Event()
        self.is_open = False

    def pass_through(self) -> None:
        self.reached.set()
        if not self.decided.wait(HOLD_SECONDS) or not self.is_open:
            raise Closed

    def wait_until_reached(self) -> None:
        assert self.reached.wait(HOLD_SECONDS), "Nothing came to the gate."

    def open(self) -> None:
        self.is_open = True
        self.decided.set()

    def lose(self) -> None:
        self.decided.set()


def hold_request(gate: Gate, then: Fate = deliver) -> Fate:
    """The server gets the request when the gate opens, even if the browser has given it up."""

    def fate(exchange: Exchange) -> None:
        exchange.hold(gate)
        then(exchange)

    return fate


def arrive_late(gate: Gate) -> Fate:
    """The connection breaks at once; the server gets the request all the same, when the gate opens."""

    def fate(exchange: Exchange) -> None:
        exchange.browser.shutdown(socket.SHUT_RDWR)
        exchange.hold(gate)
        exchange.forward()
        raise Closed

    return fate


def hold_reply(gate: Gate) -> Fate:
    def fate(exchange: Exchange) -> None:
        reply = exchange.forward()
        exchange.hold(gate)
        exchange.reply(reply)

    return fate


# The proxy


@dataclass
class Rule:
    method: str
    path: re.Pattern[str]
    fates: Iterator[Fate]


@dataclass
class Proxy:
    """`sent`: what the browser sent; `received`: what the server has answered.

    `keeps_alive` False: every request has a connection of its own.
    """

    upstream: int
    keeps_alive: bool = False
    sent: list[Request] = field(default_factory=list)
    received: list[Request] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    gates: list[Gate] = field(default_factory=list)
    browsers: set[socket.socket] = field(default_factory=set)
    is_over: bool = False

    def __post_init__(self) -> None:
        self.changed = threading.Condition()
        self.connections = count()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.accept, daemon=True).start()

    def reset(self) -> None:
        """A network without faults, for the next test."""
        with self.changed:
            self.keeps_alive = self.is_over = False
            self.sent, self.received, self.rules, self.gates = [], [], [], []

    def settle(self) -> None:
        """The test is over: what is held is lost, the server has answered what came to it, nothing more comes until `reset`."""
        with self.changed:
            self.is_over = True
            for gate in self.gates:
                gate.lose()
            for browser in self.browsers:
                with suppress(OSError):  # already closed by the browser
                    browser.shutdown(socket.SHUT_RDWR)
            assert self.changed.wait_for(lambda: not self.browsers, HOLD_SECONDS), "The server is not quiet."

    def plan(self, *fates: Fate, method: str = "(PUT|POST)", path: str = SAVE) -> None:
        """The next matching requests meet these fates, one each; those after them what was planned later, or are delivered."""
        self.rules.append(Rule(method, re.compile(path), iter(fates)))

    def always(self, fate: Fate, method: str = "(PUT|POST)", path: str = SAVE) -> None:
        self.rules.append(Rule(method, re.compile(path), repeat(fate)))

    def heal(self) -> None:
        self.rules = []

    def saves(self, article: Article | None = None) -> list[Request]:
        """The feedback requests that reached the server; all, or those for one article."""
        return [request for request in self.received if is_save(request, article)]

    def tries(self, article: Article | None = None) -> list[Request]:
        """The feedback requests that the browser sent."""
        return [request for request in self.sent if is_save(request, article)]

    def wait_for_tries(self, number: int, article: Article | None = None) -> None:
        self.wait_until(lambda: len(self.tries(article)) >= number, f"There were no {number} tries.")

    def wait_for_saves(self, number: int, article: Article | None = None) -> None:
        self.wait_until(lambda: len(self.saves(article)) >= number, f"No {number} saves came to the server.")

    def wait_until(self, came: Callable[[], bool], otherwise: str) -> None:
        with self.changed:
            assert self.changed.wait_for(came, HOLD_SECONDS), otherwise

    def note(self, journal: list[Request], request: Request) -> None:
        with self.changed:
            journal.append(request)
            self.changed.notify_all()

    def guard(self, gate: Gate) -> None:
        """A gate that is reached when the test is over stays closed."""
        with self.changed:
            self.gates.append(gate)
            if self.is_over:
                gate.lose()

    def accept(self) -> None:
        while True:
            browser, _address = self.listener.accept()
            threading.Thread(target=self.serve, args=(browser, next(self.connections)), daemon=True).start()

    def serve(self, browser: socket.socket, connection: int) -> None:
        with browser, suppress(Closed, OSError), self.attended(browser):  # a socket may be closed at any moment
            for number in count():
                head, body = read_message(browser)
                method, path, _version = head.decode("latin-1").split("\r\n")[0].split(" ")
                request = Request(method, path, headers_of(head), body, head, connection, number == 0)
                self.note(self.sent, request)
                self.fate_of(request)(Exchange(self, request, browser))

    @contextmanager
    def attended(self, browser: socket.socket) -> Iterator[None]:
        """Between two tests nothing is read: what was sent then would come too late for the one and too early for the other."""
        with self.changed:
            if self.is_over:
                raise Closed
            self.browsers.add(browser)
        try:
            yield
        finally:
            with self.changed:
                self.browsers.remove(browser)
                self.changed.notify_all()

    def fate_of(self, request: Request) -> Fate:
        with self.changed:
            for rule in self.rules:
                if (
                    re.fullmatch(rule.method, request.method)
                    and rule.path.search(request.path)
                    and (fate := next(rule.fates, None))
                ):
                    return fate
        return deliver


def is_save(request: Request, article: Article | None) -> bool:
    which = SAVE.replace(r"\d+", str(article.pk)) if article else SAVE
    return request.method in ("PUT", "POST") and bool(re.match(which, request.path))
