"""The preference page in Chromium: by keyboard only, wide and narrow, under axe, offline, in two tabs, after a kill."""

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Batch, Judgment, Summary
from annotation.studies.batches import create_batch
from tests.annotation.judging.crash_site import Site
from tests.browser.conftest import NARROW, WIDE
from tests.browser.helpers import open_task, ready
from tests.browser.judging.test_work import begin, too_wide
from tests.browser.looking import fits
from tests.browser.test_axe import AxeCheck, axe  # noqa: F401  # a fixture
from tests.factories import make_study

TEXTS = [
    "The ferry keeps running, the council said on Tuesday; parking at the harbour will cost more from March.",
    "The council dropped the ferry.",
]


def open_pairs(documents: int = 1, **options: object) -> Batch:
    study = make_study(documents=documents, systems=2)
    for number, text in enumerate(TEXTS):
        Summary.objects.filter(system__name=f"system{number}").update(text=text)
    return create_batch(study, "Pairs", "preference", 1, options, state=Batch.State.OPEN)


def preferred() -> str:
    """The text that the stored answer prefers; empty for a tie."""
    judgment = Judgment.objects.get(is_current=True)
    if judgment.value == 0:
        return ""
    texts = {summary.pk: summary.text_shown for summary in Summary.objects.all()}
    other = next(key for key in texts if key != judgment.summary_id)
    return texts[judgment.summary_id if judgment.value > 0 else other]


def side(page: Page, letter: str) -> str:
    return page.locator(f"[aria-labelledby=side-{letter}] .prose").inner_text()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("key", "letter"), [("1", "A"), ("2", "B"), ("0", "")])
def test_from_sign_in_to_receipt_by_keyboard(page: Page, live_server, key, letter):
    begin(page, live_server.url, open_pairs())
    fits(page)
    assert too_wide(page) == []
    first, second = (page.locator(f"[aria-labelledby=side-{name}]").bounding_box() for name in "AB")
    is_narrow = page.viewport_size == NARROW
    assert (second["x"] == first["x"]) is is_narrow  # one above the other, or side by side
    assert (second["y"] == first["y"]) is not is_narrow
    text = side(page, letter) if letter else ""
    page.keyboard.press("f")
    expect(page.get_by_text("Source text number 0.")).to_be_visible()
    page.keyboard.press("f")
    page.keyboard.press("r")
    expect(page.get_by_text("Reference number 0.")).to_be_visible()
    page.keyboard.press("2" if key != "2" else "1")
    page.keyboard.press("u")
    expect(page.locator("#progress")).to_have_text("0 of 1")
    page.keyboard.press(key)
    expect(page.locator("#progress")).to_have_text("1 of 1")
    expect(page.locator("#submit")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Received")).to_be_visible()
    assert preferred() == text


@pytest.mark.django_db(transaction=True)
def test_strength_and_reason_by_keyboard(page: Page, live_server):
    open_task(page, live_server.url, open_pairs(strength=True, reason=True))
    text = side(page, "B")
    page.keyboard.press("w")
    page.keyboard.press("m")
    page.keyboard.type("it says 1 thing more")
    page.keyboard.press("Enter")
    expect(page.locator("#submit")).to_be_focused()
    fits(page)
    assert too_wide(page) == []
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Received")).to_be_visible()
    judgment = Judgment.objects.get()
    assert (preferred(), judgment.extra) == (text, {"strength": 2, "reason": "it says 1 thing more"})


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_axe_finds_no_fault(browser, live_server, axe, viewport):  # noqa: F811
    context = browser.new_context(viewport=viewport, reduced_motion="reduce")
    page = context.new_page()
    check = AxeCheck(page, live_server.url, axe)
    assignment = open_task(page, live_server.url, open_pairs(strength=True, reason=True))
    check.check("fresh")
    page.locator("#submit").click()
    check.check("held back")
    for key in "fr2":
        page.keyboard.press(key)
    check.check("open and answered")
    page.keyboard.press("?")
    check.check("help")
    page.keyboard.press("Escape")
    page.locator("#submit").click()
    expect(page.get_by_role("heading", name="Received")).to_be_visible()
    check.visit("revise", assignment.key)
    context.close()
    assert check.faults == []


@pytest.mark.django_db(transaction=True)
def test_offline_the_answer_is_kept_and_sent_when_the_network_is_back(browser, live_server):
    context = browser.new_context(viewport=WIDE)
    page = context.new_page()
    open_task(page, live_server.url, open_pairs(reason=True))
    text = side(page, "A")
    page.route("**/work/**", lambda route: route.abort())
    for key in ("1", "m", "y"):
        page.keyboard.press(key)
    expect(page.locator("#save-state")).to_have_text("Offline, kept on this device")
    page.unroute("**/work/**")
    page.evaluate("window.dispatchEvent(new Event('online'))")
    ready(page)
    page.reload()
    ready(page)
    expect(page.get_by_role("radio", name="A is better")).to_be_checked()
    expect(page.get_by_label("Why? (optional)")).to_have_value("y")
    page.locator("#submit").click()
    expect(page.get_by_role("heading", name="Received")).to_be_visible()
    context.close()
    assert preferred() == text


@pytest.mark.django_db(transaction=True)
def test_two_tabs_show_the_same_answer_and_reason_and_one_submit_is_enough(browser, live_server):
    context = browser.new_context(viewport=WIDE)
    page, second_tab = context.new_page(), context.new_page()
    assignment = open_task(page, live_server.url, open_pairs(reason=True))
    second_tab.goto(page.url)
    ready(second_tab)
    page.bring_to_front()
    page.keyboard.press("2")
    expect(second_tab.get_by_role("radio", name="B is better")).to_be_checked()
    page.keyboard.press("m")
    page.keyboard.type("shorter")
    expect(second_tab.get_by_label("Why? (optional)")).to_have_value("shorter")
    page.locator("#submit").click()
    for tab in (page, second_tab):
        expect(tab.get_by_role("heading", name="Received")).to_be_visible()
    context.close()
    assert Judgment.objects.filter(assignment=assignment).count() == 1 == Assignment.objects.count()


def test_the_page_goes_on_after_the_server_was_killed(tmp_path, browser):
    site = Site(tmp_path)
    site.ask("tables")
    site.start()
    try:
        fixture = site.ask("make", "preference", "2")
        context = browser.new_context()
        context.add_cookies([{"name": "sessionid", "value": fixture["sessions"][0], "url": site.address}])
        page = context.new_page()
        page.goto(site.address)
        page.get_by_role("button", name="Start").click()
        ready(page)
        page.keyboard.press("1")
        ready(page)
        site.kill()
        page.keyboard.press("2")
        expect(page.locator("#save-state")).to_have_text("Offline, kept on this device")
        site.start()
        expect(page.locator("#save-state")).to_have_text("Saved", timeout=15_000)
        page.locator("#submit").click()
        expect(page.get_by_text("Received, thank you: 1 answer is stored.")).to_be_visible()
        expect(page.locator("#progress")).to_have_text("0 of 1")  # of the next task
        context.close()
        (row,) = [row for row in site.ask("dump")["assignments"].values() if row["state"] == "submitted"]
        assert len(row["judgments"]) == 1
        assert list(row["draft"].values()) == ["-1"]  # B
    finally:
        site.kill()
