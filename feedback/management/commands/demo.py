"""manage.py demo: everything a first look needs, and the server. A second call loses nothing."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from articles.feeds.sample import load_sample
from articles.models import Article, User
from feedback.services import apply_feedback
from feedback.verdicts import Wish

USERNAME, PASSWORD = "reader", "reads-the-news"
LIKED_TAGS = ("postgres", "rust", "testing")
FETCH_LOG = settings.VAR_DIR / "fetch_feeds.log"


class Command(BaseCommand):
    help = "Prepare the database, the bundled sample and a demo reader, then serve DevPick on this machine."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--no-serve", action="store_true", help="prepare the data, start no server")
        parser.add_argument("--offline", action="store_true", help="do not fetch the default feeds")
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *, no_serve: bool, offline: bool, port: int, **options: Any) -> None:
        if settings.SESSION_COOKIE_SECURE:
            raise CommandError("This is a production site, and everybody knows the demo reader's password. Unset its variables.")
        if not no_serve:
            require_free(port)
        call_command("migrate", verbosity=0)
        load_sample(timezone.now())
        login = prepare_reader()
        self.stdout.write(f"Log in as: {login}")
        if not no_serve:
            self.serve(port, offline=offline)

    def serve(self, port: int, *, offline: bool) -> None:
        if manage("collectstatic", "--no-input", "--verbosity", "0").wait():
            raise CommandError("The static files could not be prepared; the lines above say why.")
        with stopped_at_the_end() as children:
            if not offline:
                self.stdout.write(f"Fetching the default feeds in the background; what came of it: {FETCH_LOG}")
                children.append(fetch_in_background())
            self.stdout.write(f"DevPick is at http://127.0.0.1:{port} (Ctrl-C stops it)")
            self.stdout.flush()
            server = start_server(port)
            children.append(server)
            if status := server.wait():
                raise CommandError("The server stopped by itself; its last lines above say why.", returncode=status)


def require_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except (OSError, OverflowError):
            message = f"Port {port} of 127.0.0.1 cannot be used (taken?). Choose another one: make run PORT=8001"
            raise CommandError(message) from None


def prepare_reader() -> str:
    """Make the demo reader and their first likes, once. Returns how to log in."""
    user, is_new = User.objects.get_or_create(username=USERNAME)
    if is_new:
        user.set_password(PASSWORD)
        user.save(update_fields=["password"])
        like_a_few(user)
    if is_new or user.check_password(PASSWORD):
        return f"{USERNAME} / {PASSWORD}"
    return f"{USERNAME} (with the password that you gave it)"


def like_a_few(user: User) -> None:
    """So that "For you" is ranked at the first look."""
    for tag in LIKED_TAGS:
        for article in Article.objects.filter(search_text__contains=f"\n#{tag}\n")[:2]:
            apply_feedback(profile_id=user.pk, article_id=article.pk, wish=Wish(liked=True))


def child_environment() -> dict[str, str]:
    """As in production, but for plain HTTP on this machine alone."""
    ours = {"DEBUG": "false", "INSECURE_HTTP": "true", "SECRET_KEY": settings.SECRET_KEY}
    return {"ALLOWED_HOSTS": "127.0.0.1,localhost,[::1]"} | os.environ | ours


def manage(*arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "manage.py", *arguments], cwd=settings.BASE_DIR, env=child_environment(), **options)


def fetch_in_background() -> subprocess.Popen[bytes]:
    FETCH_LOG.parent.mkdir(exist_ok=True)
    with FETCH_LOG.open("wb") as log:
        return manage("fetch_feeds", "--default-list", stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def start_server(port: int) -> subprocess.Popen[bytes]:
    """One process: its cache is shared by all requests. Threads: a slow client holds up nobody."""
    command = [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}", "--threads", "8", "--no-control-socket"]
    quiet = ["--limit-request-line", "8190", "--log-level", "warning"]
    return subprocess.Popen([*command, *quiet, "devpick.wsgi"], cwd=settings.BASE_DIR, env=child_environment())


@contextmanager
def stopped_at_the_end() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Ctrl-C and SIGTERM end the children too, and are no error."""
    children: list[subprocess.Popen[bytes]] = []
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield children
    except KeyboardInterrupt:
        pass
    finally:
        for child in children:
            child.terminate()
        for child in children:
            child.wait()
