from django.contrib import admin
from django.urls import path, re_path
from django.views.generic import TemplateView

from articles.urls import api_patterns as article_api_patterns
from devpick.health import healthz, readyz
from devpick.problems import api_not_found
from feedback.urls import api_patterns

urlpatterns = [
    path("healthz", healthz),
    path("readyz", readyz),
    path("admin/", admin.site.urls),
    path("help/toggles/", TemplateView.as_view(template_name="help/toggles.html"), name="toggle-upgrade-notes"),
    *article_api_patterns,
    *api_patterns,
    re_path(r"^api(?:/.*)?$", api_not_found),
]

handler404 = "devpick.problems.not_found"
handler500 = "devpick.problems.server_error"
