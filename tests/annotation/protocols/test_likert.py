"""Likert: groups of five with the reference among them, dealt anew for every annotator."""

from collections import Counter

import pytest
from django.urls import reverse

from annotation.common.errors import NoTaskLeft, Refused
from annotation.judging.leases import lease_task
from annotation.judging.submit import submit_judgments
from annotation.models import Assignment, Batch, Judgment, Reference, Study, Summary, System
from annotation.protocols.likert import DIMENSIONS, Likert, paragraphs
from annotation.studies.batches import create_batch
from annotation.tables.frames import judgments_frame
from tests.factories import make_member, make_study, make_worker

pytestmark = pytest.mark.django_db
protocol = Likert()


def open_batch(study: Study, quota: int = 3, **options) -> Batch:
    return create_batch(study, "rate", "likert", quota, options, state=Batch.State.OPEN)


@pytest.fixture
def study() -> Study:
    return make_study(documents=2, systems=16)


def rate(assignment: Assignment, value: str = "4") -> None:
    answers = {item.field: value for item in protocol.items(assignment)}
    submit_judgments(assignment.worker, assignment.key, answers, "k")


def test_sixteen_systems_make_four_groups_of_five_with_the_reference_in_each(study):
    batch, worker = open_batch(study), make_worker(study)
    assert batch.tasks.count() == 2 * 4  # SummEval: 16 systems, 4 beside the reference in a group
    summaries: list[Summary] = []
    for _ in range(4):
        assignment = lease_task(batch, worker)
        group = protocol.group(assignment)
        assert len(group) == 5
        assert [summary.system.name for summary in group].count("reference") == 1
        summaries += [summary for summary in group if summary.system.name != "reference"]
        rate(assignment)
    # One document is finished before the next begins, and each of its summaries was seen once.
    assert len({summary.document_id for summary in summaries}) == 1
    assert len({summary.pk for summary in summaries}) == 16


def test_grouping_and_order_differ_between_annotators_and_follow_from_the_stored_seed(study):
    batch = open_batch(study)
    assignments = [lease_task(batch, make_worker(study)) for _ in range(3)]
    groups = [[summary.pk for summary in protocol.group(assignment)] for assignment in assignments]
    assert len({assignment.task_id for assignment in assignments}) == 1
    assert len({frozenset(group) for group in groups}) > 1
    reloaded = Assignment.objects.select_related("task__batch").get(pk=assignments[0].pk)
    assert [summary.pk for summary in protocol.group(reloaded)] == groups[0]


def test_the_reference_stands_at_every_place(study):
    batch = open_batch(study, quota=200)
    places = Counter()
    for _ in range(100):
        group = protocol.group(lease_task(batch, make_worker(study)))
        places[[summary.system.name for summary in group].index("reference")] += 1
    # 100 draws over 5 places: 20 each on average, standard deviation 4.
    assert set(places) == set(range(5))
    assert max(places.values()) < 40


def test_six_systems_make_two_groups_of_equal_size():
    study = make_study(systems=6)
    batch, worker = open_batch(study), make_worker(study)
    sizes = []
    for _ in range(2):
        assignment = lease_task(batch, worker)
        sizes.append(len(protocol.group(assignment)))
        rate(assignment)
    assert sizes == [4, 4]  # 3 systems and the reference
    with pytest.raises(NoTaskLeft):
        lease_task(batch, worker)


def test_every_summary_is_rated_as_often_as_asked_when_annotators_finish_documents(study):
    batch = open_batch(study, quota=2)
    for worker in [make_worker(study) for _ in range(2)]:
        for _ in range(8):
            rate(lease_task(batch, worker))
    ratings = Counter(
        Judgment.objects.filter(unit="fluency").exclude(summary__system__name="reference").values_list("summary_id")
    )
    assert set(ratings.values()) == {2}
    assert len(ratings) == 32


def test_a_rated_reference_is_a_system_of_its_own_group_made_once(study):
    open_batch(study)
    create_batch(study, "rate again", "likert", 1)
    system = System.objects.get(name="reference")
    assert system.group == "reference"
    texts = [reference.text for reference in Reference.objects.order_by("document_id")]
    assert [s.text for s in Summary.objects.filter(system=system).order_by("document_id")] == texts


def test_references_among_the_summaries_are_not_judged_by_litepyramid(study):
    open_batch(study)
    assert create_batch(study, "judge", "litepyramid", 1).tasks.count() == 32


def test_ratings_are_exported_with_position_and_group(study):
    batch = open_batch(study)
    assignment = lease_task(batch, make_worker(study))
    rate(assignment)
    frame = judgments_frame(study)
    assert len(frame) == 5 * 4
    assert set(frame["unit"]) == set(DIMENSIONS)
    assert set(frame["protocol"]) == {"likert"}
    by_place = frame.drop_duplicates("position").sort_values("position")
    assert list(by_place["position"]) == [1, 2, 3, 4, 5]
    assert list(by_place["system"]) == [summary.system.name for summary in protocol.group(assignment)]
    assert list(frame.loc[frame["system"] == "reference", "group"].unique()) == ["reference"]


def test_dimensions_and_scale_are_the_batchs_own():
    study = make_study(systems=2)
    dimension = {"name": "charm", "title": "Charm", "definition": "Does it charm?", "low": "dull", "high": "charming"}
    batch = open_batch(study, dimensions=[dimension, "fluency"], scale=[0, 3], reference=False)
    assignment = lease_task(batch, make_worker(study))
    assert [item.unit for item in protocol.items(assignment)] == ["charm", "fluency"] * 2
    assert protocol.values(assignment.task) == [0, 1, 2, 3]
    rate(assignment, "0")
    row = Judgment.objects.first()
    assert (row.scale_min, row.scale_max, row.value) == (0, 3, 0)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"dimensions": ["beauty"]}, "Known: coherence, consistency, fluency, relevance"),
        ({"dimensions": []}, "empty"),
        ({"dimensions": ["fluency", "fluency"]}, "a name of its own"),
        ({"dimensions": [{"title": "x"}]}, "at least a name"),
        ({"scale": [5, 1]}, "two whole numbers"),
        ({"scale": [1, 100]}, "two whole numbers"),
        ({"group_size": 1}, "at least 2"),
    ],
)
def test_wrong_options_are_refused(options, sentence):
    with pytest.raises(Refused, match=sentence):
        open_batch(make_study(), **options)


def test_an_article_is_shown_in_paragraphs():
    assert paragraphs(["A.", "B.", "C.", "D.", "E."]) == [["A.", "B.", "C.", "D."], ["E."]]
    assert paragraphs("One. Two!\n\nThree.") == [["One.", "Two!"], ["Three."]]


def test_the_page_shows_every_summary_with_its_dimensions(client):
    study = make_study(systems=4)
    client.force_login(make_member(study))
    page = client.post(reverse("take", args=[open_batch(study).pk]), follow=True).content.decode()
    assert page.count("data-card ") == 5
    assert page.count("<fieldset") == 20
    assert "Whether the facts agree with the article" in page
