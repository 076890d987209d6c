"""Drafts without races: a reload while a save is under way, two devices at one list, two tabs at one task."""

import re
import time

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from annotation.models import Assignment, Batch, ExtractedUnit, Reference
from annotation.studies.batches import create_batch
from tests.browser.conftest import WIDE
from tests.browser.helpers import let_in, open_batch, open_task, ready
from tests.factories import make_member, make_study

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport=WIDE)
    yield context.new_page()
    context.close()


@pytest.fixture
def batch() -> Batch:
    study = make_study(units=0)
    Reference.objects.update(text=["The mayor opened the bridge on Tuesday.", "It had cost 3 million crowns."])
    return create_batch(study, "Extract", "scu", 1, {}, state=Batch.State.OPEN)


def units(page: Page) -> list[str]:
    return [area.input_value() for area in page.locator("#units textarea").all()]


def slowly(route: Route) -> None:
    """The page is rendered at once and comes late: what is saved meanwhile isn't in it."""
    response = route.fetch()
    time.sleep(0.8)
    route.fulfill(response=response)


def an_hour_ago(route: Route) -> None:
    response = route.fetch()
    body = re.sub(r'"now": (\d+)', lambda now: f'"now": {int(now[1]) - 3_600_000}', response.text())
    route.fulfill(response=response, body=body)


def write(page: Page, text: str) -> None:
    page.keyboard.press("Escape")  # out of an SCU that is being written
    page.keyboard.press("n")
    page.keyboard.type(text)


def elsewhere(page: Page, browser, server: str, user) -> BrowserContext:
    context = browser.new_context(viewport=WIDE)
    let_in(context, server, user)
    second_page = context.new_page()
    second_page.goto(page.url)
    ready(second_page)
    return context


def test_what_was_typed_right_before_a_reload_is_there_and_stays(page: Page, live_server, batch):
    open_task(page, live_server.url, batch)
    page.keyboard.press("n")
    page.keyboard.type("The mayor opened the bridge.")
    page.route(re.compile(r"/work/\w+/$"), slowly)
    page.reload()
    ready(page)
    assert units(page) == ["The mayor opened the bridge."]
    page.unroute_all()
    write(page, "It cost 3 million crowns.")
    ready(page)
    page.reload()
    ready(page)
    assert units(page) == ["The mayor opened the bridge.", "It cost 3 million crowns."]


@pytest.mark.parametrize("protocol", ["litepyramid", "likert"])
def test_an_answer_given_right_before_a_reload_is_there(page: Page, live_server, protocol):
    open_task(page, live_server.url, open_batch(protocol))
    page.keyboard.press("1")
    page.route(re.compile(r"/work/\w+/$"), slowly)
    page.reload()
    ready(page)
    expect(page.locator("#progress")).to_contain_text("1 of ")


def test_a_page_says_saved_only_once_it_has_what_the_server_has(page: Page, live_server, browser, batch):
    """The copy on this device is gone as well: as in a market's frame, where nothing may be stored."""
    user = make_member(batch.study)
    assignment = open_task(page, live_server.url, batch, user)
    write(page, "One fact.")
    ready(page)
    context = elsewhere(page, browser, live_server.url, user)
    second_page = context.pages[0]
    second_page.route(re.compile(r"/work/\w+/$"), slowly)
    second_page.evaluate("setTimeout(() => location.reload(), 0)")
    time.sleep(0.3)
    page.keyboard.type(" Indeed.")
    ready(page)
    expect(second_page.locator("#units textarea")).to_have_value("One fact. Indeed.")
    ready(second_page)
    assert assignment.key in second_page.url
    context.close()


def test_two_devices_change_different_scus_of_one_list_and_both_stay(page: Page, live_server, browser, batch):
    user = make_member(batch.study)
    open_task(page, live_server.url, batch, user)
    for text in ("One.", "Two.", "Three."):
        write(page, text)
    ready(page)
    context = elsewhere(page, browser, live_server.url, user)
    second_page = context.pages[0]
    second_page.locator("#units textarea").nth(2).fill("Three, from afar.")
    ready(second_page)
    page.locator("#units textarea").first.fill("One, from here.")
    ready(page)
    write(page, "Four.")
    ready(page)
    assert units(page) == ["One, from here.", "Two.", "Three, from afar.", "Four."]
    page.locator("#submit").click()
    expect(page.get_by_role("heading", name="Received")).to_be_visible()
    texts = ExtractedUnit.objects.order_by("order").values_list("text", flat=True)
    assert list(texts) == ["One, from here.", "Two.", "Three, from afar.", "Four."]
    context.close()


def test_a_change_from_elsewhere_moves_neither_the_cursor_nor_the_typing(page: Page, live_server, batch):
    open_task(page, live_server.url, batch)
    write(page, "One.")
    ready(page)
    second_tab = page.context.new_page()
    second_tab.goto(page.url)
    ready(second_tab)
    write(second_tab, "Two")
    page.locator("#units textarea").first.fill("One, longer.")
    page.get_by_role("button", name="Move down").click()
    second_tab.keyboard.type(" and more.")
    expect(page.locator("#units textarea").first).to_have_value("Two and more.")
    assert units(second_tab) == ["Two and more.", "One, longer."]


def test_a_draft_of_former_times_is_taken_over_and_undone_only_so_far(page: Page, live_server, batch):
    user = make_member(batch.study)
    assignment = open_task(page, live_server.url, batch, user)
    entry = {"value": '[{"text": "One.", "spans": [[0, 3]]}, {"text": "Two.", "spans": []}]', "at": 1, "version": 1}
    Assignment.objects.update(draft={"version": 1, "items": {"units": entry}})
    page.goto(f"{live_server.url}/work/{assignment.key}/")
    ready(page)
    assert units(page) == ["One.", "Two."]
    page.keyboard.type(" More.")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    ready(page)
    page.reload()
    ready(page)
    assert units(page) == ["One.", "Two."]


def test_the_outline_of_a_second_tab_moves_on_with_the_answers_it_mirrors(page: Page, live_server):
    open_task(page, live_server.url, open_batch("litepyramid"))
    second_tab = page.context.new_page()
    second_tab.goto(page.url)
    ready(second_tab)
    page.keyboard.press("p")
    expect(second_tab.locator(".item").nth(1)).to_have_class(re.compile(r"\bactive\b"))
    second_tab.keyboard.press("n")  # the second statement, not the first once more
    expect(page.locator(".item").nth(2)).to_have_class(re.compile(r"\bactive\b"))
    page.keyboard.press("p")
    ready(page)
    ready(second_tab)
    values = page.evaluate("[...document.querySelectorAll('.item input:checked')].map((radio) => radio.value)")
    assert values == ["1", "0", "1"]
    assert sorted(item["value"] for item in Assignment.objects.get().draft["items"].values()) == ["0", "1", "1"]


def test_a_clock_that_is_behind_does_not_make_a_later_answer_the_older_one(page: Page, live_server):
    """A page that came slowly thinks it is earlier than it is; its change must still replace what it shows."""
    open_task(page, live_server.url, open_batch("litepyramid"))
    page.keyboard.press("p")
    ready(page)
    page.route(re.compile(r"/work/\w+/$"), an_hour_ago)
    page.reload()
    ready(page)
    page.locator(".item").first.get_by_role("radio", name="Not present").click()
    ready(page)
    assert [item["value"] for item in Assignment.objects.get().draft["items"].values()] == ["0"]
