"""Setting DevPick up: what a command prepares, what production refuses, what must never be committed."""

import json
import os
import re
import subprocess
import sys
from http.cookies import SimpleCookie
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from rest_framework.test import APIClient

from articles.models import ApiToken, Article, User
from feedback.models import Feedback, Verdict
from tests.factories import PASSWORD
from tests.live_server import LiveServer, database_url

PRODUCTION = {
    "SECRET_KEY": "gT3-c2Tq8nXw5vKz1yB7mRj4pLd9sHf6aEu0iOoQxWkVZbNrMJhYtGcDF",
    "DEBUG": "false",
    "INSECURE_HTTP": "false",
    "ALLOWED_HOSTS": "devpick.example",
    "DJANGO_ALLOW_ASYNC_UNSAFE": "",
}


def manage(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """manage.py as an operator runs it; a variable set to "" is as good as not there."""
    command = [sys.executable, "manage.py", *arguments]
    env = os.environ | {"DATABASE_URL": database_url()} | environment
    return subprocess.run(command, cwd=settings.BASE_DIR, env=env, capture_output=True, text=True, timeout=120)


def committed_files() -> list[Path]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=settings.BASE_DIR, capture_output=True, text=True, check=True).stdout
    return [path for name in listing.split("\0") if name and (path := settings.BASE_DIR / name).is_file()]


class TestProductionSettings:
    def test_a_missing_secret_key_is_refused_with_what_to_do(self) -> None:
        done = manage("check", SECRET_KEY="", DEBUG="false")
        assert done.returncode == 1
        assert done.stderr.strip().endswith("Set SECRET_KEY to a long random text, or DEBUG=true on a developer's machine.")

    def test_deploy_check_has_nothing_to_say(self) -> None:
        done = manage("check", "--deploy", "--fail-level", "WARNING", **PRODUCTION)
        assert (done.returncode, done.stdout, done.stderr) == (0, "System check identified no issues (0 silenced).\n", "")

    def test_b53_the_session_cookie_is_secure_http_only_and_same_site(self, transactional_db: None, reader: User) -> None:
        script = (
            "from django.test import Client\n"
            "client = Client(headers={'host': 'devpick.example'})\n"
            f"form = {{'username': {reader.username!r}, 'password': {PASSWORD!r}}}\n"
            "print(client.post('/login/', form, secure=True).cookies['sessionid'].OutputString())\n"
        )
        done = manage("shell", "--no-imports", "-c", script, **PRODUCTION)
        cookie = SimpleCookie(done.stdout)["sessionid"]
        assert (cookie["secure"], cookie["httponly"], cookie["samesite"]) == (True, True, "Lax")


class TestDemo:
    def test_a_second_call_loses_nothing(self, db: None) -> None:
        said = demo()
        article = Article.objects.exclude(feedback__verdict=Verdict.LIKED).earliest("pk")
        api = APIClient()
        api.force_authenticate(User.objects.get())
        api.put(f"/api/articles/{article.pk}/like/", {"liked": True}, format="json")
        before = everything()

        assert demo() == said
        assert everything() == before
        assert Feedback.objects.get(article=article).verdict == Verdict.LIKED

    def test_the_printed_log_in_works(self, db: None) -> None:
        login = re.search(r"^Log in as: (\S+) / (\S+)$", demo(), re.MULTILINE)
        assert login is not None
        assert Client().login(username=login[1], password=login[2])

    def test_a_changed_password_is_left_alone(self, db: None) -> None:
        demo()
        User.objects.update(password=make_password(PASSWORD))
        assert "Log in as: reader (with the password that you gave it)" in demo()
        assert Client().login(username="reader", password=PASSWORD)

    def test_sixty_articles_in_two_languages_and_a_ranked_list(self, db: None) -> None:
        demo()
        assert Article.objects.count() >= 60
        assert set(Article.objects.values_list("language", flat=True)) == {"en", "ja"}
        assert Article.objects.values("feed").distinct().count() >= 3
        assert Feedback.objects.filter(profile__user__username="reader", verdict=Verdict.LIKED).count() >= 3

    def test_a_production_site_gets_no_reader_whose_password_everybody_knows(self, db: None, settings: Any) -> None:
        settings.SESSION_COOKIE_SECURE = True
        with pytest.raises(CommandError, match="production site"):
            demo()
        assert not User.objects.exists()

    def test_a_taken_port_is_said(self, live: LiveServer) -> None:
        done = manage("demo", "--offline", "--port", str(live.port))
        assert done.returncode == 1
        assert done.stderr.strip().endswith(
            f"Port {live.port} of 127.0.0.1 cannot be used (taken?). Choose another one: make run PORT=8001"
        )


def demo() -> str:
    printed = StringIO()
    call_command("demo", no_serve=True, offline=True, stdout=printed)
    return printed.getvalue()


def everything() -> dict[str, Any]:
    """All rows a reader would miss."""
    return {model.__name__: list(model.objects.order_by("pk").values()) for model in (User, Article, Feedback)}


class TestCreateToken:
    def test_it_prints_a_token_that_the_api_takes_and_nothing_else(
        self, reader: User, other_reader: User, article: Article
    ) -> None:
        printed = StringIO()
        call_command("create_token", reader.username, "--name", "curl", stdout=printed)
        token = printed.getvalue().removesuffix("\n")
        client = APIClient(headers={"authorization": f"Token {token}"})

        reply = client.put(f"/api/articles/{article.pk}/like/", {"liked": True}, format="json")

        assert reply.json()["changed"] is True
        assert list(Feedback.objects.values_list("profile", "verdict")) == [(reader.pk, Verdict.LIKED)]
        assert list(ApiToken.objects.values_list("user", "name", "expiry")) == [(reader.pk, "curl", None)]

    def test_two_tokens_of_one_reader_stay_valid_together(self, reader: User) -> None:
        tokens = [StringIO(), StringIO()]
        for printed in tokens:
            call_command("create_token", reader.username, stdout=printed)
        assert tokens[0].getvalue() != tokens[1].getvalue()
        assert ApiToken.objects.filter(user=reader).count() == 2

    def test_an_unknown_reader_is_said(self, db: None) -> None:
        with pytest.raises(CommandError, match=r"There is no reader named .nobody.\. Sign up on the page first\."):
            call_command("create_token", "nobody")
        assert ApiToken.objects.count() == 0


class TestHealth:
    def test_healthz_asks_no_database(self, client: Client, django_assert_num_queries: Any, db: None) -> None:
        with django_assert_num_queries(0):
            reply = client.get("/healthz")
        assert (reply.status_code, reply.json()) == (200, {"status": "ok"})

    def test_readyz_when_all_is_well(self, client: Client, db: None) -> None:
        reply = client.get("/readyz")
        assert (reply.status_code, reply.json()) == (200, {"status": "ok"})

    def test_readyz_names_a_missing_migration(self, client: Client, db: None) -> None:
        newest = MigrationLoader(connection).graph.leaf_nodes("feedback")[0]
        MigrationRecorder(connection).record_unapplied(*newest)
        reply = client.get("/readyz")
        assert reply.status_code == 503
        assert reply.json()["reason"].endswith("run manage.py migrate.")

    def test_a_database_that_is_away_is_not_ready_but_alive(self, transactional_db: None, tmp_path: Path) -> None:
        away = "postgres://nobody:@127.0.0.1:9/nothing" if connection.vendor == "postgresql" else f"sqlite:///{tmp_path}/no/db"
        script = (
            "from django.test import Client\n"
            "replies = [Client(headers={'host': 'localhost'}).get(path) for path in ('/healthz', '/readyz')]\n"
            "import json; print(json.dumps([[reply.status_code, reply.json()] for reply in replies]))\n"
        )
        done = manage("shell", "--no-imports", "-c", script, DATABASE_URL=away)
        assert json.loads(done.stdout.splitlines()[-1]) == [
            [200, {"status": "ok"}],
            [503, {"status": "unavailable", "reason": "The database or the cache cannot be reached."}],
        ]


class TestCommittedFiles:
    def test_no_registry_host_is_recorded(self) -> None:
        """A lock that names an address would bind everybody to the machine that made it."""
        recorded = re.compile(rb"https?://|--(extra-)?index-url|\"resolved\"")
        locks = [
            path for path in committed_files() if path.name.startswith(("requirements", "package")) or path.suffix == ".toml"
        ]
        assert len(locks) >= 5
        assert [path for path in locks if recorded.search(path.read_bytes())] == []

    def test_every_requirement_is_pinned_by_hash(self) -> None:
        for name in ("requirements.txt", "requirements-dev.txt"):
            text = (settings.BASE_DIR / name).read_text()
            pins = re.findall(r"^[a-z0-9._\[\]-]+==\S+ \\\n    --hash=sha256:", text, re.MULTILINE)
            assert len(pins) == len(re.findall(r"^[a-z0-9]", text, re.MULTILINE)) > 10

    def test_no_secret_database_or_private_key(self) -> None:
        secret = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----|[d]jango-insecure-|AKIA[0-9A-Z]{16}")
        assert [path for path in committed_files() if secret.search(path.read_bytes())] == []
        assert [
            path for path in committed_files() if path.suffix in {".sqlite3", ".env", ".pem"} or path.parts[-2] == "var"
        ] == []
