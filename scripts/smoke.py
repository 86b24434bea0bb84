"""`make run` as a new reader would use it: start, log in, read three pages of cards, stop. Standard library only."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from html import unescape
from http.cookiejar import CookieJar
from pathlib import Path
from tempfile import TemporaryFile
from urllib.error import URLError
from urllib.parse import urlencode, urljoin
from urllib.request import HTTPCookieProcessor, OpenerDirector, build_opener

START_SECONDS, STOP_SECONDS, CARDS = 600, 20, 60


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_ready(server: subprocess.Popen[str], browser: OpenerDirector, url: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            browser.open(f"{url}/readyz", timeout=10).close()
            return
        except (URLError, ConnectionError, TimeoutError):
            if server.poll() is not None or time.monotonic() > deadline:
                sys.exit("smoke: make run did not come up")
            time.sleep(0.2)


def get(browser: OpenerDirector, url: str, data: dict[str, str] | None = None) -> str:
    body = urlencode(data).encode() if data else None
    with browser.open(url, body, timeout=30) as response:
        return str(response.read().decode())


def log_in(browser: OpenerDirector, url: str, login: str) -> None:
    username, password = login.split(" / ")
    form = get(browser, f"{url}/login/")
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)
    fields = {"username": username, "password": password, "csrfmiddlewaretoken": token[1] if token else ""}
    if "/logout/" not in get(browser, f"{url}/login/", fields):
        sys.exit("smoke: the demo reader cannot log in")


def read_cards(browser: OpenerDirector, url: str) -> set[str]:
    """The ids of the cards on the first page and those behind More."""
    cards: set[str] = set()
    address: str | None = url + "/"
    while address and len(cards) < CARDS:
        page = get(browser, address)
        cards |= set(re.findall(r'<article-card[^>]* data-article="(\d+)"', page))
        more = re.search(r'href="([^"]*cursor=[^"]*)"', page)
        address = urljoin(address, unescape(more[1])) if more else None
    return cards


def stop(server: subprocess.Popen[str], port: int) -> None:
    """As Ctrl-C does: an interrupt to all of them; nothing may stay behind."""
    os.killpg(server.pid, signal.SIGINT)
    server.wait(timeout=STOP_SECONDS)
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            sys.exit("smoke: the server is still there after Ctrl-C")


def main() -> None:
    port, browser, root = free_port(), build_opener(HTTPCookieProcessor(CookieJar())), Path(__file__).parent.parent
    url = f"http://127.0.0.1:{port}"
    with TemporaryFile("w+") as said:
        server = subprocess.Popen(["make", "run", f"PORT={port}"], cwd=root, stdout=said, text=True, start_new_session=True)
        try:
            wait_until_ready(server, browser, url)
            said.seek(0)
            login = re.search(r"^Log in as: (.*)$", said.read(), re.MULTILINE)
            log_in(browser, url, login[1] if login else "")
            cards = read_cards(browser, url)
            stop(server, port)
        finally:
            if server.poll() is None:
                os.killpg(server.pid, signal.SIGKILL)
    if len(cards) < CARDS:
        sys.exit(f"smoke: {len(cards)} cards instead of at least {CARDS}")
    print(f"smoke: make run served the demo reader {len(cards)} cards and stopped")


if __name__ == "__main__":
    main()
