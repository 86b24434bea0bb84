"""A wrong environment is refused at the start, in a sentence."""

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("DATABASE_URL", "foo", "DATABASE_URL must be"),
        ("DATABASE_URL", "mysql://a/b", "DATABASE_URL must be"),
        ("DATABASE_URL", "postgres://u:p@h:port/x", "DATABASE_URL must be"),
        ("TRUSTED_PROXIES", "10.0.0.1/8", "TRUSTED_PROXIES: 10.0.0.1/8 has host bits set"),
        ("TRUSTED_PROXIES", "proxy.internal", "TRUSTED_PROXIES: 'proxy.internal'"),
    ],
)
def test_a_wrong_value_is_named(variable: str, value: str, said: str) -> None:
    command = [sys.executable, "-c", "import devpick.settings"]
    run = subprocess.run(command, env=os.environ | {variable: value}, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert said in run.stderr.splitlines()[-1]
