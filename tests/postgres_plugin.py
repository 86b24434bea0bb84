"""A pytest plugin: the environment of the tests, and a PostgreSQL of their own unless DATABASE_URL names a database.

Loaded with `-p`: pytest-django reads the settings before any conftest.
"""

import atexit
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator

import pytest

from tests.postgres import Server

ENVIRONMENT = {
    "SECRET_KEY": "only-for-tests-0123456789-0123456789-0123456789-0123456789",
    "DEBUG": "false",
    "INSECURE_HTTP": "true",
    "ALLOWED_HOSTS": "testserver,127.0.0.1,localhost",
    "CACHE_URL": "locmemcache://tests?max_entries=10000",
    "EMAIL_URL": "memorymail://",
    "DJANGO_ALLOW_ASYNC_UNSAFE": "true",  # Playwright keeps an event loop on the test's thread
}

WORKER = os.environ.get("PYTEST_XDIST_WORKER")  # of several processes; the first one only hands out their work

if WORKER:
    os.environ["STATIC_ROOT"] += f"/{WORKER}"
else:
    os.environ |= ENVIRONMENT | {"STATIC_ROOT": tempfile.mkdtemp(prefix="devpick-static-")}
    # At the process's end and not in a hook of pytest: settings that cannot be read end it before any later hook.
    atexit.register(shutil.rmtree, os.environ["STATIC_ROOT"], ignore_errors=True)
signal.signal(signal.SIGTERM, signal.default_int_handler)  # a stopped run stops its server too


def start_database() -> None:
    """Until the process ends. Nothing if DATABASE_URL names a database."""
    if "DATABASE_URL" not in os.environ:
        server = Server()
        atexit.register(server.stop)
        os.environ["DATABASE_URL"] = server.url


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    """A server for each process that runs tests: they look at transaction ids and lock waits, which are the whole server's."""
    if WORKER or not early_config.known_args_namespace.numprocesses:
        start_database()
    return (yield)
