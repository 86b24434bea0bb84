"""For load balancers: is the process alive, and may it be sent requests?"""

from django.core.cache import cache
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse

from devpick.problems import AWAY


def healthz(request: HttpRequest) -> JsonResponse:
    """The process answers. Nothing else is asked: a database that is away must not get healthy processes restarted."""
    return JsonResponse({"status": "ok"})


def readyz(request: HttpRequest) -> JsonResponse:
    """200 when database and cache are reached and every migration of this code is applied, else 503 with the reason."""
    reason = not_ready()
    if reason:
        return JsonResponse({"status": "unavailable", "reason": reason}, status=503)
    return JsonResponse({"status": "ok"})


def not_ready() -> str:
    try:
        executor = MigrationExecutor(connection)
        cache.get("readyz")
    except AWAY:
        return "The database or the cache cannot be reached."
    pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return f"{len(pending)} migrations are not applied: run manage.py migrate." if pending else ""
