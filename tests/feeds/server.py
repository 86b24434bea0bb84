"""A real HTTP server on 127.0.0.1 that answers as a feed's server would, well or badly."""

from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Self


@dataclass
class Reply:
    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


class FeedServer:
    """Answers each path with its reply, with the next of a list (the last one stays), or with what a function does.

    Keeps the headers it received.
    """

    def __init__(self) -> None:
        self.replies: dict[str, Reply | list[Reply] | Callable[[BaseHTTPRequestHandler], object]] = {}
        self.received: list[dict[str, str]] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(self))
        self.server.daemon_threads = True

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server.server_port}{path}"

    def serve(self, path: str, body: bytes, content_type: str = "application/xml", **headers: str) -> str:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.replies[path] = Reply(body, headers={"Content-Type": content_type, **named})
        return self.url(path)

    def redirect(self, path: str, location: str, status: int = 302) -> str:
        self.replies[path] = Reply(status=status, headers={"Location": location})
        return self.url(path)

    def __enter__(self) -> Self:
        Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.server.shutdown()
        self.server.server_close()


def handler_of(feeds: FeedServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            feeds.received.append(dict(self.headers))
            reply = feeds.replies.get(self.path, Reply(status=404))
            if isinstance(reply, list):
                reply = reply.pop(0) if len(reply) > 1 else reply[0]
            if isinstance(reply, Reply):
                answer(self, reply)
            else:
                reply(self)

        def log_message(self, *args: object) -> None:
            pass

    return Handler


def answer(handler: BaseHTTPRequestHandler, reply: Reply) -> None:
    """The reply; 304 to whoever names its validator already."""
    etag, modified = reply.headers.get("ETag"), reply.headers.get("Last-Modified")
    known = (etag and handler.headers.get("If-None-Match") == etag) or (
        modified and handler.headers.get("If-Modified-Since") == modified
    )
    handler.send_response(304 if known else reply.status)
    for name, value in reply.headers.items():
        handler.send_header(name, value)
    if not known:
        handler.send_header("Content-Length", str(len(reply.body)))
    handler.end_headers()
    if not known:
        handler.wfile.write(reply.body)
