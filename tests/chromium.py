"""The browser of the tests: the full Chromium (an extension is loaded), Debian's or Playwright's own."""

import shutil
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


def find_chromium() -> str | None:
    """The path of a Chromium on this machine, or None."""
    if installed := shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome"):
        return installed
    with sync_playwright() as playwright:
        downloaded = playwright.chromium.executable_path
    return downloaded if Path(downloaded).exists() else None
