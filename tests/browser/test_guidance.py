"""Guidance in a real browser: consent, tutorial and test by keyboard alone; an admin's live preview."""

import pytest
from playwright.sync_api import Page, expect

from annotation.guidance import give_defaults
from annotation.models import Consent, PracticeItem, PracticePlan, PracticeRun, Role, Summary
from tests.browser.conftest import sign_in
from tests.browser.looking import fits, wait_for_page
from tests.factories import make_batch, make_member, make_study

pytestmark = pytest.mark.django_db(transaction=True)


def make_guided_study(**rules):
    study = make_study()
    give_defaults(study)
    plan = PracticePlan.objects.create(study=study, protocol="litepyramid", **rules)
    for kind in ("tutorial", "test"):
        for n in range(3):
            PracticeItem.objects.create(
                plan=plan,
                kind=kind,
                order=n,
                summary=Summary.objects.first(),
                question=f"Statement {n}.",
                expected=n % 2,
                reason="It says so.",
            )
    return study, make_batch(study)


def test_from_consent_through_tutorial_and_test_to_the_first_task_by_keyboard(page: Page, live_server):
    study, _ = make_guided_study(tutorial="required", test_required=True)
    sign_in(page, live_server.url, make_member(study).username)
    page.get_by_role("button", name="Start").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Before you start")).to_be_visible()
    fits(page)
    page.get_by_role("button", name="I agree").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Tutorial")).to_be_visible()
    for answer, word in (("n", "Right."), ("n", "Not quite"), ("n", "Right.")):
        wait_for_page(page, page.get_by_role("button", name="Check"))
        page.keyboard.press(answer)
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_contain_text(word)
        expect(page.get_by_role("status")).to_contain_text("It says so.")
        fits(page)
        expect(page.get_by_role("button", name="Next")).to_be_focused()
        page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="That was the tutorial")).to_be_visible()
    expect(page.get_by_role("button", name="Go on to the tasks")).to_be_focused()
    page.keyboard.press("Enter")
    wait_for_page(page, page.get_by_role("heading", name="Qualification test"))
    fits(page)
    page.keyboard.type("npn")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Passed")).to_be_visible()
    expect(page.get_by_role("button", name="Take a task")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#task")).to_be_visible()
    assert Consent.objects.count() == 1
    assert list(PracticeRun.objects.order_by("pk").values_list("kind", "right", "passed")) == [
        ("tutorial", 2, True),
        ("test", 3, True),
    ]


def test_a_failed_test_leads_to_a_second_try(page: Page, live_server):
    study, batch = make_guided_study(test_required=True)
    study.guidance.all().delete()
    sign_in(page, live_server.url, make_member(study).username)
    page.goto(f"{live_server.url}/work/batch/{batch.pk}/test/")
    page.keyboard.type("ppp")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Not passed")).to_be_visible()
    expect(page.locator("main")).to_contain_text("1 of 3 answers were right; 80 % are needed")
    page.get_by_role("link", name="Try again").click()
    expect(page.get_by_role("button", name="Hand in the test")).to_be_visible()


def test_what_is_ticked_in_a_test_is_there_after_a_reload_and_gone_after_handing_in(page: Page, live_server):
    study, batch = make_guided_study(test_required=True)
    study.guidance.all().delete()
    sign_in(page, live_server.url, make_member(study).username)
    page.goto(f"{live_server.url}/work/batch/{batch.pk}/test/")
    expect(page.locator("#save-state")).to_have_text("Saved")
    page.keyboard.type("pn")
    page.reload()  # at once, before anything was sent
    expect(page.locator("#save-state")).to_have_text("Saved")
    ticked = page.locator("input:checked")
    assert [box.get_attribute("value") for box in ticked.all()] == ["1", "0"]
    page.evaluate("localStorage.clear()")  # as on another device
    page.reload()
    expect(ticked).to_have_count(2)
    page.keyboard.type("p")
    page.get_by_role("button", name="Hand in the test").click()
    expect(page.get_by_role("heading", name="Not passed")).to_be_visible()
    assert [answer["value"] for answer in PracticeRun.objects.get().answers] == [1, 0, 1]
    page.get_by_role("link", name="Try again").click()
    expect(page.locator("#save-state")).to_have_text("Saved")
    expect(ticked).to_have_count(0)


def test_an_admin_sees_the_text_as_workers_will_while_writing(page: Page, live_server):
    study, _ = make_guided_study()
    sign_in(page, live_server.url, make_member(study, Role.ADMIN).username)
    page.goto(f"{live_server.url}/studies/{study.slug}/guidance/")
    fits(page)
    page.get_by_label("Text").first.fill("# Hello\n\n<script>alert(1)</script> **you**")
    preview = page.get_by_role("group", name="As workers see it").first
    expect(preview.get_by_role("heading", name="Hello")).to_be_visible()
    expect(preview).to_contain_text("<script>alert(1)</script> you")
    page.get_by_role("button", name="Keep instructions").click()
    expect(page.get_by_role("status").first).to_contain_text("Kept as version 2.")


def test_keeping_one_text_does_not_drop_what_was_typed_into_the_other(page: Page, live_server):
    study, _ = make_guided_study()
    sign_in(page, live_server.url, make_member(study, Role.ADMIN).username)
    page.goto(f"{live_server.url}/studies/{study.slug}/guidance/")
    instructions, consent = page.get_by_label("Text").first, page.get_by_label("Text").nth(1)
    instructions.click()
    page.keyboard.type("Read first. ")
    consent.fill("Be kind.")
    page.once("dialog", lambda dialog: dialog.dismiss())
    with page.expect_event("dialog") as dialog_event:
        page.get_by_role("button", name="Keep consent text").click(no_wait_after=True)
    assert dialog_event.value.type == "beforeunload"
    expect(consent).to_have_value("Be kind.")
    assert study.guidance.filter(kind="consent").count() == 1
    page.once("dialog", lambda dialog: dialog.accept())
    with page.expect_event("dialog"):  # for the consent text
        page.get_by_role("button", name="Keep instructions").click(no_wait_after=True)
    expect(page.get_by_role("status").first).to_contain_text("Kept as version 2.")
    consent.fill("Be kinder.")
    unasked = []
    page.once("dialog", lambda dialog: (unasked.append(dialog.type), dialog.accept()))
    page.get_by_role("button", name="Keep consent text").click()
    expect(page.locator("main")).to_contain_text("Be kinder.")
    expect(page.locator("#consent ~ p").first).to_contain_text("Version 2")
    assert unasked == []  # alone it goes without a question
