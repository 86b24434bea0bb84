"""The real server as its own process, for tests that need one: a browser's, a killed one's, a benchmark's."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from django.db import connection

START_SECONDS = 30
# One address writes for the whole run; tests of the limits name their own.
NO_LIMITS = {
    "WRITES_PER_MINUTE_READER": "1000000",
    "WRITES_PER_MINUTE_ADDRESS": "1000000",
    "IMPORTS_PER_MINUTE_READER": "1000000",
    "ACCOUNT_FORMS_PER_MINUTE_ADDRESS": "1000000",
    "LOGINS_PER_MINUTE_NAME": "1000000",
}


def database_url(settings: dict[str, Any] | None = None) -> str:
    """The address of a database as DATABASE_URL takes it; the test's own unless told otherwise."""
    db = settings or connection.settings_dict
    if db["ENGINE"].endswith("sqlite3"):
        return f"sqlite:///{db['NAME']}"
    host = db["HOST"] or db["OPTIONS"].get("host", "")
    return f"postgres://{db['USER']}:{db['PASSWORD']}@/{db['NAME']}?host={host}&port={db['PORT'] or 5432}"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class LiveServer:
    """gunicorn with threads on a port of its own. The port outlives a `kill()`, so `start()` brings the same address back.

    `environment` adds to the server's environment: DATABASE_URL (else the test's database), limits, origins.
    """

    def __init__(self, *, workers: int = 1, threads: int = 8, **environment: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = Path(tempfile.mkstemp(prefix="devpick-server-", suffix=".log")[1])
        self.command = [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{self.port}", "--workers", str(workers)]
        self.command += ["--threads", str(threads), "--no-control-socket", "--graceful-timeout", "5", "devpick.wsgi"]
        self.environment = os.environ | NO_LIMITS | {"DATABASE_URL": database_url()} | environment
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> Self:
        with self.log.open("ab") as log:
            # Its own process group, so that kill() reaches the workers too.
            self.process = subprocess.Popen(self.command, env=self.environment, stdout=log, stderr=log, start_new_session=True)
        deadline = time.monotonic() + START_SECONDS
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"The server did not start:\n{self.log.read_text()}")
            time.sleep(0.05)
        return self

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=5) as response:
                return bool(response.status == 200)
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False

    def kill(self) -> None:
        """`kill -9` of the server and all its workers: nothing is finished, nothing is said."""
        self.signal(signal.SIGKILL)

    def terminate(self) -> None:
        """An orderly stop: requests in flight are answered."""
        self.signal(signal.SIGTERM)

    def signal(self, number: int) -> None:
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, number)
            self.process.wait(timeout=START_SECONDS)
        self.process = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.kill()
        self.log.unlink(missing_ok=True)
