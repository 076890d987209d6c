"""Two clicks make one thing, and one click takes nobody out of a study."""

import time

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotation.accounts import invitations, token_views
from annotation.models import ApiToken, Batch, Invitation, Role
from annotation.studies import builder_views
from tests.browser.helpers import let_in
from tests.factories import make_member, make_study

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def study(page: Page, live_server):
    study = make_study()
    let_in(page.context, live_server.url, make_member(study, Role.ADMIN, "boss"))
    page.goto(live_server.url + reverse("collect", args=[study.slug]))
    return study


@pytest.fixture
def slow(monkeypatch):
    """The server takes its time: the second click comes while the first is being answered."""
    for room, name in ((builder_views, "make_batch"), (invitations, "invite"), (token_views, "issue_token")):
        make = getattr(room, name)
        monkeypatch.setattr(room, name, lambda *args, make=make, **kw: [make(*args, **kw), time.sleep(0.7)][0])


def click_twice(page: Page, name: str) -> None:
    button = page.get_by_role("button", name=name)
    button.scroll_into_view_if_needed()
    box = button.bounding_box()
    place = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    with page.expect_request(lambda request: request.method == "POST"):
        page.mouse.click(*place)
    page.mouse.click(*place)


def test_two_clicks_make_one_batch(page: Page, study, slow):
    page.get_by_role("link", name="New batch").click()
    expect(page.get_by_text("1 task, 3 answers")).to_be_visible()
    with page.expect_response("**/size/"):  # the count that the page asks for is not cut off by leaving it
        page.get_by_label("Name", exact=True).fill("One")
    click_twice(page, "Make the batch")
    expect(page.get_by_role("status")).to_contain_text("“One” is ready.")
    assert Batch.objects.count() == 1


def test_two_clicks_make_one_invitation_and_a_third_on_purpose_another(page: Page, study, slow):
    click_twice(page, "Make a link")
    expect(page.get_by_role("heading", name="The invitation is ready")).to_be_visible()
    assert Invitation.objects.count() == 1
    page.go_back()
    page.get_by_role("button", name="Make a link").click()
    expect(page.get_by_role("heading", name="The invitation is ready")).to_be_visible()
    assert Invitation.objects.count() == 2


def test_two_clicks_make_one_token(page: Page, live_server, study, slow):
    page.goto(live_server.url + reverse("tokens"))
    page.get_by_label("Name", exact=True).fill("Notebook")
    click_twice(page, "Make the token")
    expect(page.locator("#token")).to_be_visible()
    assert ApiToken.objects.count() == 1


def test_a_person_is_taken_out_after_a_question(page: Page, live_server, study):
    make_member(study, Role.ANNOTATOR, "annotator")
    page.set_extra_http_headers({"Accept-Language": "de"})
    page.reload()
    row = page.get_by_role("listitem").filter(has=page.get_by_text("annotator", exact=True))
    row.locator("summary").click()
    sure = row.get_by_role("button")
    sure.scroll_into_view_if_needed()
    expect(sure).to_be_in_viewport(ratio=1)
    expect(row.get_by_text("Was sie getan hat, bleibt erhalten.")).to_be_in_viewport(ratio=1)
    sure.click()
    expect(row).to_have_count(0)
    assert study.memberships.count() == 1
