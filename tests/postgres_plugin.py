"""A pytest plugin: the environment of the tests, and a PostgreSQL of their own unless DATABASE_URL names a database.

Loaded with `-p`: pytest-django reads the settings before any conftest.
"""

import os
import shutil
import signal
import tempfile

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
