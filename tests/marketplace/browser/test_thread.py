"""A worker signs up, qualifies, previews, accepts, works in the frame, submits and is paid."""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from annotation.common import clock
from annotation.marketplace.hits import work
from annotation.marketplace.models import Assignment, MarketSettings, Worker
from annotation.marketplace.pages import workers as worker_pages
from annotation.marketplace.qualifications import qualifications
from annotation.marketplace.questions.answers import parse_answers
from tests.browser.looking import fits
from tests.marketplace.fixtures import FORM, HTML, KEY, XSD, client_of, make_hit, submit_work
from tests.marketplace.pages.visitors import PASSWORD, a_requester, a_worker

pytestmark = pytest.mark.django_db(transaction=True)


def external(url: str) -> str:
    return (
        f'<ExternalQuestion xmlns="{XSD}/2006-07-14/ExternalQuestion.xsd"><ExternalURL>{url}</ExternalURL>'
        "<FrameHeight>500</FrameHeight></ExternalQuestion>"
    )


def sign_in(page: Page, server: str, name: str) -> None:
    page.goto(f"{server}/sign-in/")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{server}/hits/")


def settle(lab, server: str, assignment_id: str) -> None:
    """The requester's script: approve over the wire."""
    client_of(lab, server).approve_assignment(AssignmentId=assignment_id)


def test_sign_up_qualify_preview_accept_work_submit_paid(page, live_server, site):
    MarketSettings.objects.create(pk=1, open_sign_up=True)
    lab = a_requester()
    colours = qualifications.create_type(
        lab, name="Colours", description="Knows colours", test=FORM, answer_key=KEY, test_seconds=600
    )
    needs = {"QualificationTypeId": colours.qualification_type_id, "Comparator": "GreaterThan", "IntegerValues": [50]}
    hit = make_hit(lab, question=external(f"{site.url}/task"), requirements=[needs], reward_cents=25)

    page.goto(f"{live_server.url}/join/")
    page.get_by_label("Name to sign in with").fill("nina")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign up").click()
    page.wait_for_url(f"{live_server.url}/hits/")
    fits(page)

    page.get_by_role("link", name="See how to qualify").click()
    page.get_by_role("link", name="Get this qualification").click()
    page.get_by_role("button", name="Start the test").click()
    page.get_by_label("Blue").check()
    fits(page)
    page.get_by_role("button", name="Hand in").click()
    expect(page.get_by_text("Your score is 100")).to_be_visible()

    # The preview: inputs are off, nothing is taken, and the requester does not learn who looks.
    frame = page.frame_locator("iframe")
    expect(frame.get_by_label("Answer")).to_be_disabled()
    assert "workerId" not in page.locator("iframe").get_attribute("src")
    assert not Assignment.objects.exists()
    fits(page)

    page.get_by_role("button", name="Accept for $0.25").click()
    page.wait_for_url(re.compile("/work/"))
    assignment, nina = Assignment.objects.get(), Worker.objects.get()
    expect(page.locator("#time-left")).to_have_text(re.compile(r"(10:00|9:\d\d)"))
    fits(page)
    query = page.locator("iframe").get_attribute("src")
    for name, value in {
        "assignmentId": assignment.assignment_id,
        "hitId": hit.hit_id,
        "workerId": nina.worker_id,
    }.items():
        assert f"{name}={value}" in query
    assert all("Cookie" not in headers for headers in site.request_headers)
    # Third-party cookies are blocked: neither the market's nor the site's own is there.
    expect(frame.locator("body")).to_have_attribute("data-cookie", "")
    frame.get_by_label("Answer").fill("Yes, very")
    frame.get_by_role("button", name="Submit").click()

    expect(page.get_by_role("heading", name="Submitted")).to_be_visible()
    expect(page.get_by_text("$0.25 waits for approval")).to_be_visible()
    assignment.refresh_from_db()
    assert (assignment.state, parse_answers(assignment.answer)["answer"].text) == ("Submitted", "Yes, very")

    settle(lab, live_server.url, assignment.assignment_id)
    page.goto(f"{live_server.url}/earnings/")
    expect(page.locator("dd").first).to_contain_text("$0.25")
    fits(page)

    # The proof that cookies were blocked because of the frame: on its own, the same page has one.
    page.goto(f"{site.url}/task")
    expect(page.locator("body")).to_have_attribute("data-cookie", re.compile("mine=1"))


def test_html_question_works_sandboxed(page, live_server):
    lab, wanda = a_requester(), a_worker("wanda")
    probe = (
        "<script>let seen; try { seen = document.cookie + parent.document.title } catch (e) { seen = e.name }"
        "document.documentElement.dataset.seen = seen; turkSetAssignmentID();</script>"
    )
    question = HTML.replace(
        "<input name='answer'>", "<label>Answer <input name='answer'></label><button>Send</button>"
    ).replace("</body>", f"{probe}</body>")
    hit = make_hit(lab, question=question)
    sign_in(page, live_server.url, "wanda")
    page.goto(f"{live_server.url}/hits/{hit.hit_id}/")
    frame = page.frame_locator("iframe")
    expect(frame.get_by_label("Answer")).to_be_disabled()
    expect(frame.get_by_role("button", name="Send")).to_be_disabled()
    expect(frame.locator("html")).to_have_attribute("data-seen", "SecurityError")
    assert not Assignment.objects.exists()

    page.get_by_role("button", name="Accept for $0.10").click()
    frame.get_by_label("Answer").fill("Blue")
    frame.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="Submitted")).to_be_visible()
    assignment = Assignment.objects.get(worker=wanda)
    assert parse_answers(assignment.answer)["answer"].text == "Blue"
    settle(lab, live_server.url, assignment.assignment_id)
    page.reload()
    expect(page.get_by_role("heading", name="Approved: $0.10 earned")).to_be_visible()


def test_a_crowd_form_works_without_its_library(wide_page, live_server):
    page = wide_page
    a_worker("wanda")
    question = HTML[: HTML.index("<form")] + "<crowd-form><label>Answer <input name='answer'></label></crowd-form>"
    hit = make_hit(a_requester(), question=question + HTML[HTML.index("</body>") :])
    sign_in(page, live_server.url, "wanda")
    page.goto(f"{live_server.url}/hits/{hit.hit_id}/")
    expect(page.frame_locator("iframe").get_by_role("button", name="Submit")).to_be_disabled()
    page.get_by_role("button", name="Accept for $0.10").click()
    page.frame_locator("iframe").get_by_label("Answer").fill("Crowd")
    page.frame_locator("iframe").get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="Submitted")).to_be_visible()
    assert parse_answers(Assignment.objects.get().answer)["answer"].text == "Crowd"


def test_question_form_works_sandboxed(page, live_server):
    lab, wanda = a_requester(), a_worker("wanda")
    hit = make_hit(lab, question=FORM)
    sign_in(page, live_server.url, "wanda")
    page.goto(f"{live_server.url}/hits/{hit.hit_id}/")
    frame = page.frame_locator("iframe")
    expect(frame.get_by_label("Blue")).to_be_disabled()
    assert not Assignment.objects.exists()

    page.get_by_role("button", name="Accept for $0.10").click()
    frame.get_by_role("button", name="Submit").click()
    expect(frame.get_by_text("Pick an answer here.")).to_be_visible()
    assert Assignment.objects.get().state == "Accepted"
    frame.get_by_label("Blue").check()
    frame.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="Submitted")).to_be_visible()
    assignment = Assignment.objects.get(worker=wanda)
    assert parse_answers(assignment.answer)["colour"].selections == ("blue",)
    settle(lab, live_server.url, assignment.assignment_id)
    page.reload()
    expect(page.get_by_role("heading", name="Approved: $0.10 earned")).to_be_visible()


def test_a_page_that_hands_in_by_script_is_noticed(wide_page, live_server, site, monkeypatch):
    monkeypatch.setattr(worker_pages, "LOOK_EVERY", 1)
    page = wide_page
    lab = a_requester()
    a_worker("wanda")
    hit = make_hit(lab, question=external(f"{site.url}/fetch"))
    sign_in(page, live_server.url, "wanda")
    page.goto(f"{live_server.url}/hits/{hit.hit_id}/")
    page.get_by_role("button", name="Accept for $0.10").click()
    page.wait_for_url(re.compile("/work/"))  # the preview has such a button too
    page.frame_locator("iframe").get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="Submitted")).to_be_visible()
    assert parse_answers(Assignment.objects.get().answer)["answer"].text == "by script"


def test_the_warning_comes_before_the_end_and_the_end_is_said(wide_page, live_server, site):
    page = wide_page
    lab, wanda = a_requester(), a_worker("wanda")
    assignment = work.accept_hit(wanda, make_hit(lab, question=external(f"{site.url}/task")).hit_id)
    sign_in(page, live_server.url, "wanda")
    page.clock.install()
    page.goto(f"{live_server.url}/work/{assignment.assignment_id}/")
    expect(page.locator("#soon")).to_be_hidden()
    start = clock.now()
    with clock.fixed(
        start + timedelta(seconds=450)
    ):  # of ten minutes; the warning comes in the last fifth, after eight
        page.clock.fast_forward(450_000)
        expect(page.locator("#time-left")).to_have_text(re.compile("2:[23]"))
        expect(page.locator("#soon")).to_be_hidden()
    with clock.fixed(start + timedelta(seconds=510)):
        page.clock.fast_forward(60_000)
        expect(page.locator("#soon")).to_be_visible()
        expect(page.locator("#announce")).to_contain_text("Submit what you have")
    with clock.fixed(start + timedelta(minutes=11)):
        page.clock.fast_forward(120_000)
        expect(page.get_by_role("heading", name="The time ran out")).to_be_visible()
    assignment.refresh_from_db()
    assert assignment.state == "Abandoned"


def test_a_laptop_that_slept_shows_the_time_that_is_left(wide_page, live_server, site):
    """The browser's own clock stands still meanwhile; the market's doesn't."""
    page = wide_page
    assignment = work.accept_hit(
        a_worker("wanda"), make_hit(a_requester(), question=external(f"{site.url}/task")).hit_id
    )
    sign_in(page, live_server.url, "wanda")
    page.goto(f"{live_server.url}/work/{assignment.assignment_id}/")
    expect(page.locator("#time-left")).to_have_text(re.compile("10:00|9:5"))
    with clock.fixed(clock.now() + timedelta(minutes=9)):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        expect(page.locator("#time-left")).to_have_text(re.compile("(1:00|0:5).*"))
        expect(page.locator("#soon")).to_be_visible()


def test_what_is_handed_in_after_it_was_returned_in_another_tab_is_told_so(wide_page, live_server):
    page = wide_page
    wanda = a_worker("wanda")
    assignment = work.accept_hit(wanda, make_hit(a_requester(), question=HTML).hit_id)
    sign_in(page, live_server.url, "wanda")
    page.goto(f"{live_server.url}/work/{assignment.assignment_id}/")
    field = page.frame_locator("iframe").locator("[name=answer]")
    field.fill("blue")
    work.return_assignment(wanda, assignment.assignment_id)
    field.press("Enter")
    expect(
        page.frame_locator("iframe").get_by_text("You gave this HIT back, so it could not be submitted")
    ).to_be_visible()


def test_a_long_id_in_a_sentence_fits_on_a_phone(page, live_server):
    a_worker("wanda")
    sign_in(page, live_server.url, "wanda")
    page.goto(f"{live_server.url}/hits/{'W' * 40}/")
    expect(page.get_by_text("There is no HIT")).to_be_visible()
    fits(page)


def test_a_worker_can_return_and_take_the_next(wide_page, live_server, site):
    page = wide_page
    lab = a_requester()
    a_worker("wanda")
    for _ in range(2):
        make_hit(lab, question=external(f"{site.url}/task"))
    sign_in(page, live_server.url, "wanda")
    page.get_by_role("button", name="Accept and work").click()
    page.wait_for_url(re.compile("/work/"))
    page.get_by_role("button", name="Return this HIT").click()
    page.get_by_role("button", name="Go on working").click()
    assert Assignment.objects.get().state == "Accepted"
    page.get_by_role("button", name="Return this HIT").click()
    page.get_by_role("button", name="Return it").click()
    expect(page.get_by_text("counts neither for nor against you")).to_be_visible()
    page.get_by_role("button", name="Accept and work").click()
    page.frame_locator("iframe").get_by_label("Answer").fill("One")
    page.frame_locator("iframe").get_by_role("button", name="Submit").click()
    page.get_by_role("button", name="Accept the next one for $0.10").click()
    page.wait_for_url(re.compile("/work/"))
    assert sorted(Assignment.objects.values_list("state", flat=True)) == ["Accepted", "Returned", "Submitted"]


def test_everything_by_keyboard(wide_page, live_server, site):
    """From signing in to handing in, without a mouse: every stop is reached by Tab and shows its focus."""
    page = wide_page
    lab = a_requester()
    a_worker("wanda")
    make_hit(lab, question=external(f"{site.url}/task"))
    page.goto(f"{live_server.url}/sign-in/")
    expect(page.get_by_label("Name")).to_be_focused()
    page.keyboard.type("wanda")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Password")).to_be_focused()
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{live_server.url}/hits/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    tab_to(page, "Preview")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/hits/3"))
    tab_to(page, "Accept for $0.10")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/work/"))
    frame = page.frame_locator("iframe")
    expect(frame.get_by_label("Answer")).to_be_enabled()
    for _ in range(30):
        page.keyboard.press("Tab")
        if frame.get_by_label("Answer").evaluate("one => one === document.activeElement"):
            break
    page.keyboard.type("By keyboard")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Submitted")).to_be_visible()
    assert parse_answers(Assignment.objects.get().answer)["answer"].text == "By keyboard"


def tab_to(page: Page, name: str) -> None:
    for _ in range(60):
        page.keyboard.press("Tab")
        focused = page.evaluate("() => document.activeElement.textContent.trim()")
        if focused.startswith(name):
            assert page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle") != "none"
            return
    pytest.fail(f"Tab never reached {name!r}.")


def test_enter_in_the_feedback_neither_pays_nor_rejects(wide_page, live_server):
    """Who writes why they reject and presses Enter must not have paid."""
    page, lab = wide_page, a_requester("rita")
    assignment = submit_work(a_worker("wanda"), make_hit(lab).hit_id)
    page.goto(f"{live_server.url}/sign-in/?next=/requester/hits/{assignment.hit.hit_id}/")
    page.get_by_label("Name").fill("rita")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    feedback = page.get_by_label("Feedback")
    feedback.fill("Copied from elsewhere")
    feedback.press("Enter")
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_text("Rejected. The worker sees your reason")).to_be_visible()
    assignment.refresh_from_db()
    assert (assignment.state, assignment.feedback) == ("Rejected", "Copied from elsewhere")
