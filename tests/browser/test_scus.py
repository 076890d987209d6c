"""SCU extraction in a real browser: by keyboard, by mouse, offline; and the admin's page that freezes the list."""

import pytest
from playwright.sync_api import Page, expect

from annotation.common import clock
from annotation.models import Assignment, ContentUnit, ExtractedUnit, Reference, Role, Worker
from annotation.protocols.scu_units import Unit, store_units
from annotation.studies.batches import create_batch
from tests.browser.conftest import sign_in
from tests.browser.looking import fits
from tests.factories import make_member, make_study

pytestmark = pytest.mark.django_db(transaction=True)
REFERENCE = ["The mayor opened the bridge on Tuesday.", "It had cost 3 million crowns."]


def open_task(page: Page, live_server, **options) -> None:
    study = make_study(units=0)
    Reference.objects.update(text=REFERENCE)
    create_batch(study, "Extract", "scu", 2, options, state="open")
    sign_in(page, live_server.url, make_member(study).username)
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Start").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("listbox", name="Reference")).to_be_visible()


def saved(page: Page) -> None:
    expect(page.locator("#save-state")).to_have_attribute("data-kind", "saved")


def units(page: Page) -> list[str]:
    return [area.input_value() for area in page.locator("#units textarea").all()]


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_from_the_first_word_to_the_receipt_by_keyboard_alone(page: Page, live_server):
    open_task(page, live_server)
    # "The mayor opened the bridge"
    press(page, *["Shift+ArrowRight"] * 4, "Enter")
    assert units(page) == ["The mayor opened the bridge."]
    press(page, "Escape")  # back to the reference, where the cursor stands on "bridge"
    press(page, "ArrowRight", "ArrowRight", "Space", "Enter")
    page.keyboard.insert_text(" was the day")
    assert units(page) == ["The mayor opened the bridge.", "Tuesday. was the day"]
    press(page, "Alt+ArrowUp")
    assert units(page)[0].startswith("Tuesday")
    press(page, "Control+z", "Control+z")
    assert units(page) == ["The mayor opened the bridge.", "Tuesday."]
    press(page, "Enter")  # on from the last SCU to the reference
    press(page, "Escape", "Enter")  # nothing selected: on to the button
    expect(page.locator("#submit")).to_be_focused()
    press(page, "Enter")
    expect(page.get_by_role("heading", name="Received")).to_be_visible()
    rows = list(ExtractedUnit.objects.values_list("order", "text", "spans"))
    assert rows == [(1, "The mayor opened the bridge.", [[0, 27]]), (2, "Tuesday.", [[31, 38]])]


def test_split_merge_delete_and_undo(page: Page, live_server):
    open_task(page, live_server)
    press(page, "s", "Enter", "Control+Home")
    press(page, *["ArrowRight"] * 9, "Control+Enter")
    assert units(page) == ["The mayor", "opened the bridge on Tuesday."]
    press(page, "Control+Home", "Backspace")
    assert units(page) == ["The mayor opened the bridge on Tuesday."]
    press(page, "Control+z")
    assert units(page) == ["The mayor", "opened the bridge on Tuesday."]
    page.get_by_role("button", name="Delete").click()
    assert units(page) == ["opened the bridge on Tuesday."]
    page.get_by_role("button", name="Undo").click()
    assert len(units(page)) == 2
    page.locator("#units textarea").first.focus()
    page.get_by_role("button", name="Merge").click()
    assert units(page) == ["The mayor opened the bridge on Tuesday."]


def test_words_are_taken_by_click_and_drag_and_coverage_follows(page: Page, live_server):
    open_task(page, live_server)
    word = lambda name: page.get_by_role("option", name=name, exact=True)  # noqa: E731
    expect(page.locator("#coverage-text")).to_contain_text("0 % of content words covered (0 of 8)")
    word("mayor").click()
    word("bridge").click()
    expect(page.locator("#selected-words")).to_have_text("mayor … bridge")
    page.get_by_role("button", name="Make an SCU").click()
    assert units(page) == ["Mayor bridge."]
    expect(page.locator("#coverage-text")).to_contain_text("25 % of content words covered (2 of 8)")
    assert "covered" in word("mayor").get_attribute("class")
    start, end = word("cost").bounding_box(), word("million").bounding_box()
    page.mouse.move(start["x"] + 3, start["y"] + 5)
    page.mouse.down()
    page.mouse.move(end["x"] + 3, end["y"] + 5, steps=8)
    page.mouse.up()
    expect(page.locator("#selected-words")).to_have_text("cost 3 million")
    saved(page)
    # The selected words become the source of the SCU that is being edited.
    page.locator("#units textarea").first.focus()
    page.get_by_role("button", name="Set words").click()
    expect(page.locator("#coverage-text")).to_contain_text("(3 of 8)")


def test_advice_stands_under_the_unit_it_concerns_and_holds_nobody_back(page: Page, live_server):
    open_task(page, live_server)
    press(page, "n")
    page.keyboard.insert_text("It had cost 3 million crowns.")
    expect(page.locator(".unit .advice")).to_have_text("“It” has no noun here: name who or what it is.")
    page.locator("#submit").click()
    expect(page.get_by_role("heading", name="Received")).to_be_visible()


def test_the_limit_is_said_and_kept(page: Page, live_server):
    open_task(page, live_server, max_units=2)
    for _ in range(3):
        press(page, "r", "s", "Enter")
        press(page, "Escape")
    assert len(units(page)) == 2
    expect(page.locator("#full")).to_contain_text("2 SCUs is the most for this reference")


def test_a_reload_brings_the_list_back_and_offline_work_is_kept(browser, live_server):
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    open_task(page, live_server)
    press(page, "s", "Enter")
    saved(page)
    page.reload()
    expect(page.locator("#units textarea")).to_have_value("The mayor opened the bridge on Tuesday.")
    page.context.set_offline(True)
    page.locator("#units textarea").first.focus()
    page.keyboard.insert_text(" Indeed.")
    expect(page.locator("#save-state")).to_have_attribute("data-kind", "offline")
    page.context.set_offline(False)
    saved(page)
    items = Assignment.objects.get().draft["items"]
    assert [item["value"] for name, item in items.items() if name.startswith("unit:")] == [
        "The mayor opened the bridge on Tuesday. Indeed."
    ]
    page.context.close()


def test_nothing_but_a_sentence_comes_of_an_empty_list(page: Page, live_server):
    open_task(page, live_server)
    page.locator("#submit").click()
    expect(page.get_by_role("alert")).to_contain_text("There is no SCU yet")
    assert not ExtractedUnit.objects.exists()


def test_an_admin_merges_two_lists_and_freezes_them(page: Page, live_server):
    study = make_study(units=0)
    Reference.objects.update(text=REFERENCE)
    batch = create_batch(study, "Extract", "scu", 2, state="open")
    lists = [
        [Unit("The mayor opened the bridge.", ((4, 27),))],
        [Unit("The mayor opened a bridge.", ((4, 27),)), Unit("It cost 3 million crowns.", ((47, 67),))],
    ]
    for unit_list in lists:
        worker = Worker.for_user(study, make_member(study))
        assignment = Assignment.objects.create(
            task=batch.tasks.get(), worker=worker, state="submitted", submitted_at=clock.now()
        )
        store_units(assignment, unit_list, clock.now())
    sign_in(page, live_server.url, make_member(study, Role.ADMIN).username)
    page.goto(f"{live_server.url}/studies/{study.slug}/scus/")
    page.get_by_role("link", name="doc0").click()
    expect(page.locator("main")).to_contain_text("1 of 2 facts were found by more than one")
    expect(page.locator("#units textarea")).to_have_count(2)
    assert units(page) == ["The mayor opened a bridge.", "It cost 3 million crowns."]
    page.get_by_role("button", name="Take: The mayor opened the bridge.").click()
    assert len(units(page)) == 3
    page.get_by_role("button", name="Undo").click()
    page.locator("#units textarea").nth(1).fill("The bridge cost 3 million crowns.")
    page.get_by_role("button", name="Freeze as version 1").click()
    expect(page.get_by_role("status").first).to_contain_text("Frozen: version 1, 2 SCUs.")
    assert [unit.text for unit in ContentUnit.objects.in_force()] == [
        "The mayor opened a bridge.",
        "The bridge cost 3 million crowns.",
    ]
    fits(page)


def test_words_are_taken_by_touch(browser, live_server):
    page = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True).new_page()
    open_task(page, live_server)
    for name in ("mayor", "opened"):
        page.get_by_role("option", name=name, exact=True).tap()
    expect(page.locator("#selected-words")).to_have_text("mayor opened")
    page.get_by_role("option", name="mayor", exact=True).tap()  # once more leaves it out
    expect(page.locator("#selected-words")).to_have_text("opened")
    page.get_by_role("button", name="Make an SCU").tap()
    expect(page.locator("#units textarea")).to_have_value("Opened.")
    page.context.close()


def test_arabic_is_selected_from_right_to_left(page: Page, live_server):
    study = make_study(units=0)
    Reference.objects.update(text=["افتتح العمدة الجسر يوم الثلاثاء."])
    create_batch(study, "Extract", "scu", 1, state="open")
    sign_in(page, live_server.url, make_member(study).username)
    page.get_by_role("button", name="Start").click()
    saved(page)
    expect(page.get_by_role("option").first).to_be_focused()
    press(page, "Shift+ArrowLeft", "Shift+ArrowLeft", "Enter")
    assert units(page) == ["افتتح العمدة الجسر."]
