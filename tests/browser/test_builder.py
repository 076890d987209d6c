"""Making a batch in the browser: it counts and shows a task while one chooses."""

import os

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Batch, Role
from tests.browser.conftest import sign_in
from tests.browser.looking import fits
from tests.factories import make_member, make_study


@pytest.fixture
def builder(page: Page, live_server):
    study = make_study(documents=3, systems=2)
    make_member(study, Role.ADMIN, "boss")
    sign_in(page, live_server.url, "boss")
    page.goto(f"{live_server.url}/studies/{study.slug}/collect/")
    page.get_by_role("link", name="New batch").click()
    return page


def test_counts_and_a_real_task_follow_the_choices(builder: Page):
    expect(builder.get_by_text("6 tasks, 18 answers")).to_be_visible()
    builder.get_by_label("Pilot").fill("1")
    expect(builder.get_by_text("2 tasks, 6 answers")).to_be_visible()
    builder.get_by_label("the word BLANK").fill("1")
    builder.get_by_label("system0").check()
    expect(builder.get_by_text("1 task, 3 answers")).to_be_visible()
    task = builder.frame_locator("iframe")
    expect(task.get_by_role("group", name="BLANK")).to_be_visible()
    expect(task.get_by_text("by system0")).to_be_visible()
    if folder := os.environ.get("SHOTS"):
        builder.screenshot(path=f"{folder}/builder-{builder.viewport_size['width']}.png", full_page=True)
    builder.get_by_label("Name", exact=True).fill("Pilot")
    fits(builder)
    assert not Batch.objects.exists()
    builder.get_by_role("button", name="Make the batch").click()
    expect(builder.get_by_role("status")).to_contain_text("“Pilot” is ready.")
    assert Batch.objects.get().tasks.count() == 1
    if folder := os.environ.get("SHOTS"):
        builder.screenshot(path=f"{folder}/collect-{builder.viewport_size['width']}.png", full_page=True)


def test_ratings_with_a_dimension_of_ones_own(builder: Page):
    builder.get_by_role("link", name="Likert").click()
    builder.get_by_text("Dimensions of your own").click()
    builder.get_by_label("Name", exact=True).nth(1).fill("Focus")
    builder.get_by_label("highest", exact=True).fill("7")
    task = builder.frame_locator("iframe")
    expect(task.get_by_text("Focus").first).to_be_visible()
    if folder := os.environ.get("SHOTS"):
        builder.screenshot(path=f"{folder}/likert-{builder.viewport_size['width']}.png", full_page=True)
    fits(builder)


def test_what_is_wrong_is_said_beside_the_choice(builder: Page):
    builder.get_by_label("Documents one id").fill("nowhere")
    expect(builder.get_by_text("This study has no documents “nowhere”")).to_be_visible()
