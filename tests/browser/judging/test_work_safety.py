"""Nobody loses work: offline, two tabs, a dead session, a reload, a double click, a late submit. In Chromium."""

import json
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.judging.leases import expire_leases, lease_task
from annotation.models import Assignment, Judgment, Worker
from tests.browser.conftest import WIDE
from tests.browser.helpers import let_in, open_batch, open_task, ready
from tests.factories import make_member

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def page(browser):
    """One width is enough here. Offline pages log errors, so faults are not counted."""
    context = browser.new_context(viewport=WIDE)
    page = context.new_page()
    yield page
    context.close()


def drafted() -> list[str]:
    items = Assignment.objects.get().draft.get("items", {})
    return sorted(item["value"] for item in items.values())


def press(page: Page, keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def cut(page: Page) -> None:
    """The server can't be reached: as when it is down, for this page alone."""
    page.route("**/work/**", lambda route: route.abort())


def mend(page: Page) -> None:
    page.unroute("**/work/**")
    page.evaluate("window.dispatchEvent(new Event('online'))")


def open_task_in_slow_time(page: Page, server: str) -> None:
    """From here on the page's time passes only as the test says, however busy the machine is."""
    page.clock.install(time="2030-01-01T00:00:00")
    open_task(page, server, open_batch("litepyramid"))
    page.clock.pause_at("2030-01-01T01:00:00")


def test_a_change_is_on_its_way_to_the_server_within_a_second(page: Page, live_server):
    open_task_in_slow_time(page, live_server.url)
    with page.expect_response("**/draft/"):
        press(page, "jp")
        page.clock.run_for(1000)
    ready(page)
    assert drafted() == ["1"]


def test_offline_the_page_says_so_keeps_working_and_drains_when_it_is_back(page: Page, live_server):
    open_task(page, live_server.url, open_batch("litepyramid"))
    cut(page)
    press(page, "jpn")
    expect(page.locator("#save-state")).to_have_text("Offline, kept on this device")
    expect(page.get_by_role("alert")).to_contain_text("Go on working")
    expect(page.locator("#progress")).to_have_text("2 of 3")
    assert drafted() == []
    mend(page)
    ready(page)
    expect(page.get_by_role("alert")).to_be_hidden()
    assert drafted() == ["0", "1"]


def test_what_was_answered_offline_survives_a_reload(page: Page, live_server):
    assignment = open_task(page, live_server.url, open_batch("litepyramid"))
    cut(page)
    press(page, "jpn")
    expect(page.locator("#save-state")).to_have_attribute("data-kind", "offline")
    page.unroute("**/work/**")
    page.goto(live_server.url + reverse("task", args=[assignment.key]))
    expect(page.locator("#progress")).to_have_text("2 of 3")
    ready(page)
    expect(page.locator("#progress")).to_have_text("2 of 3")
    assert drafted() == ["0", "1"]


def test_a_submit_while_offline_goes_out_by_itself_once(page: Page, live_server):
    open_task(page, live_server.url, open_batch("litepyramid"))
    press(page, "jpp")
    cut(page)
    press(page, "p")
    expect(page.get_by_role("alert")).to_contain_text("Go on working")
    page.locator("#submit").click()
    expect(page.get_by_role("alert")).to_contain_text("will be sent by themselves")
    assert not Judgment.objects.exists()
    mend(page)
    expect(page.get_by_role("heading", name="Received")).to_be_visible()
    assert Judgment.objects.count() == 3


def test_a_receipt_lost_on_the_way_is_fetched_again_without_doubling_anything(page: Page, live_server):
    statuses = []

    def swallow(route):
        if not statuses:
            statuses.append(route.fetch().status)  # the server has it, the page never hears of it
            return route.abort()
        return route.continue_()

    page.route("**/submit/", swallow)
    open_task(page, live_server.url, open_batch("litepyramid"))
    press(page, "jppp")
    ready(page)
    page.locator("#submit").click()
    expect(page.get_by_role("heading", name="Received")).to_be_visible()
    assert statuses == [200]
    assert Judgment.objects.count() == 3


def test_a_double_click_submits_once(page: Page, live_server):
    open_task(page, live_server.url, open_batch("litepyramid"))
    press(page, "jppp")
    page.locator("#submit").dblclick()
    expect(page.get_by_role("heading", name="Received")).to_be_visible()
    assert Judgment.objects.count() == 3


def test_two_tabs_see_each_others_answers_and_finish_together(page: Page, live_server):
    open_task(page, live_server.url, open_batch("litepyramid"))
    second_tab = page.context.new_page()
    second_tab.goto(page.url)
    ready(second_tab)
    press(page, "jp")
    expect(second_tab.locator("#progress")).to_have_text("1 of 3")
    press(second_tab, "jjnn")
    expect(page.locator("#progress")).to_have_text("3 of 3")
    page.bring_to_front()
    page.locator("#submit").click()
    expect(page.get_by_role("heading", name="Received")).to_be_visible()
    expect(second_tab.get_by_role("heading", name="Received")).to_be_visible()
    assert sorted(Judgment.objects.values_list("value", flat=True)) == [0, 0, 1]


def test_another_device_learns_of_changes_with_its_next_save(page: Page, live_server, browser):
    batch = open_batch("litepyramid")
    user = make_member(batch.study)
    open_task(page, live_server.url, batch, user)
    elsewhere = browser.new_context()
    let_in(elsewhere, live_server.url, user)
    second_page = elsewhere.new_page()
    second_page.goto(page.url)
    ready(second_page)
    press(page, "jp")
    ready(page)
    press(second_page, "jjn")
    expect(second_page.locator("#progress")).to_have_text("2 of 3")
    elsewhere.close()


def test_after_the_session_ended_the_work_waits_for_a_new_sign_in(page: Page, live_server):
    batch = open_batch("litepyramid")
    user = make_member(batch.study)
    open_task(page, live_server.url, batch, user)
    Session.objects.all().delete()
    press(page, "jp")
    expect(page.get_by_role("alert")).to_contain_text("You are signed out")
    press(page, "p")
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="sign in again in another tab").click()
    tab = opened.value
    tab.get_by_label("Name").fill(user.username)
    tab.get_by_label("Password").fill("secret-for-tests")
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("heading", name="Your work")).to_be_visible()
    tab.close()
    page.bring_to_front()
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    ready(page)  # with a new session and a new CSRF token, and without a reload
    assert drafted() == ["1", "1"]
    press(page, "p")
    page.locator("#submit").click()
    expect(page.get_by_role("heading", name="Received")).to_be_visible()


def test_after_the_place_was_lost_the_work_is_kept_as_surplus(page: Page, live_server):
    batch = open_batch("litepyramid")
    open_task(page, live_server.url, batch)
    Assignment.objects.update(lease_until=timezone.now() - timedelta(minutes=1))
    expire_leases(batch)
    lease_task(batch, Worker.for_user(batch.study, make_member(batch.study)))
    press(page, "jp")
    expect(page.get_by_role("alert")).to_contain_text("Your hold on this task has ended")
    press(page, "pp")
    page.locator("#submit").click()
    expect(page.get_by_text("counted as surplus")).to_be_visible()
    assert Judgment.objects.filter(assignment__state=Assignment.State.SURPLUS).count() == 3


def test_back_after_the_submit_shows_the_receipt_and_submits_nothing_twice(page: Page, live_server):
    open_task(page, live_server.url, open_batch("litepyramid"))
    press(page, "jppp")
    page.locator("#submit").click()
    expect(page.get_by_role("heading", name="Received")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Received")).to_be_visible()
    assert Judgment.objects.count() == 3


def test_without_script_the_form_works(browser, live_server):
    context = browser.new_context(java_script_enabled=False)
    batch = open_batch("likert")
    user = make_member(batch.study)
    let_in(context, live_server.url, user)
    assignment = lease_task(batch, Worker.for_user(batch.study, user))
    page = context.new_page()
    page.goto(live_server.url + reverse("task", args=[assignment.key]))
    for group in page.locator("fieldset").all():
        group.get_by_role("radio").nth(2).check()
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="Received")).to_be_visible()
    assert set(Judgment.objects.values_list("value", flat=True)) == {3}
    context.close()


def test_time_counts_gaps_up_to_a_minute_and_not_while_hidden(page: Page, live_server):
    open_task_in_slow_time(page, live_server.url)
    press(page, "j")  # after an hour, which counts as a minute
    page.clock.fast_forward(20_000)
    press(page, "p")  # 20 s on the first item
    page.clock.fast_forward(600_000)
    press(page, "n")  # ten minutes away count as one
    hide = "Object.defineProperty(document, 'hidden', {value: %s, configurable: true});" + (
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    page.evaluate(hide % "true")
    page.clock.fast_forward(50_000)  # hidden: nothing
    page.evaluate(hide % "false")
    page.evaluate("document.dispatchEvent(new ClipboardEvent('paste'))")
    page.evaluate("window.dispatchEvent(new Event('blur'))")
    with page.expect_request("**/draft/") as request:
        press(page, "p")
        page.clock.resume()  # a save may be under way, and this one waits for it
    signals = json.loads(request.value.post_data)["signals"]
    assert signals["active"] == 140  # 60 + 20 + 60
    assert (signals["pastes"], signals["focus_lost"]) == (1, 1)
    seconds = sorted(item["seconds"] for item in signals["items"].values())
    assert seconds == [0, 20, 60]
    assert all(item["changes"] == 1 for item in signals["items"].values())
