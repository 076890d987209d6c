"""Marked errors in a real browser: by keyboard, by mouse, by finger, offline, in two tabs, and after a crash."""

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotation.judging.leases import lease_task
from annotation.judging.submit import submit_judgments
from annotation.models import Assignment, Batch, Document, Judgment, Summary, Worker
from annotation.protocols import of as protocol_of
from annotation.studies.batches import create_batch
from tests.annotation.judging.crash_site import Site
from tests.browser.conftest import NARROW, WIDE
from tests.browser.helpers import let_in, open_task, ready
from tests.browser.looking import fits
from tests.browser.test_axe import AxeCheck, axe  # noqa: F401  # a fixture
from tests.factories import make_member, make_study

pytestmark = pytest.mark.django_db(transaction=True)
SUMMARY = "The mayor kept the ferry. Ships turn blue."
SOURCE = "The council voted to keep the ferry.\nParking will cost more. " + "It was a long evening. " * 30


@pytest.fixture
def batch() -> Batch:
    study = make_study(documents=2)
    Summary.objects.update(text=SUMMARY)
    Document.objects.update(source=SOURCE)
    return create_batch(study, "Mark", "errors", 2, {}, state=Batch.State.OPEN)


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def word(page: Page, text: str):
    return page.locator("#summary-words").get_by_role("option", name=text, exact=True)


def legends(page: Page) -> list[str]:
    return page.locator("#marks legend").all_text_contents()


def marks(assignment: Assignment) -> dict[str, list]:
    rows = Judgment.objects.filter(assignment=assignment, is_current=True)
    return {row.unit: row.extra["spans"] for row in rows if (row.extra or {}).get("spans")}


def test_from_the_first_word_to_the_receipt_by_keyboard_alone(page: Page, live_server, batch):
    assignment = open_task(page, live_server.url, batch)
    press(page, "r", "Shift+ArrowRight")  # “The mayor”
    expect(page.locator("#selected-words")).to_have_text("Selected: The mayor")
    press(page, "2")  # Entity
    assert legends(page) == ["The mayor"]
    press(page, "+")  # major, and back to the words
    expect(page.locator("#summary-words [role=option]:focus")).to_have_text("mayor")
    press(page, "Home", *["ArrowRight"] * 5, "s", "6", "-")  # “Ships turn blue”, not in the article
    press(page, "8", "-")  # an omission has no words
    assert legends(page) == ["The mayor", "Ships turn blue", "without words"]
    press(page, "e", *["ArrowRight"] * 7, *["Shift+ArrowRight"] * 3, "Enter", "Escape")
    expect(page.locator("#marks .mark")).to_have_text("Parking will cost more")
    press(page, "u", "u", "u")
    assert legends(page) == ["The mayor", "Ships turn blue"]
    page.locator("#overall-number").focus()
    page.keyboard.type("40")
    page.locator("#submit").focus()
    press(page, "Enter")
    expect(page.get_by_text("Received, thank you: 9 answers are stored.")).to_be_visible()
    assert marks(assignment) == {
        "entity": [{"start": 0, "end": 9, "severity": "major"}],
        "out_of_article": [{"start": 26, "end": 41, "severity": "minor"}],
    }
    assert Judgment.objects.get(assignment=assignment, unit="overall").value == 40
    expect(page.locator("#marks li")).to_have_count(0)  # of the next task
    press(page, "r", "1", "+")
    assert legends(page) == []  # nothing was selected
    press(page, "Space", "1", "+")
    assert legends(page) == ["The"]


def test_words_are_marked_by_mouse_and_marks_overlap(page: Page, live_server, batch):
    assignment = open_task(page, live_server.url, batch)
    word(page, "mayor").hover()
    page.mouse.down()
    word(page, "kept").hover()
    page.mouse.up()
    page.get_by_role("button", name="Relation").click()
    word(page, "kept").click()
    page.get_by_role("button", name="Grammar").click()
    assert legends(page) == ["mayor kept", "kept"]
    expect(word(page, "kept")).to_have_attribute("data-depth", "2")
    page.locator("#submit").click()
    expect(page.locator("#work-banner")).to_contain_text("minor or major")
    for place in (0, 1):
        page.locator("#marks li").nth(place).locator(".choice").nth(place).click()
    page.locator("#marks select").first.select_option("circumstance")
    page.locator("#submit").click()
    expect(page.locator("#work-banner")).to_contain_text("0 to 100")
    page.locator("#overall-range").fill("70")
    expect(page.locator("#overall-number")).to_have_value("70")
    page.locator("#marks li").nth(1).get_by_role("button", name="Remove").click()
    assert legends(page) == ["mayor kept"]
    page.get_by_role("button", name="Undo").click()
    page.locator("#submit").click()
    expect(page.get_by_text("Received, thank you")).to_be_visible()
    assert marks(assignment) == {
        "circumstance": [{"start": 4, "end": 14, "severity": "minor"}],
        "grammar": [{"start": 10, "end": 14, "severity": "major"}],
    }


def test_words_are_marked_by_finger(browser, live_server, batch):
    context = browser.new_context(viewport=NARROW, has_touch=True, is_mobile=True)
    page = context.new_page()
    assignment = open_task(page, live_server.url, batch)
    word(page, "Ships").tap()
    word(page, "blue").tap()
    expect(page.locator("#selected-words")).to_have_text("Selected: Ships turn blue")
    page.get_by_role("button", name="Not in the article").tap()
    page.locator("#marks .choice").nth(1).tap()
    ready(page)
    fits(page)
    (content,) = [
        entry
        for name, entry in Assignment.objects.get(pk=assignment.pk).draft["items"].items()
        if name.startswith("span:")
    ]
    assert (content["value"], content["severity"], content["start"], content["end"]) == (
        "out_of_article",
        "major",
        26,
        41,
    )
    context.close()


def test_that_there_is_no_error_is_said(page: Page, live_server, batch):
    open_task(page, live_server.url, batch)
    page.locator("#overall-number").fill("100")
    page.locator("#submit").click()
    expect(page.locator("#work-banner")).to_contain_text("Nothing is marked")
    expect(page.locator("#no-error input")).to_be_focused()
    press(page, "Space")
    expect(page.locator("#work-banner")).to_be_hidden()
    page.locator("#submit").click()
    expect(page.get_by_text("Received, thank you: 9 answers are stored.")).to_be_visible()


def test_marks_made_offline_survive_a_reload_and_two_tabs_keep_both(browser, live_server, batch):
    context = browser.new_context(viewport=WIDE)
    page = context.new_page()
    open_task(page, live_server.url, batch)
    second = page.context.new_page()
    second.goto(page.url)
    ready(second)
    word(second, "blue").click()
    press(second, "3", "-")
    expect(page.locator("#marks legend")).to_have_text(["blue"])
    page.context.set_offline(True)
    word(page, "ferry").click()
    press(page, "2", "+")
    expect(page.locator("#save-state")).to_have_attribute("data-kind", "offline")
    page.context.set_offline(False)
    page.reload()
    ready(page)
    assert legends(page) == ["ferry", "blue"]
    expect(second.locator("#marks legend")).to_have_text(["ferry", "blue"])
    context.close()


def test_a_kind_that_the_list_lost_is_chosen_again(page: Page, live_server, batch):
    assignment = open_task(page, live_server.url, batch)
    word(page, "ferry").click()
    press(page, "2", "+")
    page.locator("#overall-number").fill("3")
    ready(page)
    batch.options["categories"] = ["relation", "link"]
    batch.save()
    page.reload()
    ready(page)
    expect(page.locator("#marks select")).to_have_value("entity")
    page.locator("#submit").click()
    expect(page.locator("#work-banner")).to_contain_text("doesn’t have any more")
    page.locator("#marks select").select_option("link")
    page.locator("#submit").click()
    expect(page.get_by_text("Received, thank you")).to_be_visible()
    assert list(marks(assignment)) == ["link"]


def test_revising_shows_what_was_marked(page: Page, live_server, batch):
    user = make_member(batch.study)
    assignment = lease_task(batch, Worker.for_user(batch.study, user))
    overall = next(item.field for item in protocol_of(batch).items(assignment) if item.unit == "overall")
    span = {"value": "entity", "severity": "minor", "start": 4, "end": 9}
    submit_judgments(assignment.worker, assignment.key, {"span:a": span, overall: "9"}, "k")
    let_in(page.context, live_server.url, user)
    page.goto(live_server.url + reverse("revise", args=[assignment.key]))
    ready(page)
    assert legends(page) == ["mayor"]
    page.locator("#marks").get_by_role("button", name="Remove").click()
    page.locator("#no-error input").check()
    page.locator("#submit").click()
    expect(page.get_by_role("heading", name="Received")).to_be_visible()
    assert marks(assignment) == {}


@pytest.mark.parametrize(("viewport", "scheme"), [(WIDE, "light"), (NARROW, "dark")], ids=["wide", "narrow"])
def test_axe_finds_no_fault(browser, live_server, batch, axe, viewport, scheme):  # noqa: F811
    context = browser.new_context(viewport=viewport, color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    check = AxeCheck(page, live_server.url, axe)
    assignment = open_task(page, live_server.url, batch)
    check.check("begun")
    fits(page)
    word(page, "kept").click()
    check.check("selected")
    press(page, "1")
    check.check("marked")
    press(page, "+", "e", "Space", "Enter")
    check.check("evidence")
    press(page, "Escape", "8")
    page.locator("#submit").click()
    check.check("held back")
    press(page, "?")
    check.check("help")
    fits(page)
    overall = next(item.field for item in protocol_of(batch).items(assignment) if item.unit == "overall")
    answers = {"span:a": {"value": "entity", "severity": "major", "start": 0, "end": 9}, overall: "9"}
    assignment = Assignment.objects.select_related("worker").get(pk=assignment.pk)
    drafted = {name: {"value": None} for name in assignment.draft.get("items", {}) if name.startswith("span:")}
    submit_judgments(assignment.worker, assignment.key, {**drafted, **answers}, "k")
    let_in(context, live_server.url, make_member(batch.study, "admin"))
    check.visit("explorer-document", batch.study.slug, assignment.task.document_id)
    page.locator("details summary").last.click()
    check.check("marks in the Explorer")
    expect(page.locator(".marked-text mark")).to_have_text("The mayor")
    context.close()
    assert check.faults == []


def test_the_page_goes_on_after_the_server_was_killed(browser, tmp_path):
    site = Site(tmp_path)
    site.ask("tables")
    site.start()
    try:
        study = site.ask("make", "errors")
        context = browser.new_context()
        context.add_cookies([{"name": "sessionid", "value": study["sessions"][0], "url": site.address}])
        page = context.new_page()
        page.goto(site.address)
        page.get_by_role("button", name="Start").click()
        ready(page)
        press(page, "r", "Space", "1", "+")
        ready(page)
        site.kill()
        press(page, "ArrowRight", "Space", "2", "-")
        expect(page.locator("#save-state")).to_have_attribute("data-kind", "offline")
        site.start()
        expect(page.locator("#save-state")).to_have_text("Saved", timeout=15_000)
        page.locator("#overall-number").fill("12")
        page.locator("#submit").click()
        expect(page.get_by_text("Received, thank you: 9 answers are stored.")).to_be_visible()
        context.close()
        (assignment,) = [row for row in site.ask("dump")["assignments"].values() if row["state"] == "submitted"]
        assert sorted(value for _field, value, _current in assignment["judgments"]) == sorted(
            ["5", "1", "12", *["0"] * 6]
        )
    finally:
        site.kill()
