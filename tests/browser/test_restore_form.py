"""What an admin typed outlives the session and the page's own token, for the same person only."""

import pytest
from django.contrib.sessions.models import Session
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotation.models import Role
from tests.browser.helpers import let_in
from tests.factories import make_member, make_study

pytestmark = pytest.mark.django_db(transaction=True)
TEXT = "Read all of it, then judge. " * 40
SAID = "What you typed is here"


@pytest.fixture
def study(page: Page, live_server):
    """The guidance page with a text that was typed and not sent."""
    study = make_study()
    for name in ("boss", "other"):
        make_member(study, Role.ADMIN, name)
    let_in(page.context, live_server.url, study.memberships.get(user__username="boss").user)
    page.goto(live_server.url + reverse("guidance", args=[study.slug]) + "?protocol=likert")
    page.locator("#instructions-body").fill(TEXT)
    return study


def send(page: Page) -> None:
    page.get_by_role("button", name="Keep instructions").click()


def sign_in(page: Page, name: str) -> None:
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill("secret-for-tests")
    page.get_by_role("button", name="Sign in").click()


def test_a_text_is_there_again_after_the_session_ended(page: Page, study):
    Session.objects.all().delete()
    send(page)
    sign_in(page, "boss")
    expect(page.get_by_text(SAID)).to_be_focused()
    expect(page.locator("#instructions-body")).to_have_value(TEXT)
    expect(page.locator("[data-preview] .preview").first).to_contain_text("Read all of it")
    send(page)
    expect(page.get_by_text("Version 1, of")).to_be_visible()
    expect(page.get_by_text(SAID)).to_have_count(0)


def test_a_text_is_there_again_after_the_page_was_too_old(page: Page, study):
    page.context.clear_cookies(name="csrftoken")
    send(page)
    page.get_by_role("link", name="Back to the page before").click()
    expect(page.get_by_text(SAID)).to_be_focused()
    expect(page.locator("#instructions-body")).to_have_value(TEXT)


def test_nobody_else_gets_it(page: Page, study):
    Session.objects.all().delete()
    send(page)
    sign_in(page, "other")
    expect(page.get_by_role("link", name="other")).to_be_visible()
    expect(page.locator("#instructions-body")).to_have_value("")
    expect(page.get_by_text(SAID)).to_have_count(0)
    assert page.evaluate("sessionStorage.length") == 0
