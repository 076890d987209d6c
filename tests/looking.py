"""What tests see of a page as a whole."""

from playwright.sync_api import Page


def fits(page: Page) -> None:
    """Nothing sticks out of the window. Waits for a page that is still on its way."""
    page.wait_for_load_state()
    page.wait_for_function("document.body && document.documentElement.scrollWidth <= window.innerWidth", timeout=5000)
