"""What tests see of a page as a whole."""

import re

from playwright.sync_api import Locator, Page, expect


def wait_for_page(page: Page, sign: Locator) -> None:
    """The page that bears this sign has come as a whole, and its scripts run: it can be counted and typed at."""
    expect(sign).to_be_visible()
    page.wait_for_load_state()


def fits(page: Page) -> None:
    """Nothing sticks out of the window. Waits for a page that is still on its way."""
    page.wait_for_load_state()
    page.wait_for_function("document.body && document.documentElement.scrollWidth <= window.innerWidth", timeout=5000)


def markup(page: str) -> str:
    """The page without the white space that only lays its template out: within tags, between them, at their edges."""
    tight = re.sub(r"(?<=>) (?=<)| (?=/?>)| (?=</)", "", re.sub(r"\s+", " ", page))
    return re.sub(r"(<\w[^<>]*>) ", r"\1", tight)
