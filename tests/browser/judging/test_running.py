"""A task can be stopped and another started in its place, without a new page: nothing of the first goes on."""

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Assignment
from tests.browser.helpers import open_batch, open_task, ready

pytestmark = pytest.mark.django_db(transaction=True)

RESTART = """async () => {
  const script = document.querySelector('#main script[type=module][src]').src;
  const { restart } = await import(new URL('../judging/running.js', script));
  const main = document.getElementById('main');
  main.innerHTML = main.innerHTML;
  window.engine = restart(main);
}"""
KEYS = {"litepyramid": "p", "likert": "3", "scu": "n"}


@pytest.mark.parametrize("protocol", KEYS)
def test_a_task_that_was_stopped_hears_no_key_and_sends_nothing(page: Page, live_server, protocol):
    open_task(page, live_server.url, open_batch(protocol, units=0 if protocol == "scu" else 3))
    page.evaluate(RESTART)
    page.evaluate("window.first = window.engine; window.first.stop()")
    page.evaluate(RESTART)
    ready(page)
    with page.expect_response("**/draft/"):
        page.keyboard.press(KEYS[protocol])
    ready(page)
    places = page.locator("#units textarea") if protocol == "scu" else page.locator(".item:has(input:checked)")
    expect(places).to_have_count(1)
    assert Assignment.objects.get().draft["version"] == 1
    assert page.evaluate("window.first.done && window.first.signal.aborted")
