#!/usr/bin/env python
"""DevPick's command line."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "devpick.settings")
    # A deployment names its SECRET_KEY; a checkout without one is a developer's.
    if "SECRET_KEY" not in os.environ:
        os.environ.setdefault("DEBUG", "true")
    from django.core.management import execute_from_command_line
    from django.db import DatabaseError

    try:
        execute_from_command_line(sys.argv)
    except DatabaseError as error:
        if "--traceback" in sys.argv:
            raise
        sys.exit(f"The database is away, busy, or not migrated (manage.py migrate): {error}")


if __name__ == "__main__":
    main()
