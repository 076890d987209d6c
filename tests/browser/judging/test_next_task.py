"""Straight on: the next task stands in the place of the last one, without a page between. In Chromium."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from annotation.judging.leases import lease_task
from annotation.models import Assignment, Batch, ExtractedUnit, Judgment
from tests.browser.conftest import WIDE
from tests.browser.helpers import open_batch, open_task, ready
from tests.factories import make_worker

pytestmark = pytest.mark.django_db(transaction=True)
KEYS = {"litepyramid": "p", "likert": "3"}


@pytest.fixture
def troubled_page(browser) -> Iterator[Page]:
    """For tests that cut the connection: what the console says of it is no fault."""
    context = browser.new_context(viewport=WIDE)
    page = context.new_page()
    # Chromium takes a moment to route an open page's requests: a first route that came just before a key was too late.
    page.route("**/no-such-page/", lambda route: route.abort())
    yield page
    context.close()


def loaded(page: Page) -> None:
    """The next task is at hand."""
    ready(page)
    expect(page.locator("#task")).to_have_attribute("data-next", re.compile("ready|none"))


def answer(page: Page, key: str = "p") -> None:
    page.keyboard.press("j")
    for _ in range(page.locator(".item[data-field]").count()):
        page.keyboard.press(key)
    expect(page.locator("#submit")).to_be_focused()


def mark(page: Page) -> None:
    page.evaluate("window.samePage = true")


def is_marked(page: Page) -> bool:
    return bool(page.evaluate("window.samePage === true"))


def ahead_assignment() -> Assignment:
    return Assignment.objects.get(state="leased", is_ahead=True)


def line(page: Page):
    return page.locator("#receipt-line")


@pytest.mark.parametrize("protocol", KEYS)
def test_by_keyboard_from_task_to_task_without_a_page_between(page: Page, live_server, protocol):
    batch = open_batch(protocol, documents=3)
    open_task(page, live_server.url, batch)
    mark(page)
    for number in (1, 2):
        expect(page.locator("#sitting")).to_have_text(f"Task {number} of 3")
        loaded(page)
        answer(page, KEYS[protocol])
        page.keyboard.press("Enter")
        expect(page.locator("#sitting")).to_have_text(f"Task {number + 1} of 3")
        expect(line(page)).to_contain_text(re.compile(r"Received, thank you: \d+ answers are stored\."))
        assert page.url.endswith(f"/work/{Assignment.objects.get(state='leased', is_ahead=False).key}/")
    loaded(page)
    assert is_marked(page)
    answer(page, KEYS[protocol])
    page.keyboard.press("Enter")  # none is left: the receipt has a page
    expect(page.get_by_role("heading", name="Received, thank you")).to_be_visible()
    assert Assignment.objects.counted().count() == 3
    assert Judgment.objects.values("assignment").distinct().count() == 3


def tab_to(page: Page, selector: str) -> None:
    """By Tab alone; AssertionError when it is not reached."""
    for _ in range(40):
        if page.locator(selector).evaluate("(element) => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {selector}")


def test_scu_lists_follow_each_other_by_keyboard_alone(page: Page, live_server):
    open_task(page, live_server.url, open_batch("scu", documents=2, units=0))
    mark(page)
    loaded(page)
    for _ in range(2):
        expect(page.locator("#units textarea")).to_have_count(0)
        page.keyboard.press("s")
        page.keyboard.press("Enter")
        expect(page.locator("#units textarea")).to_have_count(1)
        loaded(page)
        tab_to(page, "#submit")
        assert is_marked(page)
        page.keyboard.press("Enter")
        expect(page.locator("#units textarea")).to_have_count(0)
    expect(page.get_by_role("heading", name="Received, thank you")).to_be_visible()
    assert ExtractedUnit.objects.values("assignment").distinct().count() == 2


def test_the_next_task_is_answerable_before_the_server_has_said_a_word(page: Page, live_server):
    held: list[Route] = []
    page.route("**/submit/", lambda route: held.append(route))
    open_task(page, live_server.url, open_batch("litepyramid", documents=2))
    loaded(page)
    answer(page)
    page.keyboard.press("Enter")
    page.keyboard.press("n")
    expect(page.locator("#progress")).to_have_text("1 of 3")
    expect(line(page)).to_be_hidden()
    assert not Judgment.objects.exists()
    held[0].continue_()
    expect(line(page)).to_contain_text("Received")
    ready(page)
    current = Assignment.objects.get(state="leased", is_ahead=False)
    assert [entry["value"] for entry in current.draft["items"].values()] == ["0"]
    assert sorted(Judgment.objects.values_list("value", flat=True)) == [1, 1, 1]


def test_the_time_left_follows_from_the_own_pace(page: Page, live_server):
    batch = open_batch("litepyramid", documents=4)
    assignment = open_task(page, live_server.url, batch)
    expect(page.locator("#time-left")).to_be_hidden()
    loaded(page)
    answer(page)
    page.keyboard.press("Enter")
    expect(page.locator("#time-left")).to_have_text("about 1 min left")
    expect(line(page)).to_contain_text("Received")  # before that, its own signals may still arrive
    ready(page)
    Assignment.objects.filter(pk=assignment.pk).update(signals={"loads": {"aaaa": {"active": 90, "items": {}}}})
    page.reload()
    expect(page.locator("#time-left")).to_have_text("about 5 min left")  # 3 tasks of 90 seconds


def test_a_submit_is_taken_back_from_the_next_task(page: Page, live_server):
    first = open_task(page, live_server.url, open_batch("litepyramid", documents=2))
    loaded(page)
    answer(page)
    page.keyboard.press("Enter")
    expect(line(page)).to_contain_text("Received")
    page.keyboard.press("n")
    page.get_by_role("button", name="Take it back").click()
    page.wait_for_url(f"**/work/{first.key}/")
    expect(page.locator("#progress")).to_have_text("3 of 3")
    loaded(page)
    page.locator("#submit").click()
    expect(page.locator("#progress")).to_have_text("1 of 3")  # what was begun after it
    expect(line(page)).to_contain_text("Received")
    assert Judgment.objects.counted().count() == 3


def test_the_line_leads_to_a_second_look(page: Page, live_server):
    first = open_task(page, live_server.url, open_batch("litepyramid", documents=2))
    loaded(page)
    answer(page)
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Look again").click()
    page.wait_for_url(f"**/work/{first.key}/revise/")


def test_who_unticks_it_gets_the_receipt(page: Page, live_server):
    open_task(page, live_server.url, open_batch("litepyramid", documents=2))
    loaded(page)
    page.get_by_label("then straight on to the next task").uncheck()
    for key in "jppp":
        page.keyboard.press(key)
    page.locator("#submit").click()
    expect(page.get_by_role("heading", name="Received, thank you")).to_be_visible()


class TestBadInput:
    def test_a_page_that_can_not_be_loaded_ahead_is_told_and_comes_after_the_submit(self, troubled_page, live_server):
        page = troubled_page
        page.route("**/ahead/", lambda route: route.abort())
        open_task(page, live_server.url, open_batch("litepyramid", documents=2))
        expect(line(page)).to_contain_text("The next task could not be loaded yet")
        answer(page)
        page.keyboard.press("Enter")
        expect(page.locator("#sitting")).to_have_text("Task 2 of 2")
        expect(page.get_by_text("Received, thank you: 3 answers are stored.")).to_be_visible()

    def test_a_task_that_somebody_else_took_meanwhile_is_told_and_another_comes(self, troubled_page, live_server):
        page, batch = troubled_page, open_batch("litepyramid", documents=3)
        open_task(page, live_server.url, batch)
        loaded(page)
        answer(page)
        ahead = ahead_assignment()
        others = [lease_task(batch, make_worker(batch.study)) for _ in range(2)]  # the second takes it over
        assert others[1].task_id == ahead.task_id
        Assignment.objects.filter(pk=others[0].pk).update(state="released")
        held: list[Route] = []
        page.route("**/submit/", lambda route: held.append(route))
        page.keyboard.press("Enter")
        page.keyboard.press("n")
        ready(page)
        held[0].continue_()
        expect(line(page)).to_contain_text("went to somebody else meanwhile")
        ready(page)
        ahead.refresh_from_db()
        assert (ahead.state, [entry["value"] for entry in ahead.draft["items"].values()]) == ("expired", ["0"])
        assert page.url.endswith(f"/work/{Assignment.objects.get(task=others[0].task_id, state='leased').key}/")
        assert Judgment.objects.counted().count() == 3

    @pytest.mark.parametrize(("state", "words"), [("closed", "closed"), ("paused", "paused")])
    def test_a_batch_that_closed_meanwhile_is_told_and_what_was_typed_is_kept(
        self, troubled_page, live_server, state, words
    ):
        page = troubled_page
        open_task(page, live_server.url, open_batch("litepyramid", documents=3))
        loaded(page)
        answer(page)
        ahead = ahead_assignment()
        Batch.objects.update(state=state)
        page.keyboard.press("Enter")
        page.keyboard.press("n")
        expect(page.get_by_role("alert")).to_contain_text(words)
        ready(page)
        ahead.refresh_from_db()
        assert [entry["value"] for entry in ahead.draft["items"].values()] == ["0"]
        assert Judgment.objects.count() == 3

    def test_a_batch_that_is_paused_before_anything_is_held_ahead_says_so_in_the_foot(self, troubled_page, live_server):
        page, batch = troubled_page, open_batch("litepyramid", documents=3)
        page.route("**/ahead/", lambda route: (Batch.objects.update(state="paused"), route.continue_()))
        open_task(page, live_server.url, batch)
        expect(line(page)).to_contain_text("This batch is paused")

    def test_offline_the_next_task_comes_and_the_last_one_is_sent_by_itself(self, troubled_page, live_server):
        page = troubled_page
        open_task(page, live_server.url, open_batch("litepyramid", documents=2))
        loaded(page)
        answer(page)
        page.route("**/work/**", lambda route: route.abort())
        page.keyboard.press("Enter")
        expect(line(page)).to_contain_text("kept on this device")
        page.keyboard.press("n")
        expect(page.locator("#progress")).to_have_text("1 of 3")
        assert not Judgment.objects.exists()
        page.unroute("**/work/**")
        page.evaluate("window.dispatchEvent(new Event('online'))")
        expect(line(page)).to_contain_text("Received")
        ready(page)
        assert Judgment.objects.counted().count() == 3

    def test_what_was_not_sent_before_the_page_died_is_sent_by_the_next_one(self, troubled_page, live_server):
        page = troubled_page
        open_task(page, live_server.url, open_batch("litepyramid", documents=2))
        loaded(page)
        answer(page)
        page.route("**/submit/", lambda route: route.abort())
        page.keyboard.press("Enter")
        expect(line(page)).to_contain_text("kept on this device")
        page.unroute("**/submit/")
        with page.expect_response("**/submit/"):
            page.reload()
        ready(page)
        assert Judgment.objects.counted().count() == 3
        assert page.evaluate("localStorage.getItem('pyramidion:outbox')") is None

    def test_a_refused_hand_in_is_told_and_can_be_opened_again(self, troubled_page, live_server):
        page = troubled_page
        first = open_task(page, live_server.url, open_batch("litepyramid", documents=2))
        loaded(page)
        answer(page)
        refusal = {"error": "BadAnswers", "sentence": "The answers are not complete. Nothing was submitted."}
        page.route("**/submit/", lambda route: route.fulfill(status=422, json=refusal))
        page.keyboard.press("Enter")
        expect(line(page)).to_contain_text("was not taken: The answers are not complete.")
        page.get_by_role("link", name="Open it again").click()
        page.wait_for_url(f"**/work/{first.key}/")
        expect(page.locator("#progress")).to_have_text("3 of 3")
