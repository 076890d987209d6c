"""The thin thread in a real browser: sign in, judge, submit; see progress; read the report."""

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Judgment, Role
from tests.annotation.demo_study import load_written
from tests.browser.conftest import sign_in
from tests.browser.looking import fits, wait_for_page
from tests.factories import make_batch, make_member, make_study

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_annotator_judges_a_summary_and_gets_a_receipt(page: Page, live_server):
    study = make_study(units=3)
    make_batch(study)
    sign_in(page, live_server.url, make_member(study).username)
    page.get_by_role("button", name="Start").click()
    questions = page.locator(".items").get_by_role("group")  # the summary beside them is a group too
    expect(questions).to_have_count(3)
    for group in questions.all():
        group.get_by_role("radio", name="Not present").check()
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="Received")).to_be_visible()
    assert list(Judgment.objects.values_list("value", flat=True)) == [0, 0, 0]


def test_an_answer_given_before_the_script_has_loaded_counts(page: Page, live_server):
    study = make_study(units=2)
    make_batch(study)
    sign_in(page, live_server.url, make_member(study).username)
    routes = []
    page.route("**/judging/litepyramid.js", lambda route: routes.append(route))  # a slow network
    with page.expect_request("**/judging/litepyramid.js"):
        page.get_by_role("button", name="Start").click(no_wait_after=True)
    questions = page.locator(".items").get_by_role("group")
    questions.nth(0).get_by_role("radio", name="Not present").check()
    routes[0].continue_()
    expect(page.get_by_text("1 of 2")).to_be_visible()
    questions.nth(1).get_by_role("radio", name="Present", exact=True).check()
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="Received")).to_be_visible()
    assert sorted(Judgment.objects.values_list("value", flat=True)) == [0, 1]


def test_an_admin_sees_how_far_a_batch_is(page: Page, live_server):
    study = make_study(documents=2)
    make_batch(study, quota=3)
    sign_in(page, live_server.url, make_member(study, Role.ADMIN).username)
    page.get_by_role("link", name="Open study").click()
    page.get_by_role("navigation", name="Steps of the study").get_by_role("link", name="Collect").click()
    expect(page.get_by_text("0 of 6 answers to 2 tasks")).to_be_visible()
    fits(page)


def test_an_analyst_reads_the_report_with_its_charts(page: Page, live_server):
    load_written()
    sign_in(page, live_server.url, "analyst", "demo")
    page.get_by_role("link", name="Report").click()
    expect(page.get_by_text("On these 6 systems and 12 documents")).to_be_visible()
    wait_for_page(page, page.get_by_role("heading", name="Can we trust the judges?"))
    assert page.locator("figure svg").count() >= 2
    assert page.get_by_role("row", name="rouge-1-f").count() >= 1
    fits(page)


def test_no_title_of_a_chart_is_cut_off(page: Page, live_server):
    """A matrix of three metrics is narrower than its title: that runs on beside it, inside the card."""
    load_written()
    sign_in(page, live_server.url, "analyst", "demo")
    page.get_by_role("link", name="Report").click()
    expect(page.locator(".figure svg").first).to_be_visible()
    cut = """[...document.querySelectorAll('.figure svg')].flatMap((chart) => {
      const box = chart.getBoundingClientRect(), card = chart.closest('.card').getBoundingClientRect();
      const clips = getComputedStyle(chart).overflow === 'hidden';
      return [...chart.querySelectorAll('text')].filter((one) =>
        one.getBoundingClientRect().right > (clips ? box : card).right + 1).map((one) => one.textContent);
    })"""
    assert page.evaluate(cut) == []
