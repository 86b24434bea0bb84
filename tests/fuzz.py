"""make fuzz: schemathesis sends what the API's description allows, and what it does not, to a real server.

No request may be answered 5xx, or in a way that the description does not know: status, type, headers, shape; and what it allows
is accepted, but for what no description can say (fuzz.toml). HEAD is left out: it is GET without the body. Run as nobody, with a
token and with a session. Usage: python -m tests.fuzz PATH-OF-SCHEMATHESIS
"""

import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.postgres_plugin import start_database  # which sets the tests' environment too, before Django reads the settings

CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance,unsupported_method,allow_header_conformance,positive_data_acceptance"
)
# One worker: two threads of CPython 3.11 that parse source at once can fail with a SystemError.
OPTIONS = ["--checks", CHECKS, "--max-examples", "60", "--seed", "7", "--generation-database", "none", "--workers", "1"]
OPTIONS += ["--phases", "examples,coverage,fuzzing", "--warnings", "off", "--continue-on-failure", "--no-color"]
OPTIONS += ["--exclude-method", "HEAD"]
CONFIG = Path(__file__).with_name("fuzz.toml")


def main(schemathesis: str) -> int:
    start_database()
    os.environ["DJANGO_SETTINGS_MODULE"] = "devpick.settings"
    import django
    from django.core.management import call_command

    django.setup()
    logging.disable(logging.INFO)
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)

    from tests.api_trials import build_world
    from tests.live_server import LiveServer

    reader = build_world()
    # A request line of any length comes to us: past 4 KiB gunicorn would answer by itself.
    with LiveServer(GUNICORN_CMD_ARGS="--limit-request-line 0") as server:
        command = [schemathesis, "--config-file", str(CONFIG), "run", f"{server.url}/api/schema/", *OPTIONS]
        results = [fuzz(who, [*command, *headers]) for who, headers in identities(reader).items()]
    return max(results)


def identities(reader: Any) -> dict[str, list[str]]:
    """Who asks, by the headers that say so."""
    from django.test import Client

    from tests.factories import token_of

    browser = Client()
    browser.force_login(reader)
    browser.get("/account/delete/")
    session, csrf = browser.cookies["sessionid"].value, browser.cookies["csrftoken"].value
    cookies = f"Cookie: sessionid={session}; csrftoken={csrf}"
    return {
        "nobody": [],
        "a token": ["--header", f"Authorization: Token {token_of(reader)}"],
        "a session": ["--header", cookies, "--header", f"X-CSRFToken: {csrf}"],
    }


def fuzz(who: str, command: list[str]) -> int:
    print(f"== Fuzzing as {who}", flush=True)
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
