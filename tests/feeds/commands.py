"""Commands as an operator calls them."""

import io
from typing import Any

from django.core.management import call_command


class Run:
    """One call of the command: what it printed, and its exit status."""

    def __init__(self, *arguments: str, command: str = "fetch_feeds", **options: Any) -> None:
        out, err = io.StringIO(), io.StringIO()
        try:
            call_command(command, *arguments, stdout=out, stderr=err, **options)
            self.status: Any = 0
        except SystemExit as stop:
            self.status = stop.code
        self.out, self.err = out.getvalue(), err.getvalue()
