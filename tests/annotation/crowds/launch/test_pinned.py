"""On a live market: what workers are asked stays as it was when the batch was published, whatever is written later."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.accounts.api_tokens import issue_token
from annotation.crowds.collect import collect
from annotation.crowds.launch.publish import publish
from annotation.crowds.terms import Terms, set_terms
from annotation.guidance import write_text
from annotation.guidance.pinning import instructions_of
from annotation.models import Batch, ContentUnit, Judgment, Reference, Role, Summary, System
from annotation.protocols.scu_units import Unit
from annotation.scus.lists import current_version, freeze_units
from annotation.studies.batches import create_batch
from tests.annotation.crowds.conftest import TERMS
from tests.annotation.crowds.crashes import check_books, form_answers
from tests.annotation.crowds.test_worker_pages import mturk_url
from tests.factories import make_member, make_study

pytestmark = pytest.mark.django_db
FOCUS = {"name": "Focus", "title": "Focus", "definition": "Says one thing.", "low": "wanders", "high": "stays"}


def published(protocol: str, options: dict, question: str = "external", **size: int) -> Batch:
    study = make_study(**{"documents": 1, "systems": 1, "units": 2, **size})
    write_text(study, "instructions", "Read it twice.", None, protocol)
    batch = create_batch(study, "Live", protocol, 2, options)
    set_terms(batch, Terms.parse({**TERMS, "question": question}), crowd="mturk")
    publish(batch)
    batch.refresh_from_db()
    return batch


def worker_sees(desk, batch: Batch) -> str:
    """The task as a new worker of the market gets it: the HIT is taken there, and its page opened with us."""
    posting = batch.postings.get()
    [worker] = desk.ask("workers", count=1)
    assignment = desk.ask("accept", hit_id=posting.market_id, worker_id=worker)
    address = mturk_url(
        posting, assignmentId=assignment, workerId=worker, hitId=posting.market_id, turkSubmitTo=desk.market.url
    )
    answer = Client().get(address, follow=True)
    page = answer.content.decode()
    assert answer.status_code == 200, page
    return page


def freeze(batch: Batch, *texts: str) -> None:
    reference = Reference.objects.get(document__study=batch.study)
    freeze_units(reference, [Unit(text, ()) for text in texts], None, seen_version=current_version(reference.document))


@pytest.fixture
def live(desk, settings):
    settings.MARKET_ORIGINS, settings.MTURK_SIGNED_ENTRY = [desk.market.url], False
    return published("litepyramid", {})


def test_a_list_that_is_frozen_later_changes_no_word_under_the_markets_workers(desk, live):
    before = worker_sees(desk, live)
    freeze(live, "Other words of fact 0.")
    page = worker_sees(desk, live)
    for words in ("Fact 0 of document 0.", "Fact 1 of document 0."):
        assert words in before
        assert words in page
    assert "Other words" not in page


def test_a_later_batch_with_checks_made_through_the_api_adds_nothing_to_the_live_one(desk, live, client):
    token = issue_token(make_member(live.study, Role.ADMIN), "Test", ["write"], 7).token
    body = {"name": "Checked", "protocol": "litepyramid", "quota": 1, "options": {"checks": {"blank": 1}}}
    path, headers = f"/api/v1/studies/{live.study.slug}/batches", {"Authorization": f"Bearer {token}"}
    assert client.post(path, body, content_type="application/json", headers=headers).status_code == 201
    assert "BLANK" not in worker_sees(desk, live)


def test_instructions_that_are_written_later_are_for_later_batches(desk, live):
    first = instructions_of(live)
    write_text(live.study, "instructions", "Read it three times.", None, "litepyramid")
    live.refresh_from_db()
    assert instructions_of(live) == first
    assert "Read it three times." not in worker_sees(desk, live)


def test_dimensions_and_groups_stay_as_published(desk, settings):
    settings.MARKET_ORIGINS, settings.MTURK_SIGNED_ENTRY = [desk.market.url], False
    batch = published("likert", {"dimensions": ["fluency", FOCUS], "reference": False})
    later_focus = {**FOCUS, "definition": "Says everything."}
    create_batch(batch.study, "Later", "likert", 1, {"dimensions": [later_focus]})
    system = System.objects.create(study=batch.study, name="late")
    Summary.objects.create(document=batch.study.documents.get(), system=system, text="A summary that came late.")
    page = worker_sees(desk, batch)
    assert "Says one thing." in page
    assert "Says everything." not in page
    assert "A summary that came late." not in page


def test_what_the_market_itself_shows_is_collected_by_the_words_that_were_shown(desk):
    """The form stands at the market, answers come back under its opaque names: they mean the statements of then."""
    batch = published("litepyramid", {"checks": {"blank": 1}}, question="html")
    posting = batch.postings.get()
    answers = form_answers(posting.task)
    freeze(batch, "Only this.", "And this.", "And that.")
    [worker] = desk.ask("workers", count=1)
    desk.ask("work", hit_id=posting.market_id, worker_id=worker, answers=answers)
    assert collect(batch).new == 1
    judged = Judgment.objects.filter(assignment__task__batch=batch)
    units = ContentUnit.objects.filter(document__study=batch.study, scu_id__in=judged.values("unit"))
    assert judged.count() == 3
    assert sorted(units.values_list("text", flat=True)) == ["BLANK", "Fact 0 of document 0.", "Fact 1 of document 0."]
    check_books(batch, desk.books)


@pytest.mark.parametrize("way", ["list", "instructions"])
def test_a_later_version_offers_a_new_batch_in_a_click(desk, live, client, way):
    client.force_login(make_member(live.study, Role.ADMIN))
    slug = live.study.slug
    if way == "list":
        reference = Reference.objects.get(document__study=live.study)
        address = reverse("scu-list", args=[slug, reference.pk])
        version = current_version(reference.document)
        form = {"units": '[{"text": "Other words.", "parts": []}]', "version": version}
    else:
        address = reverse("guidance-text", args=[slug])
        form = {"kind": "instructions", "protocol": "litepyramid", "body": "Read it three times."}
    page = client.post(address, form, follow=True).content.decode()
    assert "“Live” keeps what it was opened with." in page
    link = f"{reverse('new-batch', args=[slug])}?copy={live.pk}"
    assert f'href="{link}"' in page
    assert "Live, again" in client.get(link).content.decode()
