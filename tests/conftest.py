"""What all tests share: where the data is, which database runs, and a small study to work on."""

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from django.utils import translation
from playwright.sync_api import Browser, sync_playwright

# Several test processes share the cores: threads of each that wait for each other would only burn them.
os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

# Once started, Playwright runs an event loop in this thread; Django's ORM is still called from the tests themselves.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"

ROOT = Path(__file__).resolve().parent.parent
SHARED_DATA = ROOT.parent / "shared" / "data"
WHOLE_CHROMIUM = shutil.which("chromium")
CHROMIUM = shutil.which("chromium-headless-shell") or WHOLE_CHROMIUM  # without windows it needs half the time
CHROMIUM_FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
LONGEST = {
    "test_realsumm_study.py",
    "test_ray.py",
    "test_runnable.py",
    "test_site.py",
    "test_pseudonyms.py",
    "test_perl.py",
}


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real data beside the repository; skips with a reason where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"needs the shared data in {SHARED_DATA}")
    return SHARED_DATA


@pytest.fixture(autouse=True)
def in_english() -> Iterator[None]:
    """The language of a test's last request ends with the test."""
    yield
    translation.deactivate()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for the whole run: Playwright allows no second one in a process."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt-get install -y chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


def skip_what_lacks_a_library(items: list[pytest.Item]) -> None:
    """Tests marked `needs` are skipped where a library that they name is missing; with CI set they run, and fail."""
    if os.environ.get("CI"):
        return
    for item in items:
        names = [name for mark in item.iter_markers("needs") for name in mark.args if find_spec(name) is None]
        if names:
            item.add_marker(pytest.mark.skip(reason=f"needs {', '.join(names)}: make models brings it"))


def pytest_collection_modifyitems(config, items):
    """The longest tests begin first, so that nobody waits for them at the end.

    Tests marked `postgres` run only on PostgreSQL (`make test` runs them in a pass of their own).
    """
    items.sort(key=lambda item: item.path.name not in LONGEST)
    skip_what_lacks_a_library(items)
    on_postgres = os.environ.get("DATABASE_URL", "").startswith("postgres")
    skip = pytest.mark.skip(
        reason="needs PostgreSQL: run with DATABASE_URL=postgres://root@127.0.0.1:5432/test -m postgres"
    )
    for item in items:
        if "postgres" in item.keywords and not on_postgres and "sqlite" not in item.keywords:
            item.add_marker(skip)
