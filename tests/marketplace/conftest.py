"""The marketplace's tests run in a pass of their own: `pytest --ds=tests.marketplace_settings tests/marketplace`."""

import os

if os.environ.get("DJANGO_SETTINGS_MODULE") != "tests.marketplace_settings":
    collect_ignore_glob = ["test_*.py", "*/test_*.py"]
else:
    from tests.marketplace.fixtures import *  # noqa: F403
