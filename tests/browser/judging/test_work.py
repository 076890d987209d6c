"""Work pages in Chromium, by keyboard only: from signing in to the receipt, at 1280 and 360 px."""

import re

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Batch, Judgment, Summary
from tests.browser.conftest import NARROW
from tests.browser.helpers import SUMMARY, open_batch, open_task, ready
from tests.browser.looking import fits
from tests.factories import make_member

pytestmark = pytest.mark.django_db(transaction=True)


LIT = """[...CSS.highlights.get('shared')].map(({startContainer, startOffset, endOffset}) =>
  startContainer.data.slice(startOffset, endOffset))"""


def sign_in_by_keyboard(page: Page, server: str, name: str) -> None:
    page.goto(f"{server}/sign-in/")
    expect(page.get_by_label("Name")).to_be_focused()
    page.keyboard.type(name)
    page.keyboard.press("Tab")
    page.keyboard.type("secret-for-tests")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Your work")).to_be_visible()


def tab_to(page: Page, name: str) -> None:
    """Tab until the button or link of that name has the focus."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if name in page.evaluate("document.activeElement.textContent.trim()"):
            return
    raise AssertionError(f"Tab never reached {name!r}")


def tab_back_to(page: Page, name: str) -> None:
    """The same backwards, for a field by its name."""
    for _ in range(10):
        page.keyboard.press("Shift+Tab")
        if page.evaluate("document.activeElement.name") == name:
            return
    raise AssertionError(f"Tab never reached {name!r}")


def begin(page: Page, server: str, batch: Batch) -> Assignment:
    sign_in_by_keyboard(page, server, make_member(batch.study).username)
    tab_to(page, "Start")
    page.keyboard.press("Enter")
    ready(page)
    return Assignment.objects.get()


def too_wide(page: Page) -> list[str]:
    """The elements that stick out of the page on the right."""
    find = """[...document.querySelectorAll('main *')].filter((one) =>
      one.getBoundingClientRect().right > window.innerWidth + 1 && !one.closest('.visually-hidden'))
      .map((one) => `${one.tagName} ${one.className} ${one.textContent.trim().slice(0, 20)}`)"""
    return page.evaluate(find)


def test_litepyramid_from_sign_in_to_receipt_by_keyboard(page: Page, live_server):
    begin(page, live_server.url, open_batch("litepyramid"))
    page.keyboard.press("j")
    page.keyboard.press("p")  # the focus goes on by itself
    page.keyboard.press("n")
    expect(page.locator("#progress")).to_have_text("2 of 3")
    page.keyboard.press("u")
    expect(page.locator("#progress")).to_have_text("1 of 3")
    page.keyboard.press("p")
    page.keyboard.press("n")
    expect(page.locator("#progress")).to_have_text("3 of 3")
    expect(page.locator("#submit")).to_be_focused()
    fits(page)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Received")).to_be_visible()
    assert list(Judgment.objects.order_by("position").values_list("value", flat=True)) == [1, 1, 0]
    expect(page.get_by_role("button", name="Next task")).to_be_focused()


def test_likert_from_sign_in_to_receipt_by_keyboard(page: Page, live_server):
    begin(page, live_server.url, open_batch("likert"))
    page.keyboard.press("j")
    for place in range(5):
        for value in "1234":
            page.keyboard.press(value)
        expect(page.locator(".dot.complete")).to_have_count(place + 1)
    expect(page.locator("#submit")).to_be_focused()
    fits(page)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Received")).to_be_visible()
    rows = Judgment.objects.order_by("position", "pk").values_list("position", "unit", "value")
    assert [row for row in rows if row[0] == 5] == [
        (5, "coherence", 1),
        (5, "consistency", 2),
        (5, "fluency", 3),
        (5, "relevance", 4),
    ]
    assert len(rows) == 20


def test_arrow_keys_move_between_statements_and_do_not_answer_them(page: Page, live_server):
    open_task(page, live_server.url, open_batch("litepyramid"))
    for key in ["ArrowDown", "ArrowDown", "ArrowUp", "ArrowDown"]:
        page.keyboard.press(key)
    expect(page.locator(".item.active")).to_have_count(1)
    expect(page.locator("#progress")).to_have_text("0 of 3")
    assert page.evaluate("[...document.querySelectorAll('.item')].indexOf(document.querySelector('.item.active'))") == 1


def test_submitting_with_a_gap_marks_it_and_moves_there(page: Page, live_server):
    open_task(page, live_server.url, open_batch("litepyramid"))
    page.keyboard.press("j")
    page.keyboard.press("p")
    page.locator("#submit").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("2 of 3 have no answer yet")
    expect(page.locator(".item.missing")).to_have_count(2)
    assert page.evaluate("document.activeElement.closest('.item').classList.contains('missing')")
    assert not Judgment.objects.exists()


@pytest.mark.parametrize("protocol", ["litepyramid", "likert"])
def test_what_is_missing_is_counted_down_and_then_no_longer_said(page: Page, live_server, protocol):
    open_task(page, live_server.url, open_batch(protocol))
    page.locator("#submit").focus()
    page.keyboard.press("Enter")
    total = page.locator(".item").count()
    banner = page.locator("#work-banner")
    expect(banner).to_contain_text(f"{total} of {total} have no answer yet")
    key = "p" if protocol == "litepyramid" else "3"
    for n_missing in range(total - 1, 0, -1):
        page.keyboard.press(key)
        expect(banner).to_contain_text(f"{n_missing} of {total} have" if n_missing > 1 else f"One of {total} has")
    page.keyboard.press(key)
    expect(banner).to_be_hidden()


def test_another_refusal_stays_when_everything_is_answered(page: Page, live_server):
    refusal = {"error": "Refused", "sentence": "Not like this."}
    page.route("**/submit/", lambda route: route.fulfill(status=422, json=refusal))
    open_task(page, live_server.url, open_batch("litepyramid"))
    page.keyboard.press("j")
    for _ in range(3):
        page.keyboard.press("p")
    page.keyboard.press("Enter")
    expect(page.locator("#work-banner")).to_have_text("Not like this.")
    page.keyboard.press("k")
    page.keyboard.press("n")
    ready(page)
    expect(page.locator("#work-banner")).to_be_visible()


def test_help_opens_with_a_question_mark_and_closes_with_escape(page: Page, live_server):
    open_task(page, live_server.url, open_batch("litepyramid"))
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Help")).to_be_visible()
    page.keyboard.press("p")  # no answer while help is open
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("#progress")).to_have_text("0 of 3")


def test_the_article_is_searched_folded_and_lit_up_by_keyboard(page: Page, live_server):
    batch = open_batch("likert", overlap=True)
    document = batch.study.documents.get()
    document.source = ["The ferry keeps running on Tuesday.", "Nobody knows why.", "The ferry is old."]
    document.save()
    Summary.objects.update(text=SUMMARY)  # the reference too
    open_task(page, live_server.url, batch)
    page.keyboard.press("/")
    page.keyboard.type("FERRY")
    expect(page.locator("#search-count")).to_have_text("1 of 2")
    page.keyboard.press("Enter")
    expect(page.locator("#search-count")).to_have_text("2 of 2")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("o")
    expect(page.get_by_role("button", name="Shared words")).to_have_attribute("aria-pressed", "true")
    assert page.evaluate(LIT) == ["ferry", "keeps", "running", "Tuesday", "ferry"]
    page.keyboard.press("f")
    expect(page.locator("#article-text")).to_be_hidden()
    page.keyboard.press("f")
    expect(page.locator("#article-text")).to_be_visible()


def test_my_answers_can_be_looked_at_again_and_revised(page: Page, live_server):
    open_task(page, live_server.url, open_batch("litepyramid"))
    page.keyboard.press("j")
    for _ in range(3):
        page.keyboard.press("p")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Review my answers").click()
    page.get_by_role("link", name="Look again").click()
    expect(page.locator("#progress")).to_have_text("3 of 3")
    page.keyboard.press("j")
    page.keyboard.press("n")
    page.get_by_role("button", name="Send the changes").click()
    expect(page.get_by_text("Your revision is in")).to_be_visible()
    assert Judgment.objects.filter(is_current=True).count() == 3
    assert list(Judgment.objects.filter(revision=2).values_list("value", flat=True)) == [0]


def test_right_to_left_texts_run_from_the_right(page: Page, live_server):
    batch = open_batch("litepyramid", evidence=True)
    Summary.objects.update(text="العبارة مستمرة في العمل")
    open_task(page, live_server.url, batch)
    assert page.evaluate("getComputedStyle(document.getElementById('summary-text')).direction") == "rtl"


@pytest.mark.parametrize("protocol", ["litepyramid", "likert"])
def test_longer_words_of_another_language_fit_a_narrow_screen(browser, live_server, protocol):
    context = browser.new_context(viewport=NARROW, locale="de-DE")
    page = context.new_page()
    open_task(page, live_server.url, open_batch(protocol))
    expect(page.locator("#save-state")).to_have_text("Gespeichert")
    assert too_wide(page) == []
    outside = """[...document.querySelectorAll('.item')].filter((item) =>
      [...item.querySelectorAll('.choice')].some((one) =>
        one.getBoundingClientRect().right > item.getBoundingClientRect().right)).length"""
    assert page.evaluate(outside) == 0
    context.close()


@pytest.mark.parametrize(("protocol", "key"), [("litepyramid", "p"), ("likert", "4")])
def test_the_first_open_question_is_outlined_and_its_keys_work_at_once(page: Page, live_server, protocol, key):
    """The keys are printed on the buttons: whoever presses one must not find that nothing happens."""
    begin(page, live_server.url, open_batch(protocol))
    expect(page.locator(".item.active")).to_have_count(1)
    expect(page.locator(".item").first).to_have_class(re.compile(r"\bactive\b"))
    page.keyboard.press(key)
    expect(page.locator("#progress")).to_contain_text("1 of ")
    expect(page.locator(".item").first.locator("input:checked")).to_have_count(1)
    expect(page.locator(".item").nth(1)).to_have_class(re.compile(r"\bactive\b"))


@pytest.mark.parametrize("key", ["j", "Enter"])
def test_the_first_move_goes_to_the_first_question(page: Page, live_server, key):
    begin(page, live_server.url, open_batch("litepyramid"))
    page.keyboard.press(key)
    expect(page.locator(".item").first.locator("input").first).to_be_focused()


def test_in_forced_colours_a_chosen_answer_differs_from_the_others(page: Page, live_server):
    page.emulate_media(forced_colors="active")
    begin(page, live_server.url, open_batch("likert"))
    page.keyboard.press("4")
    expect(page.locator("#progress")).to_contain_text("1 of ")
    row = page.locator(".item").first
    colour = "one => getComputedStyle(one).backgroundColor"
    checked = row.locator("input:checked + span").evaluate(colour)
    assert checked not in row.locator("input:not(:checked) + span").evaluate_all(f"all => all.map({colour})")


def test_giving_back_asks_once_more_when_there_are_answers(page: Page, live_server):
    """A task that was given back doesn't come again, and the button stands beside Help."""
    assignment = begin(page, live_server.url, open_batch("litepyramid"))
    page.keyboard.press("p")
    expect(page.locator("#progress")).to_contain_text("1 of ")
    page.get_by_role("button", name="Give back").click()
    question = page.get_by_role("dialog", name="Give this task back?")
    expect(question.get_by_role("button", name="Go on working")).to_be_focused()
    fits(page)
    page.keyboard.press("Enter")
    expect(question).to_be_hidden()
    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.LEASED
    page.get_by_role("button", name="Give back").click()
    question.get_by_role("button", name="Give back").click()
    expect(page.get_by_role("status")).to_contain_text("You gave the task back")
    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.RELEASED


def test_an_untouched_task_is_given_back_at_once(page: Page, live_server):
    assignment = begin(page, live_server.url, open_batch("litepyramid"))
    page.get_by_role("button", name="Give back").click()
    expect(page.get_by_role("heading", name="Your work")).to_be_visible()
    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.RELEASED
