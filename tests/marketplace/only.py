"""Tests of the marketplace outside tests/marketplace call this first: they run in the marketplace's own pass."""

import os

import pytest


def marketplace_pass_only() -> None:
    if os.environ.get("DJANGO_SETTINGS_MODULE") != "tests.marketplace_settings":
        pytest.skip("runs in the marketplace's pass: pytest --ds=tests.marketplace_settings", allow_module_level=True)
