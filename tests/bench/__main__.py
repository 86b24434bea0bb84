"""make bench: what DevPick promises of its speed, measured as ratios and counts in one run on a PostgreSQL of its own."""

import logging
import os
import sys

from tests.live_server import NO_LIMITS
from tests.postgres_plugin import start_database  # which sets the tests' environment too, before Django reads the settings


def main() -> None:
    start_database()
    os.environ |= NO_LIMITS | {"DJANGO_SETTINGS_MODULE": "devpick.settings"}
    import django
    from django.core.management import call_command

    from tests.bench.report import missed

    django.setup()
    logging.disable(logging.INFO)
    call_command("migrate", verbosity=0)
    run()
    if missed:
        sys.exit(f"Missed: {', '.join(missed)}")


def run() -> None:
    from django.test.utils import override_settings

    from tests.bench.feeds import bench_feeds
    from tests.bench.own import bench_own
    from tests.bench.ranking import bench_ranking
    from tests.bench.saves import bench_saves

    with override_settings(ROOT_URLCONF="tests.bench.urls"):
        bench_saves()
    bench_ranking()
    bench_own()
    bench_feeds()


if __name__ == "__main__":
    main()
