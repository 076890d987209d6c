"""What tests see of a page as a whole."""

from playwright.sync_api import Locator, Page, expect


def there(page: Page, sign: Locator) -> None:
    """The page that bears this sign has come as a whole, and its scripts run: it can be counted and typed at."""
    expect(sign).to_be_visible()
    page.wait_for_load_state()


def fits(page: Page) -> None:
    """Nothing sticks out of the window. Waits for a page that is still on its way."""
    page.wait_for_load_state()
    page.wait_for_function("document.body && document.documentElement.scrollWidth <= window.innerWidth", timeout=5000)
