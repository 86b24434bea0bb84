"""A server of many feeds in a process of its own, so that its work is not counted: `python -m tests.bench.feed_server ITEMS`.

Prints its port. `/change/N` makes the first N feeds say something new: one more item, one other title.
"""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.feeds.documents import item, rss
from tests.feeds.server import Reply, answer

WORDS = "A paragraph of some length that a feed's summary would have, with <b>markup</b> and a few entities &amp; such. " * 3


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    items = 0
    changed = 0

    def do_GET(self) -> None:
        name, _slash, count = self.path.strip("/").partition("/")
        if name == "change":
            type(self).changed = int(count)
            return answer(self, Reply())
        edition = int(int(name) < self.changed)
        return answer(self, Reply(document(int(name), edition, self.items), headers={"ETag": f'"{name}-{edition}"'}))

    def log_message(self, *args: object) -> None:
        pass


def document(feed: int, edition: int, items: int) -> bytes:
    stories = [story(feed, n, edition) for n in range(1 - edition, items + 1 - edition)]
    return rss(*stories, title=f"Feed {feed}")


def story(feed: int, number: int, edition: int) -> str:
    title = f"Story {number} of {feed}" + (" corrected" if edition and number == 1 else "")
    tags = (f"tag{feed % 50}", f"tag{number}")
    return item(title, f"https://blog{feed}.example/{number}", f"{feed}-{number}", summary=WORDS, tags=tags)


def main() -> None:
    Handler.items = int(sys.argv[1])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
