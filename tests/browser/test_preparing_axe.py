"""axe-core on the pages an admin prepares a study with: guidance, SCU lists, second rounds; and on the test page."""

import pytest
from playwright.sync_api import expect

from annotation.common import clock
from annotation.models import Assignment, Reference, Role
from annotation.protocols.scu_units import Unit, store_units
from annotation.scus.lists import freeze_units
from annotation.studies.batches import create_batch
from annotation.studies.second_rounds import open_second_round, read_thresholds
from tests.annotation.studies.test_second_rounds import rated
from tests.browser.helpers import let_in
from tests.browser.test_axe import axe, axe_check, page  # noqa: F401  fixtures
from tests.browser.test_guidance import make_guided_study
from tests.factories import make_member, make_study, make_worker

pytestmark = pytest.mark.django_db(transaction=True)


def test_guidance_and_the_test(axe_check, page):  # noqa: F811
    study, batch = make_guided_study(tutorial="required", test_required=True)
    let_in(page.context, axe_check.server, make_member(study, Role.ADMIN))
    axe_check.visit("guidance", study.slug)
    axe_check.visit("guidance", study.slug, query="?protocol=likert")
    axe_check.visit("test", batch.pk)
    page.keyboard.type("ppp")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Not passed")).to_be_visible()
    axe_check.check("failed test")
    assert axe_check.faults == []


def test_making_a_batch(axe_check, page):  # noqa: F811
    study = make_study(documents=2, systems=2)
    let_in(page.context, axe_check.server, make_member(study, Role.ADMIN))
    for protocol in ("litepyramid", "likert", "scu"):
        axe_check.visit("new-batch", study.slug, query=f"?protocol={protocol}")
    create_batch(study, "Draft", "litepyramid", 2)
    axe_check.visit("collect", study.slug)
    assert axe_check.faults == []


def test_scu_lists(axe_check, page):  # noqa: F811
    study = make_study(units=0)
    batch = create_batch(study, "Extract", "scu", 2, state="open")
    for text in ("The first fact.", "He said the first fact."):
        assignment = Assignment.objects.create(
            task=batch.tasks.get(), worker=make_worker(study), state="submitted", submitted_at=clock.now()
        )
        store_units(assignment, [Unit(text, ((0, 9),))], clock.now())
    reference = Reference.objects.get()
    freeze_units(reference, [Unit("He said a fact.", ((0, 9),))], None, seen_version=0)
    let_in(page.context, axe_check.server, make_member(study, Role.ADMIN))
    axe_check.visit("scus", study.slug)
    axe_check.visit("scu-list", study.slug, reference.pk, query="?version=1")
    expect(page.locator(".unit .advice li")).to_be_visible()
    axe_check.check("with advice")
    assert axe_check.faults == []


def test_rounds(axe_check, page):  # noqa: F811
    batch, _ = rated([[1], [4], [5]])
    let_in(page.context, axe_check.server, make_member(batch.study, Role.ADMIN))
    axe_check.visit("rounds", batch.study.slug)
    axe_check.visit("round", batch.study.slug, batch.pk)
    open_second_round(batch, read_thresholds(batch, {}))
    axe_check.visit("round", batch.study.slug, batch.pk)
    assert axe_check.faults == []
