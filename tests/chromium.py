"""The browser of the tests: a full Chromium (an extension is loaded). Run as a program, it installs one if there is none."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
HOW_TO = "Install Chromium (on Debian: apt-get install chromium; elsewhere: .venv/bin/python -m playwright install chromium)."


def find_chromium() -> str | None:
    """The path of a Chromium on this machine, or None."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def install_chromium() -> None:
    """Debian's for root on Debian, else the one that Playwright downloads to the user's cache."""
    if os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["apt-get", "update", "-qq"], check=False)
        subprocess.run(["apt-get", "install", "-y", "-qq", "chromium"], check=False)
    else:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)


def starts(path: str) -> bool:
    return subprocess.run([path, "--version"], capture_output=True).returncode == 0


def main() -> None:
    if find_chromium() is None:
        install_chromium()
    path = find_chromium()
    if path is None or not starts(path):
        sys.exit(f"The browser tests need a Chromium that starts; there is none. {HOW_TO}")


if __name__ == "__main__":
    main()
