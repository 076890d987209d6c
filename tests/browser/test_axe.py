"""axe-core finds no fault on any page an annotator can reach: wide and light, narrow and dark, at 200 % zoom."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotation.common import clock
from annotation.guidance import give_defaults
from annotation.judging.leases import lease_task
from annotation.judging.submit import submit_judgments
from annotation.models import Assignment, Batch, Consent, GuidanceText, Study, User, Worker
from annotation.protocols import of as protocol_of
from annotation.studies.second_rounds import open_second_round, read_thresholds
from tests.annotation.demo_study import load_written
from tests.annotation.studies.test_second_rounds import rated
from tests.browser.conftest import NARROW, WIDE
from tests.browser.helpers import let_in, open_batch, ready
from tests.factories import make_member

pytestmark = pytest.mark.django_db(transaction=True)

AXE = Path(__file__).resolve().parents[2] / "var" / "npm" / "node_modules" / "axe-core" / "axe.min.js"
RUN = """async () => (await axe.run(document, {resultTypes: ['violations']})).violations
  .map((found) => `${found.id}: ${found.nodes.map((node) => node.target.join(' ')).slice(0, 3).join(', ')}`)"""


@pytest.fixture(scope="module")
def axe() -> str:
    if not AXE.is_file():
        pytest.skip("needs axe-core: npm install --prefix var/npm axe-core")
    return AXE.read_text(encoding="utf-8")


ZOOMED = {"width": WIDE["width"] // 2, "height": WIDE["height"] // 2}  # what 1280 × 800 holds at 200 %


@pytest.fixture(
    params=[(WIDE, "light", 1), (NARROW, "dark", 1), (ZOOMED, "light", 2)], ids=["wide-light", "narrow-dark", "zoomed"]
)
def page(request, browser) -> Iterator[Page]:
    viewport, scheme, scale = request.param
    context = browser.new_context(
        viewport=viewport, color_scheme=scheme, device_scale_factor=scale, reduced_motion="reduce"
    )
    yield context.new_page()
    context.close()


class AxeCheck:
    """Goes to a page and remembers what axe finds there."""

    def __init__(self, page: Page, server: str, axe: str) -> None:
        self.page, self.server, self.axe = page, server, axe
        self.faults: list[str] = []

    def visit(self, name: str, *args: object, query: str = "") -> None:
        self.page.goto(self.server + reverse(name, args=args) + query)
        self.check(name)

    def check(self, name: str) -> None:
        self.page.wait_for_load_state()
        self.page.evaluate(self.axe)
        self.faults += [f"{name}: {fault}" for fault in self.page.evaluate(RUN)]


@pytest.fixture
def axe_check(page, live_server, axe) -> AxeCheck:
    return AxeCheck(page, live_server.url, axe)


def agree(worker: Worker) -> None:
    """Past the consent text, where the study has one."""
    for text in GuidanceText.objects.filter(study=worker.study, kind="consent"):
        Consent.objects.create(worker=worker, text=text, given_at=clock.now())


def finish(assignment: Assignment) -> None:
    assignment = Assignment.objects.select_related("task__batch__study", "worker").get(pk=assignment.pk)
    answers = {item.field: "1" for item in protocol_of(assignment.task.batch).items(assignment)}
    submit_judgments(assignment.worker, assignment.key, answers, "k")


@pytest.mark.parametrize("protocol", ["litepyramid", "likert"])
def test_task_pages_in_all_their_states(axe_check, page, protocol):
    batch = open_batch(protocol, **({"evidence": True} if protocol == "litepyramid" else {"overlap": True}))
    user = make_member(batch.study)
    let_in(page.context, axe_check.server, user)
    assignment = lease_task(batch, Worker.for_user(batch.study, user))
    page.goto(axe_check.server + reverse("task", args=[assignment.key]))
    ready(page)
    for key in "j1":
        page.keyboard.press(key)
    if protocol == "litepyramid":
        page.keyboard.press("e")
        page.locator("[data-w='1']").click()
        page.locator("[data-w='2']").click()
    else:
        page.keyboard.press("o")
        page.keyboard.press("/")
        page.keyboard.type("text")
        page.keyboard.press("Escape")
    page.locator("#submit").click()
    axe_check.check("answered and held back")
    page.keyboard.press("?")
    axe_check.check("help")
    page.keyboard.press("Escape")
    for name in ("Flag", "Pause"):
        page.keyboard.press("Escape")
        if page.get_by_role("button", name="More").is_visible() and not page.locator("#status-extra").is_visible():
            page.get_by_role("button", name="More").click()
        page.get_by_role("button", name=name).click()
        axe_check.check(name)
    page.keyboard.press("Escape")
    if protocol == "litepyramid":
        page.locator(".pencil:visible").first.click()
        axe_check.check("marking evidence")
    finish(assignment)
    axe_check.visit("receipt", assignment.key)
    axe_check.visit("answers", batch.pk)
    if protocol == "litepyramid":
        axe_check.visit("revise", assignment.key)
    assert axe_check.faults == []


def test_a_fault_would_be_found(axe_check, page):
    page.set_content("<main><h1>A page</h1><img src='data:,'><p style='color: #eee'>Pale.</p></main>")
    axe_check.check("planted")
    assert {fault.split(": ")[1] for fault in axe_check.faults} >= {"image-alt", "color-contrast"}


def test_pages_without_a_task(axe_check, page):
    batch = open_batch("litepyramid")
    user = make_member(batch.study)
    axe_check.visit("sign-in")
    let_in(page.context, axe_check.server, user)
    axe_check.visit("home")
    axe_check.visit("answers", batch.pk)  # nothing there yet
    axe_check.visit("task", "nothing")  # not found
    Batch.objects.update(state=Batch.State.PAUSED)
    page.goto(axe_check.server)
    axe_check.check("paused")
    assert axe_check.faults == []


def test_demo_pages_from_consent_to_extraction(axe_check, page):
    load_written()
    study, user = Study.objects.get(), User.objects.get(username="annotator")
    worker = Worker.for_user(study, user)
    let_in(page.context, axe_check.server, user)
    axe_check.visit("home")
    for batch in Batch.objects.filter(state=Batch.State.OPEN):
        page.goto(axe_check.server)
        page.locator(f"form[action='{reverse('take', args=[batch.pk])}'] button").click()
        expect(page).not_to_have_url(f"{axe_check.server}/")
        axe_check.check(f"before {batch.protocol}")
        axe_check.visit("instructions", batch.pk)
        axe_check.visit("tutorial", batch.pk)
    agree(worker)
    assignment = lease_task(Batch.objects.get(protocol="scu", state=Batch.State.OPEN), worker)
    axe_check.visit("task", assignment.key)
    ready(page)
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Enter")
    axe_check.check("an SCU")
    assert axe_check.faults == []


def test_a_second_round(axe_check, page):
    batch, (worker, *_others) = rated([[1, 1, 3], [4, 4, 3], [5, 5, 3]], units=("coherence", "fluency", "relevance"))
    give_defaults(batch.study)
    agree(worker)
    second = open_second_round(batch, read_thresholds(batch, {}))
    let_in(page.context, axe_check.server, worker.user)
    axe_check.visit("task", lease_task(second, worker).key)
    assert axe_check.faults == []
