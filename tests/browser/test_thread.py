"""The thin thread in a real browser: sign in, judge, submit; see progress; read the report."""

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Judgment, Role
from tests.browser.conftest import sign_in
from tests.factories import make_batch, make_member, make_study

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_annotator_judges_a_summary_and_gets_a_receipt(page: Page, live_server):
    study = make_study(units=3)
    make_batch(study)
    sign_in(page, live_server.url, make_member(study).username)
    page.get_by_role("button", name="Take a task").click()
    for group in page.get_by_role("group").all():
        group.get_by_role("radio", name="Not present").check()
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="Received")).to_be_visible()
    assert list(Judgment.objects.values_list("value", flat=True)) == [0, 0, 0]


def test_an_admin_sees_how_far_a_batch_is(page: Page, live_server):
    study = make_study(documents=2)
    make_batch(study, quota=3)
    sign_in(page, live_server.url, make_member(study, Role.ADMIN).username)
    page.get_by_role("link", name="Open study").click()
    expect(page.get_by_role("cell", name="0 / 6")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
