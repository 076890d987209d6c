"""The marketplace as its tests run it: demo mode, on SQLite unless MARKETPLACE_DATABASE_URL says otherwise."""

import os
import tempfile

os.environ["DEMO"] = "1"
os.environ.setdefault("ENV_FILE", os.devnull)
os.environ.setdefault("MARKETPLACE_SECRET_KEY", "only-for-tests")
os.environ.setdefault(
    "MARKETPLACE_DATABASE_URL", f"sqlite:///{tempfile.gettempdir()}/marketplace-tests-{os.getpid()}.sqlite3"
)

from deploy.marketplace_settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}  # noqa: F405
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
LOGGING["root"]["level"] = "CRITICAL"  # noqa: F405
DATABASES["default"]["CONN_MAX_AGE"] = 0  # noqa: F405  the live server's threads end with their request
if DATABASES["default"]["ENGINE"] == "deploy.setup.sqlite_queue":  # noqa: F405
    # Threads and the live server share a file, as they do in production; ":memory:" would behave otherwise.
    DATABASES["default"]["TEST"] = {"NAME": DATABASES["default"]["NAME"]}  # noqa: F405
else:
    # A name of its own, so that the site's tests may run on the same server meanwhile.
    DATABASES["default"]["TEST"] = {"NAME": f"test_marketplace_{DATABASES['default']['NAME']}"}  # noqa: F405
