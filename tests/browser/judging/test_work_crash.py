"""A page goes on without a reload when the server is killed with -9 and started again."""

import pytest
from playwright.sync_api import expect

from tests.annotation.judging.crash_site import Site
from tests.browser.helpers import ready


@pytest.fixture
def site(tmp_path):
    site = Site(tmp_path)
    site.ask("tables")
    site.start()
    yield site
    site.kill()


def test_the_page_goes_on_after_the_server_was_killed(site, browser):
    fixture = site.ask("make")
    context = browser.new_context()
    context.add_cookies([{"name": "sessionid", "value": fixture["sessions"][0], "url": site.address}])
    page = context.new_page()
    page.goto(site.address)
    page.get_by_role("button", name="Start").click()
    ready(page)
    page.keyboard.press("j")
    page.keyboard.press("p")
    ready(page)
    site.kill()
    page.keyboard.press("n")
    expect(page.locator("#save-state")).to_have_text("Offline, kept on this device")
    site.start()
    expect(page.locator("#save-state")).to_have_text("Saved", timeout=15_000)
    page.keyboard.press("p")
    page.locator("#submit").click()
    expect(page.get_by_text("Received, thank you: 3 answers are stored.")).to_be_visible()
    expect(page.locator("#progress")).to_have_text("0 of 3")  # of the next task
    context.close()
    assignments = site.ask("dump")["assignments"].values()
    (assignment,) = [row for row in assignments if row["state"] == "submitted"]
    assert not any(row["judgments"] for row in assignments if row is not assignment)
    assert sorted(value for _field, value, _current in assignment["judgments"]) == ["0", "1", "1"]
