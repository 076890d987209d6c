"""For mypy only: both apps of the project in one, so that it knows all models."""

from tests.settings import *  # noqa: F403

INSTALLED_APPS = [*INSTALLED_APPS, "annotation.marketplace"]  # noqa: F405
