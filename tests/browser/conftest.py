"""Chromium, driven by Playwright, against the live server."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 360, "height": 740}


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/browser/" in str(item.path):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(params=[WIDE, NARROW], ids=["wide", "narrow"])
def page(request, browser: Browser) -> Iterator[Page]:
    """A fresh page, at both widths; the test fails on any request that leaves this machine or any script error."""
    context: BrowserContext = browser.new_context(viewport=request.param)
    page, faults = context.new_page(), []
    page.on(
        "request",
        lambda r: faults.append(r.url) if not r.url.startswith(("http://localhost", "data:", "blob:")) else None,
    )
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda m: faults.append(m.text) if m.type == "error" and "status of 4" not in m.text else None)
    yield page
    context.close()
    assert faults == []


def sign_in(page: Page, server: str, name: str, password: str = "secret-for-tests") -> None:
    page.goto(f"{server}/sign-in/")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{server}/")
