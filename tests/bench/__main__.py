"""make bench: what DevPick promises of its speed, measured as ratios and counts in one run on a PostgreSQL of its own."""

import logging
import os
import sys

import tests.postgres_plugin  # noqa: F401  (the environment and the server, before Django reads the settings)
from tests.live_server import NO_LIMITS


def main() -> None:
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
