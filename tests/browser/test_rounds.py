"""A second round in a real browser: confirm and revise by keyboard, with a remark; before and after for the admin."""

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Judgment, Role
from annotation.studies.second_rounds import open_second_round, read_thresholds
from tests.annotation.studies.test_second_rounds import rated
from tests.browser.conftest import sign_in
from tests.browser.looking import fits
from tests.factories import make_member

pytestmark = pytest.mark.django_db(transaction=True)
UNITS = ("coherence", "fluency", "relevance")


def ready(page: Page) -> None:
    """The page's script has started: it says that everything is saved."""
    expect(page.locator("#save-state")).to_have_text("Saved")


def test_an_expert_confirms_one_and_revises_another_by_keyboard(page: Page, live_server):
    batch, (worker, *_others) = rated([[1, 1, 3], [4, 4, 3], [5, 5, 3]], units=UNITS)
    second = open_second_round(batch, read_thresholds(batch, {}))
    sign_in(page, live_server.url, worker.user.username)
    page.locator("form", has_text=second.name).get_by_role("button", name="Start").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("group", name="Coherence")).to_contain_text("You: 1")
    expect(page.locator(".items").get_by_role("group")).to_have_count(2)
    fits(page)
    ready(page)
    page.keyboard.press("c")  # confirm coherence
    page.keyboard.press("4")  # revise fluency
    page.keyboard.press("k")
    page.keyboard.press("k")
    page.keyboard.press("j")
    page.keyboard.press("m")
    page.keyboard.type("I had overlooked the second sentence.")
    page.keyboard.press("Enter")
    expect(page.locator("#save-state")).to_have_attribute("data-kind", "saved")
    page.reload()
    expect(page.get_by_role("group", name="Fluency").get_by_label("Remark")).to_have_value(
        "I had overlooked the second sentence."
    )
    page.locator("#submit").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Received")).to_be_visible()
    rows = Judgment.objects.filter(assignment__task__batch=second).order_by("pk").values_list("unit", "value", "extra")
    assert list(rows) == [
        ("coherence", 1, None),
        ("fluency", 4, {"remark": "I had overlooked the second sentence."}),
    ]


def test_an_admin_opens_the_round_and_sees_agreement(page: Page, live_server):
    batch, _ = rated([[1, 1, 3], [4, 4, 3], [5, 5, 3]], units=UNITS)
    sign_in(page, live_server.url, make_member(batch.study, Role.ADMIN).username)
    page.goto(f"{live_server.url}/studies/{batch.study.slug}/rounds/")
    page.get_by_role("link", name="Round one").click()
    opening = page.get_by_role("button", name="Open the second round: 2 looks")
    expect(opening).to_be_visible()
    fits(page)
    opening.click()
    expect(page.get_by_role("heading", name="Agreement before and after")).to_be_visible()
    expect(page.get_by_role("rowheader", name="coherence")).to_be_visible()
    fits(page)


def test_litepyramid_is_looked_at_again_the_same_way(page: Page, live_server):
    batch, workers = rated([[1], [0]], "litepyramid", ("scu00",))
    second = open_second_round(batch, read_thresholds(batch, {}))
    sign_in(page, live_server.url, workers[0].user.username)
    page.locator("form", has_text=second.name).get_by_role("button", name="Start").click()
    expect(page.get_by_role("group", name="Fact 0 of document 0.")).to_contain_text("Others: Not present")
    ready(page)
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Received")).to_be_visible()
    assert Judgment.objects.get(assignment__task__batch=second).value == 0
