"""The site's settings as the tests run it: demo mode, on SQLite unless DATABASE_URL says otherwise."""

import os
import tempfile

os.environ["DEMO"] = "1"
os.environ.setdefault("ENV_FILE", os.devnull)
os.environ.setdefault("SECRET_KEY", "only-for-tests")
os.environ.setdefault("DATABASE_URL", f"sqlite:///{tempfile.gettempdir()}/pyramidion-tests-{os.getpid()}.sqlite3")

from deploy.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}  # noqa: F405
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
LOGGING = {**LOGGING, "root": {"handlers": [], "level": "CRITICAL"}}  # noqa: F405
if DATABASES["default"]["ENGINE"] == "deploy.setup.sqlite_queue":  # noqa: F405
    # Threads and the live server share a file, as they do in production; ":memory:" would behave otherwise.
    DATABASES["default"]["TEST"] = {"NAME": DATABASES["default"]["NAME"]}  # noqa: F405
