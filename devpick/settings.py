"""DevPick's only settings file. Everything that differs between machines comes from the environment (table in the README)."""

import sys
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.core.management.utils import get_random_secret_key

from articles.retry import RetryPolicy

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = BASE_DIR / "var"
env = environ.Env()

DEBUG = env.bool("DEBUG", default=False)
INSECURE_HTTP = env.bool("INSECURE_HTTP", default=DEBUG)


def checkout_secret_key() -> str:
    """A random key of this checkout's own, kept in var/ so that log-ins outlive a restart."""
    VAR_DIR.mkdir(exist_ok=True)
    path = VAR_DIR / "secret-key"
    path.touch(mode=0o600)
    if not path.read_text():
        path.write_text(get_random_secret_key())
    return path.read_text()


SECRET_KEY = env("SECRET_KEY", default="") or (checkout_secret_key() if DEBUG else "")
if not SECRET_KEY:
    raise ImproperlyConfigured("Set SECRET_KEY to a long random text, or DEBUG=true on a developer's machine.")

ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["127.0.0.1", "localhost", "[::1]"] if DEBUG else [])

INSTALLED_APPS = [
    "feedback",
    "articles",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.humanize",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "knox",
    "corsheaders",
    "csp",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "csp.middleware.CSPMiddleware",
    "devpick.problems.UnavailableMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "devpick.urls"
WSGI_APPLICATION = "devpick.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# Database: SQLite beside the code, or what DATABASE_URL names.


def database(url: str) -> dict[str, Any]:
    """One connection's settings. Past the lock wait a save is answered 503, never queued for ever."""
    try:
        config = dict(env.db_url_config(url))
        engine = config["ENGINE"].rpartition(".")[2]
    except (KeyError, ValueError):
        engine = ""
    if engine not in ("sqlite3", "postgresql"):
        raise ImproperlyConfigured("DATABASE_URL must be sqlite:///FILE or postgres://USER:PASSWORD@HOST:PORT/NAME.")
    options = config.setdefault("OPTIONS", {})
    if engine == "sqlite3":
        # IMMEDIATE: a transaction that reads first and writes later cannot be refused in the middle.
        options |= {"transaction_mode": "IMMEDIATE", "timeout": 5, "init_command": "PRAGMA journal_mode=WAL"}
    else:
        options.setdefault("connect_timeout", 3)  # seconds; a host that drops packets is as away as one that refuses
        if "migrate" not in sys.argv[1:2]:  # a migration may wait for its lock
            options["options"] = "-c lock_timeout=1s -c idle_in_transaction_session_timeout=30s"
    return config | {"CONN_MAX_AGE": env.int("CONN_MAX_AGE", default=600)}


DATABASES = {"default": database(env("DATABASE_URL", default="") or f"sqlite:///{VAR_DIR / 'devpick.sqlite3'}")}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    VAR_DIR.mkdir(exist_ok=True)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Cache: in this process, or shared between processes and machines when CACHE_URL names a Redis.
CACHES = {"default": env.cache_url("CACHE_URL", default="locmemcache://devpick?max_entries=1000")}

# Readers
AUTH_USER_MODEL = "articles.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "list"
LOGOUT_REDIRECT_URL = "list"
KNOX_TOKEN_MODEL = "articles.ApiToken"
MIGRATION_MODULES = {"knox": None}  # they would make a table for the model that ours replaces
REST_KNOX = {"TOKEN_TTL": None}  # knox's default kills tokens after ten hours

# The API
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        # A token before the session: the other order refuses an extension whose browser also holds a cookie.
        "articles.authentication.TokenAuthentication",
        "articles.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "devpick.problems.IgnoreAccept",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_SCHEMA_CLASS": "devpick.openapi.DescribedView",
    "EXCEPTION_HANDLER": "devpick.problems.problem_response",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "OAS_VERSION": "3.1.1",
    "TITLE": "DevPick",
    "VERSION": "1",
    "POSTPROCESSING_HOOKS": ["devpick.openapi.complete"],
}
API_MAX_BODY_BYTES = 4096
# The day on which clients were told to send desired states instead of toggles (RFC 9745).
TOGGLE_DEPRECATED_AT = 1764547200  # 2025-12-01

# Where the page's repeats differ from articles.retry.RetryPolicy: its fields, in seconds.
PAGE_RETRY_POLICY = RetryPolicy(**env.json("PAGE_RETRY_POLICY", default={}))

EXTENSION_ORIGINS = env.list("EXTENSION_ORIGINS", default=[])
CORS_ALLOWED_ORIGINS = EXTENSION_ORIGINS
CORS_URLS_REGEX = r"^/api/"
CORS_ALLOW_HEADERS = [
    "accept",
    "authorization",
    "content-type",
    "idempotency-key",
    "if-none-match",
    "x-client-version",
    "x-csrftoken",
    "x-devpick-reader",
]
CORS_ALLOW_METHODS = ["GET", "HEAD", "POST", "PUT"]
CORS_EXPOSE_HEADERS = ["Content-Disposition", "Deprecation", "ETag", "Idempotency-Replayed", "Link", "Retry-After"]
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[]) + EXTENSION_ORIGINS

# Who is behind an address: the socket, or the client that these proxies name.
TRUSTED_PROXIES = env.list("TRUSTED_PROXIES", default=[])
for proxy in TRUSTED_PROXIES:
    try:
        proxy == "unix" or ip_network(proxy)
    except ValueError as error:
        raise ImproperlyConfigured(f"TRUSTED_PROXIES: {error}. Name addresses, networks or unix.") from None
# Allowed requests in a minute.
LIMITS = {
    "write-reader": env.int("WRITES_PER_MINUTE_READER", default=600),
    "write-address": env.int("WRITES_PER_MINUTE_ADDRESS", default=1200),
    "import-reader": env.int("IMPORTS_PER_MINUTE_READER", default=30),
    "account-address": env.int("ACCOUNT_FORMS_PER_MINUTE_ADDRESS", default=30),
    "login-name": env.int("LOGINS_PER_MINUTE_NAME", default=10),
}

# Feeds
FEEDS_ALLOW_PRIVATE_ADDRESSES = env.bool("FEEDS_ALLOW_PRIVATE_ADDRESSES", default=False)

# Mail
EMAIL_CONFIG = env.email("EMAIL_URL", default="consolemail://")
vars().update(EMAIL_CONFIG)
EMAIL_TIMEOUT = 10  # seconds
DEFAULT_FROM_EMAIL = env("DEFAULT_FROM_EMAIL", default="DevPick <devpick@localhost>")

# Languages and time
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_TZ = True
TIME_ZONE = "UTC"

# Static files
STATIC_URL = "static/"
STATIC_ROOT = Path(env("STATIC_ROOT", default=str(BASE_DIR / "staticfiles")))
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "devpick.static.CompressedEnhancedManifestStaticFilesStorage"
    },
}

# Safety
SECURE_SSL_REDIRECT = not INSECURE_HTTP and env.bool("SSL_REDIRECT", default=True)
SECURE_HSTS_SECONDS = 0 if INSECURE_HTTP else 31_536_000
SECURE_HSTS_INCLUDE_SUBDOMAINS = not INSECURE_HTTP
SECURE_HSTS_PRELOAD = not INSECURE_HTTP
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
if env.bool("BEHIND_TLS_PROXY", default=False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SESSION_COOKIE_SECURE = not INSECURE_HTTP
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_HTTPONLY = True
CSRF_COOKIE_SECURE = not INSECURE_HTTP
CSRF_FAILURE_VIEW = "devpick.problems.csrf_failure"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env("LOG_LEVEL", default="INFO")},
    "loggers": {"django": {"handlers": [], "level": "INFO", "propagate": True}, "httpx2": {"level": "WARNING"}},
}
