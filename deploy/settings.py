"""Django settings. Everything that differs between machines comes from the environment (deploy/env.example)."""

from pathlib import Path

from csp.constants import SELF

from deploy.base_settings import *  # noqa: F403
from deploy.base_settings import (
    BASE_DIR,
    DEMO,
    HOME,
    common_apps,
    content_security,
    env,
    outer_middleware,
    people_middleware,
    templates,
)
from deploy.environment import MARKETPLACE_BIND, SITE_BIND, database, demo_secret, local_address

if DEMO:
    SECRET_KEY = env.text("SECRET_KEY") or demo_secret(HOME / "secret")
    ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
    DATABASES = {"default": database(env.text("DATABASE_URL", f"sqlite:///{HOME}/demo.sqlite3"))}
else:
    SECRET_KEY = env.required("SECRET_KEY", "a-long-random-string")
    env.required("ALLOWED_HOSTS", "pyramidion.example.org")
    ALLOWED_HOSTS = env.words("ALLOWED_HOSTS")
    DATABASES = {"default": database(env.required("DATABASE_URL", "postgres://user:password@host:5432/pyramidion"))}

PREPARED_STATEMENTS = env.flag("PREPARED_STATEMENTS", default=True)  # on PostgreSQL
SECRET_KEY_FALLBACKS = env.words("SECRET_KEY_FALLBACKS")
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS")
ROOT_URLCONF = "deploy.urls"
WSGI_APPLICATION = "deploy.wsgi.application"
INSTALLED_APPS = ["annotation", *common_apps, "django_htmx", "django_tasks", "django_tasks_db"]
MIDDLEWARE = [
    *outer_middleware,
    *people_middleware,
    "annotation.accounts.audit_log.AuditLogMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "csp.middleware.CSPMiddleware",
]
TEMPLATES = templates("annotation.common.context_processors.site")

# People
AUTH_USER_MODEL = "annotation.User"
AUTHENTICATION_BACKENDS = ["annotation.accounts.AccountBackend"]
SESSION_ENGINE = "annotation.accounts.sessions"
CSRF_FAILURE_VIEW = "annotation.common.error_pages.csrf_failure"

# Language and static files
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [BASE_DIR / "annotation" / "locale"]
STATIC_ROOT = Path(env.text("STATIC_ROOT", str(HOME / "static")))

# Background work: at once in this process, or by `manage.py worker`
BACKGROUND = env.text("BACKGROUND", "immediate")
TASKS = {
    "default": {
        "BACKEND": {
            "immediate": "django_tasks.backends.immediate.ImmediateBackend",
            "worker": "django_tasks_db.DatabaseBackend",
        }.get(BACKGROUND, BACKGROUND)
    }
}

# Exports: where their files lie (all web processes and workers must see the same folder), and for how long
EXPORT_ROOT = env.text("EXPORT_ROOT", str(HOME / "exports"))
EXPORT_DAYS = env.number("EXPORT_DAYS", 7, minimum=1)

# Folders that models named by a path may be read from; a model by its name needs none
MODEL_FOLDERS = env.words("MODEL_FOLDERS")

# Leases
LEASE_MINUTES = env.number("LEASE_MINUTES", 30, minimum=1)

# The API
API_PER_MINUTE = env.number("API_PER_MINUTE", 600, minimum=1)

# Crowds. Amazon's own market closed on 2026-09-30; any address that speaks its API serves, if it is on the list.
_market = local_address(env.text("MARKETPLACE_BIND", MARKETPLACE_BIND)) if DEMO else ""  # the demo's own
MTURK_ENDPOINT_URL = env.text("MTURK_ENDPOINT_URL", _market)
MTURK_ALLOWED_ENDPOINTS = env.words("MTURK_ALLOWED_ENDPOINTS", MTURK_ENDPOINT_URL if DEMO else "")
MTURK_REGION = env.text("AWS_REGION", "us-east-1")
MTURK_ACCESS_KEY_ID = env.text("AWS_ACCESS_KEY_ID")
MTURK_SECRET_ACCESS_KEY = env.text("AWS_SECRET_ACCESS_KEY")
MTURK_TIMEOUT_SECONDS = env.number("MTURK_TIMEOUT_SECONDS", 20, minimum=1)
MTURK_ATTEMPTS = env.number("MTURK_ATTEMPTS", 6, minimum=1)
# Whether the market signs the addresses by which its workers come, as ours does: then nobody comes in without.
MTURK_NAME = env.text("MTURK_NAME")
MTURK_SIGNED_ENTRY = env.flag("MTURK_SIGNED_ENTRY")
# The demo's marketplace leaves the key of its demo requester here (manage.py marketplace).
MTURK_DEMO_KEY_FILE = HOME / "marketplace-key" if DEMO else None
# The address workers' browsers reach us at, and the origins that may frame our worker pages and take finished work.
SITE_URL = env.text("SITE_URL", local_address(env.text("BIND", SITE_BIND)) if DEMO else "").rstrip("/")
WORKER_CONTACT = env.text("WORKER_CONTACT")
MARKET_ORIGINS = env.words("MARKET_ORIGINS", f"{_market},{_market.replace('127.0.0.1', 'localhost')}" if DEMO else "")
PROLIFIC_URL = env.text("PROLIFIC_URL", "https://api.prolific.com").rstrip("/")
PROLIFIC_ALLOWED_URLS = env.words("PROLIFIC_ALLOWED_URLS", "https://api.prolific.com")
PROLIFIC_TOKEN = env.text("PROLIFIC_TOKEN")
PROLIFIC_WORKSPACE = env.text("PROLIFIC_WORKSPACE")
PROLIFIC_PROJECT = env.text("PROLIFIC_PROJECT")
PROLIFIC_FEE_PERCENT = env.number("PROLIFIC_FEE_PERCENT", 43)
PROLIFIC_TIMEOUT_SECONDS = env.number("PROLIFIC_TIMEOUT_SECONDS", 20, minimum=1)
# Models that judge: the endpoints that may be called at all, and the key of each, in the same order
MODEL_ENDPOINTS = env.words("MODEL_ENDPOINTS")
MODEL_API_KEYS = env.words("MODEL_API_KEYS")
MODEL_TIMEOUT_SECONDS = env.number("MODEL_TIMEOUT_SECONDS", 120, minimum=1)
MODEL_PATIENCE_SECONDS = env.number("MODEL_PATIENCE_SECONDS", 600, minimum=1)

# Charts are inline SVG whose elements carry style attributes; scripts are never inline.
CONTENT_SECURITY_POLICY = {"DIRECTIVES": {**content_security, "style-src": [SELF, "'unsafe-inline'"]}}

METERS_DIR = env.text("METERS_DIR")
