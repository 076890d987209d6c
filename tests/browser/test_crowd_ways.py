"""The ways in and out of Prolific and of personal links, in Chromium, without a cookie."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from annotation.crowds.collect import collect
from annotation.crowds.launch.publish import publish
from annotation.crowds.markets.direct import make_links, withdraw_link
from annotation.crowds.terms import Terms, set_terms
from annotation.models import Assignment, Batch, Posting, Submission
from annotation.studies.batches import create_batch
from annotation.tables.frames import judgments_frame
from tests.annotation.crowds.conftest import TERMS
from tests.browser.conftest import NARROW, WIDE
from tests.browser.helpers import ready
from tests.browser.looking import wait_for_page
from tests.browser.test_axe import AXE, AxeCheck
from tests.contract.prolific_server import PROJECT, TOKEN, WORKSPACE, ProlificServer
from tests.factories import make_study

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def prolific():
    server = ProlificServer()
    yield server
    server.stop()


@pytest.fixture
def page(browser: Browser):
    context = browser.new_context(viewport=NARROW)
    page, faults = context.new_page(), []
    page.on("pageerror", lambda error: faults.append(str(error)))
    yield page
    assert [cookie for cookie in context.cookies() if "prolific" not in cookie["domain"]] == []
    context.close()
    assert faults == []


@pytest.fixture(autouse=True)
def site(settings, live_server, prolific):
    settings.SITE_URL = live_server.url
    settings.PROLIFIC_URL, settings.PROLIFIC_ALLOWED_URLS, settings.PROLIFIC_TOKEN = prolific.url, [prolific.url], TOKEN
    settings.PROLIFIC_WORKSPACE, settings.PROLIFIC_PROJECT = WORKSPACE, PROJECT


def make_work(crowd: str, documents: int, **terms) -> Batch:
    batch = create_batch(make_study(documents=documents, units=2), "Work", "litepyramid", 1, {}, state=Batch.State.OPEN)
    set_terms(batch, Terms.parse({**TERMS, **terms}), crowd=crowd)
    return batch


def judge(page: Page) -> None:
    """One LitePyramid task by keyboard, with the next one at hand where there is one."""
    ready(page)
    expect(page.locator("#task")).to_have_attribute("data-next", re.compile("ready|none"))
    for key in "jpn":
        page.keyboard.press(key)
    expect(page.locator("#submit")).to_be_focused()
    page.keyboard.press("Enter")


def enter(page: Page, name: str) -> None:
    """Enter on the button that has the focus by itself."""
    expect(page.get_by_role("button", name=name)).to_be_focused()
    page.keyboard.press("Enter")


def test_a_participant_comes_from_prolific_does_two_tasks_and_goes_back_with_the_code(page, prolific):
    contract = prolific.reset()
    batch = make_work("prolific", documents=3, tasks_per_participant=2, reward_cents=100)
    publish(batch)
    [study] = contract.studies.values()
    session = contract.take_part(study["id"], "P1")
    ids = {"PROLIFIC_PID": "P1", "STUDY_ID": study["id"], "SESSION_ID": session}
    address = re.sub(r"\{\{%(\w+)%\}\}", lambda match: ids[match[1]], study["external_study_url"])
    arrived = []
    page.route(
        "https://app.prolific.com/**",
        lambda route: (arrived.append(route.request.url), route.fulfill(body="Thank you")),
    )

    page.goto(address)
    expect(page.locator("#sitting")).to_have_text("Task 1 of 2")
    page.evaluate("window.samePage = true")
    judge(page)
    expect(page.locator("#sitting")).to_have_text("Task 2 of 2")
    expect(page.locator("#receipt-line")).to_contain_text("Received, thank you: 2 answers are stored.")
    assert page.evaluate("window.samePage")
    # Leaving early keeps what was done and what was begun.
    ready(page)
    page.keyboard.press("j")
    page.keyboard.press("p")
    ready(page)
    page.get_by_role("button", name="Stop here").click()
    expect(page.get_by_text("1 of 2 tasks are done")).to_be_visible()
    page.get_by_role("button", name="Go on").click()
    expect(page.locator("#progress")).to_have_text("1 of 2")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("n")
    ready(page)
    page.locator("#submit").click()

    page.get_by_role("link", name="Finish on Prolific").click()
    page.wait_for_url("https://app.prolific.com/**")
    [code] = parse_qs(urlsplit(arrived[0]).query)["cc"]
    assert len(judgments_frame(batch.study)) == 0
    contract.complete(session, code)
    assert collect(batch).confirmed == 1
    assert (Submission.objects.get().state, len(judgments_frame(batch.study))) == ("submitted", 4)


@pytest.mark.parametrize(("size", "scheme"), [(WIDE, "light"), (NARROW, "dark")], ids=["wide-light", "narrow-dark"])
@pytest.mark.skipif(not AXE.is_file(), reason="needs axe-core: npm install --prefix var/npm axe-core")
def test_axe_finds_no_fault_on_the_pages_of_a_worker_without_account(browser, live_server, size, scheme):
    link_batch, sittings = make_work("direct", documents=2, reward_cents=0), make_work("prolific", documents=1)
    [link] = make_links(link_batch, ["Ada"])
    posting = Posting.objects.create(batch=sittings, token="sitting", places=1, reward_cents=1, market_id="S")
    context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
    axe_check = AxeCheck(context.new_page(), live_server.url, AXE.read_text(encoding="utf-8"))
    axe_check.page.goto(link.url)
    axe_check.check("link")
    enter(axe_check.page, "Start")
    judge(axe_check.page)
    expect(axe_check.page.locator("#receipt-line")).to_be_visible()
    axe_check.check("next task")
    judge(axe_check.page)
    expect(axe_check.page.get_by_text("You have done 2 tasks.")).to_be_visible()
    axe_check.check("received")
    token = link.url.split("/")[-2]
    axe_check.visit("crowd-leave", token)
    axe_check.visit("crowd-instructions", token)
    axe_check.visit("crowd-start", "not-a-token")
    axe_check.visit("crowd-prolific", posting.token, query="?PROLIFIC_PID=P&STUDY_ID=S&SESSION_ID=X")
    judge(axe_check.page)
    expect(axe_check.page.get_by_role("link", name="Finish on Prolific")).to_be_visible()
    axe_check.check("finish")
    posting.batch.crowd = "mturk"
    posting.batch.save()
    axe_check.visit("crowd-mturk", posting.token)
    expect(axe_check.page.get_by_text("This is a preview")).to_be_visible()
    axe_check.check("preview")
    context.close()
    assert axe_check.faults == []


def test_a_personal_link_opens_works_goes_on_and_ends(page):
    batch = make_work("direct", documents=2, reward_cents=0)
    [link, second_link] = make_links(batch, ["Ada", "Grace"])
    page.goto(link.url)
    expect(page.get_by_role("heading", name=batch.study.name)).to_be_visible()
    enter(page, "Start")
    wait_for_page(page, page.locator("#sitting"))
    page.evaluate("window.samePage = true")
    judge(page)
    expect(page.locator("#sitting")).to_have_text("Task 2 of 2")
    assert page.evaluate("window.samePage")  # the next task stands in its place, no page was loaded
    expect(page.locator("#receipt-line")).to_contain_text("Received, thank you: 2 answers are stored.")
    page.get_by_role("button", name="Take it back").click()
    expect(page.locator("#progress")).to_have_text("2 of 2")
    page.locator("#submit").click()
    expect(page.locator("#progress")).to_have_text("0 of 2")
    judge(page)
    expect(page.get_by_text("You have done 2 tasks.")).to_be_visible()
    enter(page, "Next task")
    expect(page.get_by_text("This batch is complete")).to_be_visible()
    assert (Assignment.objects.counted().count(), len(judgments_frame(batch.study))) == (2, 4)
    page.goto(second_link.url)
    withdraw_link(batch, second_link.id)
    page.reload()
    expect(page.get_by_text("This link was withdrawn")).to_be_visible()
