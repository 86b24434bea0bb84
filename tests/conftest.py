"""What every test may ask for. A second reader stands beside the first wherever something is counted or listed."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection
from rest_framework.test import APIClient

from articles import snapshot
from articles.models import Article, User
from tests.chromium import HOW_TO, QUIET, find_chromium
from tests.factories import ArticleFactory, UserFactory, token_of
from tests.live_server import LiveServer


@pytest.fixture(scope="session", autouse=True)
def static_files() -> None:
    """Pages name their files by hash, as in production."""
    call_command("collectstatic", interactive=False, verbosity=0)
    # Each test client is a server of its own to WhiteNoise, which reads all files at a server's start unless told to look later.
    settings.WHITENOISE_AUTOREFRESH = True


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> None:
    """Hashed once and not a million times; a server process can read them all the same."""
    PBKDF2PasswordHasher.iterations = 1


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """SQLite in memory cannot be shared by threads and processes; a file can."""
    if connection.vendor == "sqlite":
        connection.settings_dict["TEST"]["NAME"] = str(tmp_path_factory.mktemp("db") / "test.sqlite3")


@pytest.fixture(autouse=True)
def fresh_caches() -> None:
    """A test's rows are gone after it, so is what was remembered of them."""
    cache.clear()
    snapshot._kept = None


@pytest.fixture
def patient_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the threads of a test: twenty who wait for one row can take longer on a busy machine than a save waits for a lock.

    They would be answered 503 and send again; what is looked at here is what they do when they get the lock.
    """
    options = connection.settings_dict["OPTIONS"]
    if connection.vendor == "sqlite":
        monkeypatch.setitem(options, "timeout", 60)
    else:
        monkeypatch.setitem(options, "options", f"{options['options']} -c lock_timeout=60s")


@pytest.fixture
def reader(db: None) -> User:
    return UserFactory()


@pytest.fixture
def other_reader(db: None) -> User:
    return UserFactory()


@pytest.fixture
def article(db: None) -> Article:
    return ArticleFactory()


def client_of(user: User) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {token_of(user)}")
    return client


@pytest.fixture
def api(reader: User) -> APIClient:
    """The API as `reader` uses it, with a token."""
    return client_of(reader)


@pytest.fixture
def other_api(other_reader: User) -> APIClient:
    return client_of(other_reader)


@pytest.fixture
def anonymous_api(db: None) -> APIClient:
    return APIClient()


@pytest.fixture(scope="session")
def live_process(django_db_setup: None, django_db_blocker: Any) -> Iterator[LiveServer]:
    with django_db_blocker.unblock(), LiveServer() as server:
        yield server


@pytest.fixture
def live(transactional_db: None, live_process: LiveServer) -> LiveServer:
    """The run's server process on the test's database; rows are committed, so that it sees them."""
    return live_process


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    path = find_chromium()
    if path is None:
        pytest.exit(f"The browser tests found no Chromium. {HOW_TO}", returncode=4)
    return browser_type_launch_args | {"executable_path": path, "args": QUIET}
