from django.contrib import admin
from django.urls import path

from devpick.health import healthz, readyz
from devpick.problems import api_not_found
from feedback.urls import api_patterns

urlpatterns = [
    path("healthz", healthz),
    path("readyz", readyz),
    path("admin/", admin.site.urls),
    *api_patterns,
    path("api/", api_not_found),
    path("api/<path:rest>", api_not_found),
]

handler404 = "devpick.problems.not_found"
handler500 = "devpick.problems.server_error"
