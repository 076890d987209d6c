"""The page that makes a batch: every option of the protocol, what is judged, counts and a real task beforehand."""

import pytest

from annotation.judging.leases import lease_task
from annotation.models import Batch, ContentUnit, Role, Score, Summary
from annotation.studies.batches import create_batch
from tests.browser.looking import markup
from tests.factories import make_member, make_study, make_worker

pytestmark = pytest.mark.django_db

PYRAMID = {"protocol": "litepyramid", "options": "1", "option:order": "natural", "option:seed": "0", "quota": "2"}
RATINGS = {
    "protocol": "likert",
    "options": "1",
    "quota": "2",
    "option:dimensions": ["fluency"],
    "option:dimensions:name": ["Focus", ""],
    "option:dimensions:definition": ["Says one thing.", ""],
    "option:dimensions:low": ["wanders", ""],
    "option:dimensions:high": ["stays", ""],
    "option:scale:low": "1",
    "option:scale:high": "7",
    "option:group_size": "3",
    "option:seed": "5",
}


@pytest.fixture
def study():
    return make_study(documents=3, systems=2)


@pytest.fixture
def admin(client, study):
    client.force_login(make_member(study, Role.ADMIN, "boss"))
    return client


@pytest.fixture
def address(study):
    return f"/studies/{study.slug}/collect/new/"


def test_check_items_order_and_evidence_come_from_the_page(admin, address):
    form = {**PYRAMID, "name": "Checked", "option:order": "random", "option:evidence": "on", "option:checks:blank": "1"}
    admin.post(address, {**form, "option:checks:foreign": "2", "pilot": "2"})
    batch = Batch.objects.get()
    assert batch.options == {
        "order": "random", "evidence": True, "word_match": False, "seed": 0,
        "checks": {"blank": 1, "foreign": 2}, "judged": {"pilot": 2},
    }  # fmt: skip
    assert batch.tasks.count() == 2 * 2
    assert ContentUnit.objects.filter(is_check=True).count() == 2 * 3


def test_dimensions_of_ones_own_with_texts_and_scale(admin, address):
    admin.post(address, {**RATINGS, "name": "Ratings", "expert": "on"})
    batch = Batch.objects.get()
    own = {"name": "Focus", "title": "Focus", "definition": "Says one thing.", "low": "wanders", "high": "stays"}
    assert batch.options["dimensions"] == ["fluency", own]
    assert (batch.scale_min, batch.scale_max, batch.role) == (1, 7, "expert")
    assert (batch.options["group_size"], batch.options["reference"]) == (3, False)


def test_what_would_be_made_is_counted_and_nothing_is_kept(admin, study, address):
    form = {**PYRAMID, "name": "Look", "systems": ["system1"], "option:checks:blank": "1"}
    page = admin.post(f"{address}size/", form).content.decode()
    assert "3 tasks, 6 answers" in markup(page)
    assert not Batch.objects.exists()
    assert not ContentUnit.objects.filter(is_check=True).exists()


def test_the_preview_shows_a_real_task_and_keeps_nothing(admin, study, address):
    answer = admin.get(f"{address}preview/", {**PYRAMID, "systems": "system1"})
    page = answer.content.decode()
    assert "Summary of document 0 by system1." in page
    assert "Fact 0 of document 0." in page
    assert "frame-ancestors 'self'" in answer["Content-Security-Policy"]
    assert not Batch.objects.exists()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"option:seed": "many"}, "“Seed” is “many”, but must be a whole number"),
        ({"documents": "doc9"}, "no documents “doc9”"),
        ({"option:order": "backwards"}, "natural, random"),
        ({"quota": "0"}, "at least 1 answer"),
    ],
)
def test_a_wrong_form_comes_back_with_a_sentence(admin, address, change, sentence):
    answer = admin.post(address, {**PYRAMID, "name": "Mine", **change})
    page = answer.content.decode()
    assert answer.status_code == 409
    assert sentence in page
    assert 'value="Mine"' in page
    assert sentence in admin.post(f"{address}size/", {**PYRAMID, **change}).content.decode()
    assert not Batch.objects.exists()


def test_a_copy_starts_from_the_options_of_a_batch(admin, study, address):
    options = {"checks": {"blank": 2}, "order": "random"}
    batch = create_batch(study, "First", "litepyramid", 4, options, state="open", role="expert")
    page = markup(admin.get(address, {"copy": batch.pk}).content.decode())
    assert 'value="First, again"' in page
    assert '<option value="random" selected>' in page
    assert 'name="option:checks:blank" type="number" min="0" max="100" value="2"' in page
    assert 'name="quota" type="number" min="1" max="10000" value="4"' in page
    assert 'name="expert" checked' in page


def test_a_range_of_scores_is_offered_where_there_are_scores(admin, study, address):
    assert "By metrics" not in admin.get(address).content.decode()
    for place, summary in enumerate(Summary.objects.order_by("pk")):
        Score.objects.create(study=study, system=summary.system, document=summary.document, metric="m", value=place)
    assert "By metrics" in admin.get(address).content.decode()
    admin.post(address, {**PYRAMID, "name": "Top", "metric": "m", "low": "80", "high": "100"})
    assert Batch.objects.get().tasks.count() == 2  # the quantile .8 of 0…5 is 4


def test_a_batch_is_renamed_and_a_draft_deleted(admin, study):
    first, second = (create_batch(study, name, "litepyramid", 1) for name in ("One", "Two"))
    edit = f"/studies/{study.slug}/collect/{{}}/edit/"
    assert "already" in admin.post(edit.format(first.pk), {"name": "Two"}).content.decode()
    admin.post(edit.format(first.pk), {"name": "Pilot"})
    admin.post(edit.format(second.pk), {"name": "Two", "delete": "1"})
    assert [batch.name for batch in Batch.objects.all()] == ["Pilot"]


def test_what_people_worked_on_is_not_deleted(admin, study):
    batch = create_batch(study, "Live", "litepyramid", 1, state="open")
    lease_task(batch, make_worker(study))
    answer = admin.post(f"/studies/{study.slug}/collect/{batch.pk}/edit/", {"delete": "1"})
    assert "is no draft any more" in answer.content.decode()
    assert Batch.objects.exists()


def test_only_admins_make_batches(client, study, address):
    client.force_login(make_member(study, Role.ANALYST))
    answers = [client.get(address), client.post(address, PYRAMID), client.post(f"{address}size/", PYRAMID)]
    for answer in (*answers, client.get(f"{address}preview/", PYRAMID)):
        assert answer.status_code in (403, 404)
    assert not Batch.objects.exists()


def test_it_says_how_long_it_takes_and_what_it_costs(admin, study, address):
    size = f"{address}size/"
    page = markup(admin.post(size, {**PYRAMID, "quota": "3"}).content.decode())
    # 3 documents × 2 systems = 6 tasks; 18 answers of 2 minutes each, LitePyramid's usual time.
    assert "6 tasks × 3 answers = 18 answers, about 36 minutes of work" in " ".join(page.split())
    assert "at your" not in page
    study.minimum_wage_cents = 1000
    study.save()
    assert "about $6.00 at your minimum wage" in admin.post(size, {**PYRAMID, "quota": "3"}).content.decode()
    batch = create_batch(study, "Launched", "litepyramid", 1, {})
    batch.terms = {"reward_cents": 20}
    batch.save()
    page = admin.post(size, {**PYRAMID, "quota": "3"}).content.decode()
    assert "about $3.60 at the rates of “Launched”" in " ".join(page.split())
