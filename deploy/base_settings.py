"""Django settings that the site and the marketplace share. settings.py and marketplace_settings.py add their own."""

from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF

from deploy.environment import HOME as HOME
from deploy.environment import Environment, logging_settings

BASE_DIR = Path(__file__).resolve().parent.parent
env = Environment.current()

# Whether the program may install libraries that it lacks (annotation/common/libraries.py).
INSTALL_LIBRARIES = env.flag("INSTALL_LIBRARIES", default=env.flag("DEMO"))

# The demo runs on this machine only, with accounts whose passwords everybody knows.
DEMO = env.flag("DEMO")
DEBUG = env.flag("DEBUG") and DEMO

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

common_apps = [
    "deploy",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "csp",
]
outer_middleware = [
    "annotation.common.middleware.WholeRequestMiddleware",
    "deploy.monitoring.logs.RequestLog",
    "annotation.common.flood.RefuseEarly",
    "django.middleware.security.SecurityMiddleware",
]
people_middleware = [
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "annotation.common.middleware.CompressPagesMiddleware",
    "annotation.common.middleware.PrivateResponseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "annotation.common.middleware.ReadableTextMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
]


def templates(*context_processors: str) -> list[dict[str, Any]]:
    """Django's templates, with what else every page is told."""
    common = [
        "django.template.context_processors.request",
        "django.template.context_processors.i18n",
        "django.contrib.auth.context_processors.auth",
        "django.contrib.messages.context_processors.messages",
    ]
    return [
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {
                "context_processors": [*common, *context_processors],
                "libraries": {"tables": "annotation.common.templatetags.tables"},
            },
        }
    ]


# People
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
PASSWORD_HASHERS = ["annotation.common.flood.LowPriorityHasher"]
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "home"

# Language and time
LANGUAGE_CODE = "en"
USE_I18N = True
TIME_ZONE = env.text("TIME_ZONE", "UTC")
USE_TZ = True

# Static files, by WhiteNoise
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "annotation" / "common" / "static"]  # what site and marketplace share
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "deploy.setup.static_files.HashedFilesStorage"},
}

# Safety
HTTPS = env.flag("HTTPS", default=not DEMO)
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = ["^healthz$", "^readyz$"]  # a balancer asks from inside, in plain HTTP
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.flag("BEHIND_PROXY") else None
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_AGE = 60 * 60 * 24 * 14
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024
content_security = {
    "default-src": [SELF],
    "img-src": [SELF, "data:"],
    "object-src": [NONE],
    "base-uri": [SELF],
    "form-action": [SELF],
    "frame-ancestors": [NONE],
}
CONTENT_SECURITY_POLICY = {"DIRECTIVES": content_security}

# Looking after it: /metrics, the log, backups, `manage.py doctor`
METRICS_TOKEN = env.text("METRICS_TOKEN")
BACKUP_DIR = env.text("BACKUP_DIR")
BACKUP_KEY = env.text("BACKUP_KEY")  # signs backups; SECRET_KEY does where there is none
DOCTOR_FREE_MB = env.number("DOCTOR_FREE_MB", 1000)
LOGGING = logging_settings(env.text("LOG_FORM", "plain" if DEMO else "json"), env.text("LOG_LEVEL", "INFO"))
