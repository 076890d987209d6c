"""Work in a market's frame, across origins, with third-party cookies blocked: against the real marketplace process.

The market is at 127.0.0.1, this site at localhost: two sites, as a browser sees it.
"""

import re

import pytest
from playwright.sync_api import Browser, BrowserContext, FrameLocator, Page, expect

from annotation.crowds.collect import collect
from annotation.crowds.launch.publish import publish
from annotation.crowds.terms import Terms, set_terms
from annotation.guidance import write_text
from annotation.models import Assignment, Batch, Consent, ExtractedUnit, Judgment, Submission, Worker
from annotation.studies.batches import create_batch
from annotation.tables.frames import judgments_frame
from tests.annotation.crowds.conftest import TERMS, point_at
from tests.annotation.crowds.market import LiveMarket
from tests.browser.conftest import NARROW, WIDE
from tests.browser.looking import fits
from tests.conftest import CHROMIUM_FLAGS, WHOLE_CHROMIUM
from tests.factories import make_study

pytestmark = pytest.mark.django_db(transaction=True)
PASSWORD = "a-long-word-for-tests"
ANSWERS = {"litepyramid": 2, "likert": 20, "scu": 1}  # what one task asks for


@pytest.fixture(scope="module")
def market():
    """The marketplace as its own process."""
    market = LiveMarket()
    yield market
    market.stop()


@pytest.fixture(scope="module")
def strict(browser: Browser):
    """A Chromium that blocks third-party cookies, as Safari always does."""
    flags = [*CHROMIUM_FLAGS, "--test-third-party-cookie-phaseout"]
    browser = browser.browser_type.launch(executable_path=WHOLE_CHROMIUM, args=flags)
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def wanda(strict, market):
    """A worker of the market, signed in: her id there, and her browser's state."""
    worker_id = market.ask("account", name="wanda", password=PASSWORD)
    context = strict.new_context()
    page = context.new_page()
    page.goto(f"{market.url}/sign-in/")
    page.get_by_label("Name").fill("wanda")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{market.url}/hits/")
    state = context.storage_state()
    context.close()
    return worker_id, state


@pytest.fixture(autouse=True)
def pointed(market, settings, live_server):
    point_at(settings, market.url, market.ask("requester", cents=100_00))
    settings.SITE_URL = live_server.url
    settings.MARKET_ORIGINS, settings.MTURK_SIGNED_ENTRY = [market.url], True


class Visitor:
    """A worker's browser: signed in on the market, with every request to our site on record."""

    def __init__(self, context: BrowserContext, market: LiveMarket, site: str, worker_id: str) -> None:
        self.context, self.market, self.site, self.worker_id = context, market, site, worker_id
        self.page, self.sent, self.faults = self.context.new_page(), [], []
        self.page.on("request", lambda request: self.sent.append(request) if request.url.startswith(site) else None)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))

    @property
    def frame(self) -> FrameLocator:
        return self.page.frame_locator("iframe")

    def preview(self, batch: Batch) -> None:
        self.page.goto(f"{self.market.url}/hits/{batch.postings.get().market_id}/")

    def accept(self) -> None:
        self.page.get_by_role("button", name="Accept for $0.10").click()
        self.page.wait_for_url(re.compile("/work/"))

    def cookies_sent(self) -> list[str]:
        return [name for request in self.sent for name in request.all_headers() if name.lower() == "cookie"]


@pytest.fixture
def visitor(request, strict, market, wanda, live_server):
    worker_id, state = wanda
    context = strict.new_context(viewport=getattr(request, "param", WIDE), storage_state=state)
    visitor = Visitor(context, market, live_server.url, worker_id)
    yield visitor
    context.close()
    assert visitor.faults == []


def published(protocol: str, systems: int = 1, units: int = 2) -> Batch:
    study = make_study(systems=4 if protocol == "likert" else systems, units=units)
    batch = create_batch(study, "Work", protocol, 1, {}, state=Batch.State.DRAFT)
    set_terms(batch, Terms.parse(TERMS), crowd="mturk")
    publish(batch)
    return batch


def ready(frame: FrameLocator) -> None:
    expect(frame.locator("#save-state")).to_have_attribute("data-kind", "saved")
    expect(frame.locator("#save-state")).not_to_be_empty()


def press(page: Page, keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def judge(visitor: Visitor, protocol: str) -> None:
    """The whole task by keyboard, inside the frame."""
    if protocol == "scu":
        expect(visitor.frame.locator("#reference-words [tabindex='0']")).to_be_focused()
        visitor.page.keyboard.press("s")
        visitor.page.keyboard.press("Enter")
        expect(visitor.frame.locator("#units textarea")).to_have_count(1)
        return
    visitor.frame.locator("fieldset input").first.focus()
    press(visitor.page, "pp" if protocol == "litepyramid" else "4" * visitor.frame.locator("fieldset").count())


@pytest.mark.parametrize(
    ("protocol", "visitor"),
    [("litepyramid", NARROW), ("likert", WIDE), ("scu", WIDE)],
    indirect=["visitor"],
    ids=["litepyramid", "likert", "scu"],
)
def test_preview_accept_work_and_submit_without_any_third_party_cookie(visitor, protocol):
    batch = published(protocol)
    write_text(batch.study, "consent", "Be kind.", None)
    page, frame = visitor.page, visitor.frame

    # The preview: the task as it is, nothing taken, nothing to answer.
    visitor.preview(batch)
    expect(frame.get_by_text("This is a preview")).to_be_visible()
    expect(frame.locator("#submit")).to_be_disabled()
    if protocol == "scu":
        expect(frame.locator("#reference-words")).to_be_visible()
        expect(frame.locator("#new-unit")).to_be_disabled()
    else:
        expect(frame.locator("fieldset input:enabled")).to_have_count(0)
        assert frame.locator("fieldset input").count() >= 4
    assert not Assignment.objects.exists()
    assert not Worker.objects.exists()

    visitor.accept()
    frame.get_by_role("button", name="I agree, go on").click()
    ready(frame)
    fits(page)
    judge(visitor, protocol)
    ready(frame)
    frame.locator("#submit").click()

    # Saved with us, handed in there, and the market's page goes on by itself.
    expect(page.get_by_role("heading", name="Submitted")).to_be_visible()
    turn = Submission.objects.get()
    assert (turn.worker.external_id, turn.state) == (visitor.worker_id, "started")
    assert Consent.objects.get().worker == turn.worker
    model = ExtractedUnit if protocol == "scu" else Judgment
    assert (
        model.objects.filter(assignment__submission=turn).count()
        == {"litepyramid": 2, "likert": 20, "scu": 1}[protocol]
    )
    assert len(judgments_frame(batch.study)) == 0  # it counts when the market confirms it, and not before
    collect(batch)
    turn.refresh_from_db()
    assert (turn.state, turn.answer.get("receipt")) == ("submitted", turn.receipt)
    assert Assignment.objects.counted().count() == 1

    assert len(visitor.sent) > 10
    assert visitor.cookies_sent() == []
    assert visitor.context.cookies(visitor.site) == []


def test_the_browser_does_block_third_party_cookies(visitor):
    """Or else the test above would prove little: in the frame no cookie can be set, on its own the page has one."""
    batch = published("litepyramid")
    visitor.preview(batch)
    expect(visitor.frame.get_by_text("This is a preview")).to_be_visible()
    try_it = "document.cookie = 'mine=1; SameSite=None; Secure'; document.cookie"
    inner = next(frame for frame in visitor.page.frames if frame.url.startswith(visitor.site))
    assert inner.evaluate(try_it) == ""
    visitor.page.goto(inner.url)
    assert "mine=1" in visitor.page.evaluate(try_it)


def test_a_silent_market_leaves_a_receipt_and_is_asked_again(visitor):
    batch = published("litepyramid")
    page, frame = visitor.page, visitor.frame
    # A frame in which neither storage nor channels between tabs are allowed: this tab's memory must do.
    page.add_init_script(
        "for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name,"
        " { get() { throw new DOMException('blocked', 'SecurityError'); } });"
        "window.BroadcastChannel = class { constructor() { throw new DOMException('blocked', 'SecurityError'); } };"
    )
    page.route("**/mturk/externalSubmit", lambda route: route.abort())
    visitor.preview(batch)
    visitor.accept()
    ready(frame)
    judge(visitor, "litepyramid")
    ready(frame)
    frame.locator("#submit").click()
    expect(frame.get_by_role("alert")).to_contain_text("The market does not answer")
    turn = Submission.objects.get()
    expect(frame.locator("#receipt")).to_have_text(turn.receipt)
    assert Judgment.objects.count() == 2
    assert collect(batch).confirmed == 0
    page.unroute("**/mturk/externalSubmit")
    inner = next(frame for frame in page.frames if frame.url.startswith(visitor.site))
    inner.evaluate("window.dispatchEvent(new Event('online'))")
    expect(page.get_by_role("heading", name="Submitted")).to_be_visible()
    collect(batch)
    assert Assignment.objects.counted().count() == 1


def test_who_makes_up_an_address_under_wandas_id_is_turned_away_and_she_comes_in(visitor, live_server):
    """A stranger who saw the preview, with her id and an assignment of their own making."""
    batch = published("litepyramid")
    visitor.preview(batch)
    expect(visitor.frame.get_by_text("This is a preview")).to_be_visible()
    frame_url = next(frame.url for frame in visitor.page.frames if frame.url.startswith(visitor.site))
    stranger = visitor.context.new_page()
    stranger.goto(frame_url.replace("ASSIGNMENT_ID_NOT_AVAILABLE", "MADE-UP") + f"&workerId={visitor.worker_id}")
    expect(stranger.get_by_text("Open the task again from your work on the market's own pages")).to_be_visible()
    fits(stranger)
    stranger.close()
    assert not Submission.objects.exists()
    assert not Worker.objects.exists()
    visitor.accept()
    ready(visitor.frame)
    assert Submission.objects.get().worker.external_id == visitor.worker_id


def test_a_site_that_is_no_market_can_not_frame_the_pages(visitor, settings):
    batch = published("litepyramid")
    settings.MARKET_ORIGINS = ["https://market.example.org"]  # and so the one on this machine is a stranger
    with visitor.page.expect_console_message(lambda message: "frame-ancestors" in message.text):
        visitor.preview(batch)
    expect(visitor.frame.get_by_text("This is a preview")).to_have_count(0)


def test_in_the_frame_keys_work_at_once_and_the_market_keeps_out_of_the_way(visitor):
    batch = published("litepyramid", units=12)
    page, frame = visitor.page, visitor.frame
    visitor.preview(batch)
    visitor.accept()
    ready(frame)
    bar = page.locator("header.top").bounding_box()
    assert bar["height"] <= 60  # one line, and nothing below the frame
    assert page.locator("iframe").bounding_box()["height"] >= WIDE["height"] - 100
    expect(page.get_by_role("timer")).to_be_visible()
    expect(frame.locator("#lease-time, #active-time")).to_have_count(0)  # the market's clock counts, and no other
    first = frame.locator("fieldset").first
    expect(first).to_be_in_viewport(ratio=1)
    page.keyboard.press("p")  # nobody has clicked into the frame
    expect(first.locator("input:checked")).to_have_count(1)
    page.get_by_text("Menu").click()
    expect(page.get_by_role("link", name="Find HITs")).to_be_visible()


@pytest.mark.parametrize("visitor", [NARROW], indirect=True, ids=["narrow"])
def test_on_a_phone_the_work_page_of_the_market_keeps_its_heading(visitor):
    visitor.preview(published("litepyramid"))
    visitor.accept()
    ready(visitor.frame)
    expect(visitor.page.get_by_role("heading", level=1)).to_have_count(1)  # for those who have it read out
    assert visitor.page.locator("header.top").bounding_box()["height"] <= 100


def test_the_next_one_comes_without_a_click_where_the_worker_wants_it(visitor):
    batch = published("litepyramid", systems=3)
    page, frame = visitor.page, visitor.frame
    page.goto(f"{visitor.market.url}/hits/{batch.postings.order_by('pk').first().market_id}/")
    visitor.accept()
    page.get_by_label("Then accept the next one").check()
    for n in range(3):
        ready(frame)
        address = page.url
        if n == 0:
            frame.locator("fieldset input").first.focus()  # away from the tick
        page.wait_for_function("document.activeElement.tagName === 'IFRAME'")
        press(page, "pp")
        expect(frame.locator("fieldset input:checked")).to_have_count(2)
        page.keyboard.press("Enter")
        gone_on = "was => location.href !== was || document.querySelector('h1').innerText === 'Submitted'"
        page.wait_for_function(gone_on, arg=address)
    expect(page.get_by_role("heading", name="Submitted")).to_be_visible()  # none is left: what became of the last one
    assert Judgment.objects.count() == 6
    assert page.evaluate("document.activeElement.tagName") == "BODY"  # Enter pressed once more accepts nothing


def test_what_one_agrees_to_and_whom_to_ask_is_in_the_preview(visitor, settings):
    settings.WORKER_CONTACT = "Jo Doe, jo@example.org"
    batch = published("litepyramid")
    write_text(batch.study, "consent", "We keep **answers** only.", None)
    visitor.preview(batch)
    visitor.frame.get_by_text("What you will be asked to agree to").click()
    expect(visitor.frame.get_by_text("We keep answers only.")).to_be_visible()
    expect(visitor.frame.get_by_text("Ask Jo Doe, jo@example.org")).to_be_visible()
    visitor.accept()
    expect(visitor.frame.get_by_text("Ask Jo Doe, jo@example.org")).to_be_visible()
