from django.contrib import admin
from django.contrib.auth import views as auth_views
from django.templatetags.static import static
from django.urls import include, path, re_path
from django.utils.functional import lazy
from django.views.generic import RedirectView, TemplateView

from articles import token_pages
from articles.urls import api_patterns as article_api_patterns
from devpick.api_docs import api_docs, api_schema
from devpick.health import healthz, readyz
from devpick.problems import api_not_found
from feedback import views
from feedback.data_pages import own_data
from feedback.limits import limited, wait_for_account_form, wait_to_import, wait_to_write
from feedback.urls import api_patterns as feedback_api_patterns

limited_form = limited(wait_for_account_form)

account_patterns = [
    path("login/", limited_form(views.LogIn.as_view()), name="login"),
    path("signup/", limited_form(views.SignUp.as_view()), name="signup"),
    path("logout/", auth_views.LogoutView.as_view(), name="logout"),
    path("password/change/", limited_form(views.PasswordChange.as_view()), name="password_change"),
    path("password/reset/", limited_form(views.PasswordReset.as_view()), name="password_reset"),
    path("password/reset/sent/", views.PasswordResetSent.as_view(), name="password_reset_done"),
    path("password/reset/<uidb64>/<token>/", views.PasswordResetConfirm.as_view(), name="password_reset_confirm"),
    path("account/tokens/", limited_form(token_pages.tokens), name="tokens"),
    path("account/tokens/revoke/", token_pages.revoke, name="token-revoke"),
    path("account/data/", limited(wait_to_import)(own_data), name="own-data"),
    path("account/email/", limited_form(views.EmailChange.as_view()), name="email-change"),
    path("account/delete/", limited_form(views.DeleteAccount.as_view()), name="account-delete"),
]

urlpatterns = [
    path("", include("articles.urls")),
    re_path(
        r"^articles/(?P<article_id>[0-9]{1,18})/feedback$",
        limited(wait_to_write)(views.article_feedback),
        name="article-feedback",
    ),
    re_path(r"^articles/(?P<article_id>[0-9]{1,18})/read$", limited(wait_to_write)(views.article_read), name="article-read"),
    *account_patterns,
    path("help/toggles/", TemplateView.as_view(template_name="help/toggles.html"), name="toggle-upgrade-notes"),
    re_path(r"^api/schema/?$", api_schema, name="api-schema"),
    re_path(r"^api/docs/?$", api_docs, name="api-docs"),
    *article_api_patterns,
    *feedback_api_patterns,
    path("api", api_not_found),
    re_path(r"^api/", api_not_found),  # whatever follows, a line break too
    path("admin/login/", limited_form(admin.site.login)),
    path("admin/", admin.site.urls),
    path("robots.txt", TemplateView.as_view(template_name="robots.txt", content_type="text/plain; charset=utf-8")),
    path("favicon.ico", RedirectView.as_view(url=lazy(static, str)("img/favicon.svg"))),  # asked for also where no page names it
    path("healthz", healthz),
    path("readyz", readyz),
]

handler404 = "devpick.problems.not_found"
handler500 = "devpick.problems.server_error"
