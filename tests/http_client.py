"""A client on a real socket, which may be cut off: what an extension or a script is to the server."""

import json
from http.client import HTTPConnection, HTTPException
from typing import Any, NamedTuple
from urllib.parse import urlsplit

LOST = (OSError, HTTPException)  # the reply never came; whether the save happened is unknown


class Answer(NamedTuple):
    status: int
    headers: Any
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """One reader's client with a token. Raises one of LOST when the reply is lost."""

    def __init__(self, url: str, token: str) -> None:
        self.address = urlsplit(url)
        self.headers = {"Authorization": f"Token {token}", "Content-Type": "application/json"}

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        connection = HTTPConnection(self.address.hostname or "", self.address.port, timeout=20)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), self.headers | headers)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def send_and_hang_up(self, method: str, path: str, body: Any, **headers: str) -> None:
        """The request goes through; nobody is there for the reply."""
        connection = HTTPConnection(self.address.hostname or "", self.address.port, timeout=20)
        connection.request(method, path, json.dumps(body), self.headers | headers)
        connection.close()

    def like(self, article_id: int, body: Any, method: str = "PUT", **headers: str) -> Answer:
        return self.send(method, f"/api/articles/{article_id}/like/", body, **headers)
