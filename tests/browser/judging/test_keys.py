"""Keys: Caps Lock, a held key, brackets behind Alt, keys of one's own, keys in the reader's language."""

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Worker
from tests.browser.helpers import let_in, open_batch, open_task, ready
from tests.factories import make_member

pytestmark = pytest.mark.django_db(transaction=True)

HELD = """(key) => { for (const repeat of [false, true, true, true]) document.activeElement.dispatchEvent(
  new KeyboardEvent('keydown', {key, repeat, bubbles: true, cancelable: true})) }"""
BY_ALT = """([key, ctrlKey]) => document.activeElement.dispatchEvent(
  new KeyboardEvent('keydown', {key, altKey: true, ctrlKey, bubbles: true, cancelable: true}))"""


def active(page: Page) -> int:
    return page.evaluate("[...document.querySelectorAll('.item')].findIndex((item) => item.matches('.active'))")


def test_upper_and_lower_case_are_alike(page: Page, live_server):
    open_task(page, live_server.url, open_batch("litepyramid"))
    for key in ["P", "N", "K", "U"]:
        page.keyboard.press(key)
    expect(page.locator("#progress")).to_have_text("1 of 3")
    expect(page.locator(".item").first.locator("input:checked")).to_have_value("1")


def test_a_held_key_answers_once(page: Page, live_server):
    open_task(page, live_server.url, open_batch("litepyramid"))
    page.evaluate(HELD, "p")
    expect(page.locator("#progress")).to_have_text("1 of 3")
    page.keyboard.press("p")
    page.evaluate(HELD, "u")
    expect(page.locator("#progress")).to_have_text("1 of 3")


def test_a_held_enter_does_not_submit(page: Page, live_server):
    open_task(page, live_server.url, open_batch("litepyramid"))
    for key in "ppp":
        page.keyboard.press(key)
    page.locator(".item input:checked").first.focus()
    page.keyboard.down("Enter")
    for _ in range(3):
        page.keyboard.down("Enter")  # a repeat, as long as it isn't let go
    page.keyboard.up("Enter")
    expect(page.locator("#submit")).to_be_focused()
    assert Assignment.objects.get().state == Assignment.State.LEASED
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Received")).to_be_visible()


@pytest.mark.parametrize("with_ctrl", [True, False], ids=["AltGr", "Option"])
def test_brackets_that_need_alt_lead_to_the_next_and_the_previous_summary(page: Page, live_server, with_ctrl):
    open_task(page, live_server.url, open_batch("likert"))
    page.evaluate(BY_ALT, ["]", with_ctrl])
    assert active(page) == 4
    page.evaluate(BY_ALT, ["[", with_ctrl])
    assert active(page) == 0


def choose_keys(page: Page, *keys: str) -> None:
    page.keyboard.press("?")
    for place, key in enumerate(keys):
        page.locator("#own-keys input").nth(place).fill(key)
    page.keyboard.press("Escape")
    ready(page)


def test_an_annotator_chooses_own_keys_which_come_along_to_another_device(page: Page, live_server, browser):
    batch = open_batch("litepyramid")
    user = make_member(batch.study)
    open_task(page, live_server.url, batch, user)
    with page.expect_response("**/draft/"):
        choose_keys(page, "x", "y")
    expect(page.locator(".item").first.locator("kbd").first).to_have_text("X")
    page.keyboard.press("x")
    page.keyboard.press("Y")
    page.keyboard.press("p")  # no longer a key
    expect(page.locator("#progress")).to_have_text("2 of 3")
    ready(page)
    context = browser.new_context()
    let_in(context, live_server.url, user)
    second_page = context.new_page()
    second_page.goto(page.url)
    ready(second_page)
    second_page.keyboard.press("y")
    expect(second_page.locator("#progress")).to_have_text("3 of 3")
    values = [item.get_attribute("value") for item in second_page.locator(".item input:checked").all()]
    assert values == ["1", "0", "0"]
    context.close()


def test_a_key_that_does_something_else_is_refused_with_a_sentence(page: Page, live_server):
    batch = open_batch("likert")
    open_task(page, live_server.url, batch)
    page.keyboard.press("?")
    page.locator("#own-keys input").first.fill("j")
    expect(page.locator("#own-keys")).to_contain_text("Each answer needs one key of its own")
    page.get_by_role("button", name="The usual keys").click()
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    expect(page.locator("#progress")).to_contain_text("1 of ")
    assert Worker.objects.get().preferences.get("keys", {}).get("likert", {}) == {}


def test_the_usual_keys_follow_the_readers_language(browser, live_server):
    context = browser.new_context(locale="de-DE")
    page = context.new_page()
    open_task(page, live_server.url, open_batch("litepyramid"))
    expect(page.locator(".item").first.locator("kbd").first).to_have_text("V")
    page.keyboard.press("v")
    page.keyboard.press("n")
    expect(page.locator("#progress")).to_have_text("2 von 3")
    context.close()


@pytest.mark.parametrize("protocol", ["litepyramid", "likert", "scu"])
def test_every_letter_on_a_key_is_a_capital(page: Page, live_server, protocol):
    open_task(page, live_server.url, open_batch(protocol, units=0 if protocol == "scu" else 3))
    letters = page.evaluate("[...document.querySelectorAll('kbd')].map((key) => key.textContent.trim())")
    assert [letter for letter in letters if len(letter) == 1 and letter != letter.upper()] == []
    assert len(letters) > 5
