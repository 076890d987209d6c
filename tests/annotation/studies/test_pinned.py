"""What people at work are asked stays as it was when their batch opened."""

from importlib import import_module

import pytest
from django.apps import apps

from annotation.common.errors import Refused
from annotation.guidance import write_text
from annotation.guidance.pinning import instructions_of
from annotation.models import Batch, ContentUnit, Reference, Summary, System
from annotation.protocols import of as protocol_of
from annotation.protocols.scu_units import Unit
from annotation.scus.lists import current_version, freeze_units
from annotation.studies.batches import create_batch
from annotation.studies.members import set_state
from tests.factories import make_study, make_worker

pytestmark = [pytest.mark.django_db, pytest.mark.postgres, pytest.mark.sqlite]


@pytest.fixture
def study():
    return make_study(documents=2, systems=2, units=2)


def texts_asked(batch: Batch) -> list[str]:
    """What a new worker is asked on the batch's first task."""
    task = batch.tasks.select_related("batch__study").order_by("pk").first()
    assignment = task.assignments.model(task=task, worker=make_worker(batch.study), seed=3)
    return sorted(item.text for item in protocol_of(batch).items(assignment))


def freeze(study, *texts):
    reference = Reference.objects.filter(document__study=study).order_by("document__doc_id").first()
    units = [Unit(text, ()) for text in texts]
    freeze_units(reference, units, None, seen_version=current_version(reference.document))


def test_freezing_a_list_changes_no_batch_that_people_work_on(study):
    batch = create_batch(study, "Live", "litepyramid", 1, state="open")
    before = texts_asked(batch)
    freeze(study, "Other words of fact 0.", "Fact 1 of document 0.")
    assert texts_asked(batch) == before == ["Fact 0 of document 0.", "Fact 1 of document 0."]
    later = create_batch(study, "Later", "litepyramid", 1, state="open")
    assert texts_asked(later) == ["Fact 1 of document 0.", "Other words of fact 0."]


def test_a_draft_follows_the_lists_until_it_is_opened(study):
    batch = create_batch(study, "Draft", "litepyramid", 1)
    freeze(study, "A single fact.")
    assert texts_asked(batch) == ["A single fact."]
    set_state(study, batch.pk, "open")
    freeze(study, "Another fact.")
    batch.refresh_from_db()
    assert texts_asked(batch) == ["A single fact."]


def test_the_checks_of_a_batch_are_asked_by_it_alone(study):
    live = create_batch(study, "Live", "litepyramid", 1, state="open")
    checked = create_batch(study, "Checked", "litepyramid", 1, {"checks": {"blank": 1}}, state="open")
    assert "BLANK" not in texts_asked(live)
    assert texts_asked(checked).count("BLANK") == 1
    unchecked = create_batch(study, "Unchecked", "litepyramid", 1, state="open")
    assert "BLANK" not in texts_asked(unchecked)
    twice = create_batch(study, "Twice", "litepyramid", 1, {"checks": {"blank": 2}})
    assert texts_asked(twice).count("BLANK") == 2
    assert texts_asked(checked).count("BLANK") == 1


def test_imported_checks_are_everybodys(study):
    ContentUnit.objects.create(document=study.documents.first(), scu_id="c1", text="BLANK", is_check=True, expected=0)
    assert "BLANK" in texts_asked(create_batch(study, "Plain", "litepyramid", 1, state="open"))


def test_a_system_that_comes_later_enters_no_group_of_a_batch_that_is_there(study):
    options = {"reference": False, "dimensions": ["fluency"]}
    batch = create_batch(study, "Ratings", "likert", 1, options, state="open")
    before = texts_asked(batch)
    system = System.objects.create(study=study, name="late", group="abs")
    Summary.objects.create(document=study.documents.order_by("doc_id").first(), system=system, text="A late summary.")
    assert len(before) == 2
    assert texts_asked(batch) == before
    assert len(texts_asked(create_batch(study, "New ratings", "likert", 1, options))) == 3


def test_instructions_stay_as_they_were_when_the_batch_opened(study):
    first = write_text(study, "instructions", "Read twice.", None, "litepyramid")
    batch = create_batch(study, "Live", "litepyramid", 1)
    set_state(study, batch.pk, "open")
    second = write_text(study, "instructions", "Read three times.", None, "litepyramid")
    batch.refresh_from_db()
    assert instructions_of(batch) == first
    assert instructions_of(create_batch(study, "Draft", "litepyramid", 1)) == second


def test_an_older_databases_open_batches_go_on_asking_what_they_asked(study):
    """What `migrate` does with rows of the time before anything was pinned."""
    first = write_text(study, "instructions", "Read twice.", None, "litepyramid")
    batches = [create_batch(study, state, "litepyramid", 1, state="open") for state in ("open", "paused", "closed")]
    before = texts_asked(batches[0])
    for batch in batches:
        Batch.objects.filter(pk=batch.pk).update(state=batch.name, instructions=None)
        batch.tasks.update(pinned=None)
    import_module("annotation.migrations.0018_pinned").pin_live_batches(apps, None)
    freeze(study, "Other words of fact 0.")
    write_text(study, "instructions", "Read three times.", None, "litepyramid")
    for batch in batches[:2]:
        batch.refresh_from_db()
        assert texts_asked(batch) == before == ["Fact 0 of document 0.", "Fact 1 of document 0."]
        assert instructions_of(batch) == first
    assert not batches[2].tasks.exclude(pinned=None).exists()  # nobody works on it: left as it was


def test_an_option_that_nobody_knows_is_refused_with_the_known_ones(study):
    with pytest.raises(Refused, match=r"no option 'chekcs'. Known: order, evidence, word_match, seed, checks"):
        create_batch(study, "Typo", "litepyramid", 1, {"chekcs": 1})
    assert not study.batches.exists()
