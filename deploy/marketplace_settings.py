"""Django settings of the marketplace, a product of its own beside the site (docs/decisions/0010)."""

from pathlib import Path
from typing import Any

from deploy.base_settings import *  # noqa: F403
from deploy.base_settings import DEMO, HOME, common_apps, env, outer_middleware, people_middleware, templates
from deploy.environment import database, demo_secret

if DEMO:
    SECRET_KEY = env.text("MARKETPLACE_SECRET_KEY") or demo_secret(HOME / "marketplace-secret")
    ALLOWED_HOSTS = env.words("MARKETPLACE_ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
    _database_url = env.text("MARKETPLACE_DATABASE_URL", f"sqlite:///{HOME}/marketplace.sqlite3")
else:
    SECRET_KEY = env.required("MARKETPLACE_SECRET_KEY", "another-long-random-string")
    env.required("MARKETPLACE_ALLOWED_HOSTS", "market.example.org")
    ALLOWED_HOSTS = env.words("MARKETPLACE_ALLOWED_HOSTS")
    _database_url = env.required("MARKETPLACE_DATABASE_URL", "postgres://user:password@host:5432/marketplace")
# Connections are kept: opening one for each call of the API would take as long as the call.
DATABASES: dict[str, dict[str, Any]] = {"default": {"CONN_MAX_AGE": 60, **database(_database_url)}}

CSRF_TRUSTED_ORIGINS = env.words("MARKETPLACE_CSRF_TRUSTED_ORIGINS")
ROOT_URLCONF = "deploy.marketplace_urls"
WSGI_APPLICATION = "deploy.marketplace_wsgi.application"
INSTALLED_APPS = ["annotation.marketplace", *common_apps]
MIDDLEWARE = [
    *outer_middleware,
    # The requester API answers before sessions, cookies and CSRF come into play: it has none of them.
    "annotation.marketplace.api.middleware.RequesterApi",
    *people_middleware,
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
]
TEMPLATES = templates()

AUTH_USER_MODEL = "marketplace.Account"
AUTHENTICATION_BACKENDS = ["annotation.marketplace.people.AccountBackend"]
LANGUAGES = [("en", "English")]
STATIC_ROOT = Path(env.text("MARKETPLACE_STATIC_ROOT", str(HOME / "marketplace-static")))

# The market
MARKETPLACE_URL = env.text("MARKETPLACE_URL")
MARKETPLACE_CALLBACK_HOSTS = env.words("MARKETPLACE_CALLBACK_HOSTS")
MARKETPLACE_TICK_SECONDS = env.number("MARKETPLACE_TICK_SECONDS", 30, minimum=1)
MARKETPLACE_ACCEPT_LIMIT = env.number("MARKETPLACE_ACCEPT_LIMIT", 25, minimum=1)
# Events by mail, to requesters' own addresses; without a host, they stay in the inbox.
EMAIL_HOST = env.text("MARKETPLACE_MAIL_HOST")
EMAIL_PORT = env.number("MARKETPLACE_MAIL_PORT", 587, minimum=1)
EMAIL_HOST_USER = env.text("MARKETPLACE_MAIL_USER")
EMAIL_HOST_PASSWORD = env.text("MARKETPLACE_MAIL_PASSWORD")
EMAIL_USE_TLS = env.flag("MARKETPLACE_MAIL_TLS", default=True)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.text("MARKETPLACE_MAIL_FROM", "marketplace@localhost")
METERS_DIR = env.text("MARKETPLACE_METERS_DIR")

# Cookies have names of their own, because on one host name two ports share their cookies.
SESSION_COOKIE_NAME = "marketplace_session"
CSRF_COOKIE_NAME = "marketplace_csrf"
LANGUAGE_COOKIE_NAME = "marketplace_language"
