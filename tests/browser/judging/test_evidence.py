"""Evidence never answers, and belongs to the statement just answered; so does a remark in the second round."""

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Judgment
from annotation.protocols import of as protocol_of
from annotation.studies.second_rounds import open_second_round, read_thresholds
from tests.annotation.studies.test_second_rounds import rated
from tests.browser.helpers import SUMMARY, open_batch, open_task, ready

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def task(page: Page, live_server) -> Assignment:
    return open_task(page, live_server.url, open_batch("litepyramid", evidence=True))


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def drag(page: Page, first: int, last: int) -> None:
    page.locator(f"[data-w='{first}']").hover()
    page.mouse.down()
    page.locator(f"[data-w='{last}']").hover()
    page.mouse.up()


def drafted(page: Page) -> list[tuple[str, list]]:
    """Value and marks of every statement, in the order of the page, as the server has them."""
    ready(page)
    assignment = Assignment.objects.select_related("task__batch__study", "task__summary").get()
    items = assignment.draft.get("items", {})
    contents = [items.get(item.field, {}) for item in protocol_of(assignment.task.batch).items(assignment)]
    return [(content.get("value") or "", content.get("evidence", [])) for content in contents]


def test_words_that_are_dragged_or_clicked_while_reading_change_nothing(page: Page, task):
    drag(page, 1, 3)
    expect(page.locator(".text-hint")).to_have_class("small quiet text-hint pointed")
    press(page, "p")
    drag(page, 1, 3)
    page.locator("[data-w='4']").click()
    page.locator("[data-w='6']").click()
    page.wait_for_timeout(500)  # a save would be under way by then
    assert drafted(page) == [("1", []), ("", []), ("", [])]
    expect(page.locator("#progress")).to_have_text("1 of 3")


def test_evidence_belongs_to_the_statement_just_answered_by_keyboard(page: Page, task):
    press(page, "p", "e")
    expect(page.locator("#marking")).to_contain_text("Fact 0 of document 0.")
    press(page, "ArrowRight", "Enter", "ArrowRight", "ArrowRight", "Enter")
    expect(page.locator(".item").first.locator(".mark")).to_have_text("ferry keeps running,")
    expect(page.locator("[data-w].marked")).to_have_count(3)
    press(page, "n", "p")  # answers wait until the mode is left
    expect(page.locator("#progress")).to_have_text("1 of 3")
    press(page, "Escape")
    expect(page.locator("#marking")).to_be_hidden()
    press(page, "n", "n")
    expect(page.locator("#submit")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Received")).to_be_visible()
    first, *others = Judgment.objects.order_by("position")
    start, end = first.extra["evidence"][0]
    assert (first.value, SUMMARY[start:end]) == (1, "ferry keeps running,")
    assert [(row.value, row.extra) for row in others] == [(0, None), (0, None)]


def test_evidence_by_mouse_is_marked_with_the_pencil_and_removed(page: Page, task):
    page.locator(".item").first.get_by_role("radio", name="Present", exact=True).click()
    page.locator(".item").first.get_by_role("button", name="Mark the words that say it").click()
    page.locator("[data-w='0']").click()
    page.locator("[data-w='1']").click()
    expect(page.locator(".mark")).to_have_text("The ferry")
    drag(page, 4, 6)
    expect(page.locator(".mark")).to_have_count(2)
    page.get_by_role("button", name="Remove the mark “The ferry”").click()
    expect(page.locator(".mark")).to_have_count(1)
    page.get_by_role("button", name="Done").click()
    expect(page.locator("#marking")).to_be_hidden()
    assert drafted(page) == [("1", [[4, 6]]), ("", []), ("", [])]


def test_words_selected_before_the_key_are_the_first_mark(page: Page, task):
    press(page, "p")
    drag(page, 1, 3)
    press(page, "e", "Escape")
    assert drafted(page) == [("1", [[1, 3]]), ("", []), ("", [])]


def test_there_is_no_evidence_for_what_is_open_or_not_present(page: Page, task):
    press(page, "e")
    expect(page.locator("#marking")).to_be_hidden()
    press(page, "p", "j", "e")  # by oneself to the third statement, which is open
    expect(page.locator("#marking")).to_be_hidden()
    press(page, "n", "e")
    expect(page.locator("#marking")).to_be_hidden()
    expect(page.locator(".pencil:visible")).to_have_count(1)
    assert drafted(page) == [("1", []), ("", []), ("0", [])]


def test_going_to_another_statement_leaves_the_mode(page: Page, task):
    press(page, "p", "e")
    page.locator(".item").nth(1).get_by_role("radio", name="Not present").click()
    expect(page.locator("#marking")).to_be_hidden()
    drag(page, 1, 2)
    assert drafted(page) == [("1", []), ("0", []), ("", [])]


def test_arrows_move_by_word_by_sentence_and_by_line(page: Page, live_server):
    batch = open_batch("litepyramid", evidence=True)
    text = "One two. Three four five. Six. " + "seven " * 40
    batch.study.documents.get().summaries.update(text=text)
    open_task(page, live_server.url, batch)
    press(page, "p", "e")
    cursor = page.locator("[data-w].cursor")

    def at(key: str) -> int:
        press(page, key)
        return int(cursor.get_attribute("data-w"))

    assert [at(key) for key in ("ArrowRight", "ArrowRight", "ArrowLeft")] == [1, 2, 1]
    assert [at("Control+ArrowRight"), at("Control+ArrowRight"), at("Control+ArrowLeft")] == [2, 5, 2]
    below = at("ArrowDown")
    assert below > 5
    assert at("ArrowUp") < below
    assert at("Home") == 0


def test_a_remark_belongs_to_the_answer_just_decided(page: Page, live_server):
    first, (judge, *_others) = rated([[1, 1, 3], [4, 4, 3], [5, 5, 3]], units=("coherence", "fluency", "relevance"))
    second = open_second_round(first, read_thresholds(first, {}))
    open_task(page, live_server.url, second, judge.user)
    n_looks = page.locator(".look").count()
    press(page, "c", "m")
    page.keyboard.type("Read it again.")
    press(page, "Enter")
    for _ in range(n_looks - 1):
        press(page, "c")
    ready(page)
    items = Assignment.objects.get(task__batch=second).draft["items"]
    fields = [look.get_attribute("data-field") for look in page.locator(".look").all()]
    assert [items[field].get("remark", "") for field in fields] == ["Read it again."] + [""] * (n_looks - 1)
