"""Django settings of the marketplace, a product of its own beside the site (docs/decisions/0010)."""

from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF

from deploy.environment import Environment, database, demo_secret, logging_settings

BASE_DIR = Path(__file__).resolve().parent.parent
env = Environment.here()

# The demo runs on this machine only, with accounts whose passwords everybody knows.
DEMO = env.flag("DEMO")
DEBUG = env.flag("DEBUG") and DEMO

if DEMO:
    SECRET_KEY = env.text("MARKETPLACE_SECRET_KEY") or demo_secret(BASE_DIR / "var" / "marketplace-secret")
    ALLOWED_HOSTS = env.words("MARKETPLACE_ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
    _database_url = env.text("MARKETPLACE_DATABASE_URL", f"sqlite:///{BASE_DIR}/var/marketplace.sqlite3")
else:
    SECRET_KEY = env.required("MARKETPLACE_SECRET_KEY", "another-long-random-string")
    env.required("MARKETPLACE_ALLOWED_HOSTS", "market.example.org")
    ALLOWED_HOSTS = env.words("MARKETPLACE_ALLOWED_HOSTS")
    _database_url = env.required("MARKETPLACE_DATABASE_URL", "postgres://user:password@host:5432/marketplace")
# Connections are kept: opening one for each call of the API would take as long as the call.
DATABASES: dict[str, dict[str, Any]] = {"default": {"CONN_MAX_AGE": 60, **database(_database_url)}}

CSRF_TRUSTED_ORIGINS = env.words("MARKETPLACE_CSRF_TRUSTED_ORIGINS")
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
ROOT_URLCONF = "deploy.marketplace_urls"
WSGI_APPLICATION = "deploy.marketplace_wsgi.application"

INSTALLED_APPS = [
    "annotation.marketplace",
    "deploy",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "csp",
]

MIDDLEWARE = [
    "deploy.logs.RequestLog",
    "django.middleware.security.SecurityMiddleware",
    # The requester API answers before sessions, cookies and CSRF come into play: it has none of them.
    "annotation.marketplace.api.door.RequesterApi",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "annotation.safety.private.Private",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "annotation.safety.letters.Letters",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

# People
AUTH_USER_MODEL = "marketplace.Account"
AUTHENTICATION_BACKENDS = ["annotation.marketplace.people.AccountBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "home"

# Language and time
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English")]
USE_I18N = True
TIME_ZONE = env.text("TIME_ZONE", "UTC")
USE_TZ = True

# Static files, by WhiteNoise
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "annotation" / "common" / "static"]  # what site and marketplace share
STATIC_ROOT = Path(env.text("MARKETPLACE_STATIC_ROOT", str(BASE_DIR / "var" / "marketplace-static")))
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

# The market
MARKETPLACE_URL = env.text("MARKETPLACE_URL")
MARKETPLACE_CALLBACK_HOSTS = env.words("MARKETPLACE_CALLBACK_HOSTS")
MARKETPLACE_TICK_SECONDS = env.number("MARKETPLACE_TICK_SECONDS", 30, least=1)
MARKETPLACE_ACCEPT_LIMIT = env.number("MARKETPLACE_ACCEPT_LIMIT", 25, least=1)

# Safety. Cookies have names of their own, because on one host name two ports share their cookies.
HTTPS = env.flag("HTTPS", default=not DEMO)
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = ["^healthz$", "^readyz$"]  # a balancer asks from inside, in plain HTTP
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.flag("BEHIND_PROXY") else None
SESSION_COOKIE_NAME = "marketplace_session"
CSRF_COOKIE_NAME = "marketplace_csrf"
LANGUAGE_COOKIE_NAME = "marketplace_language"
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_AGE = 60 * 60 * 24 * 14
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

# Looking after it, as for the site
METRICS_TOKEN = env.text("METRICS_TOKEN")
METERS_DIR = env.text("MARKETPLACE_METERS_DIR")
BACKUP_DIR = env.text("BACKUP_DIR")
DOCTOR_FREE_MB = env.number("DOCTOR_FREE_MB", 1000)
LOGGING = logging_settings(env.text("LOG_FORM", "plain" if DEMO else "json"), env.text("LOG_LEVEL", "INFO"))
