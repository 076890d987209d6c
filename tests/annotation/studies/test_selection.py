"""What a batch judges can be chosen: by name, as a pilot, as a sample, by a metric's scores."""

import pytest

from annotation.common.errors import Refused
from annotation.models import Score, Summary
from annotation.studies.batches import create_batch
from annotation.studies.selection import Selection
from tests.factories import make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    """5 documents, 4 systems; `up` rises from 0 to 19 over documents and systems, `down` falls."""
    study = make_study(documents=5, systems=4)
    summaries = Summary.objects.order_by("document__doc_id", "system__name").select_related("document", "system")
    for place, summary in enumerate(summaries):
        for metric, value in (("up", place), ("down", -place), ("same", place // 4)):
            Score.objects.create(
                study=study, system=summary.system, document=summary.document, metric=metric, value=value
            )
    return study


def judged_by(study, **choice) -> list[tuple[str, str]]:
    batch = create_batch(study, f"b{study.batches.count()}", "litepyramid", 1, judged=Selection(**choice))
    assert batch.options.get("judged", {}) == choice
    return list(batch.tasks.order_by("pk").values_list("document__doc_id", "summary__system__name"))


def test_documents_and_systems_by_name(study):
    assert judged_by(study, documents=["doc1", "doc3"], systems=["system0"]) == [
        ("doc1", "system0"),
        ("doc3", "system0"),
    ]
    assert len(judged_by(study)) == 20


def test_a_pilot_draws_documents_by_its_seed_and_keeps_all_their_systems(study):
    drawn = judged_by(study, pilot=2, seed=4)
    assert len({document for document, _system in drawn}) == 2
    assert len(drawn) == 2 * 4
    assert judged_by(study, pilot=2, seed=4) == drawn
    assert {tuple(judged_by(study, pilot=2, seed=seed)) for seed in range(1, 8)} != {tuple(drawn)}


def test_a_range_of_a_metrics_scores(study):
    # the quantile .8 of 0…19 is 15.2: 16 to 19 lie above it, the four systems of the last document
    assert judged_by(study, metric="up", low=0.8) == [("doc4", f"system{n}") for n in range(4)]
    assert judged_by(study, metric="up", low=0.8, systems=["system3"]) == [("doc4", "system3")]


def test_where_metrics_disagree_most(study):
    # `up` and `down` rank the first and the last summary farthest apart
    ends = judged_by(study, disputed=["up", "down"], most=2)
    assert set(ends) == {("doc0", "system0"), ("doc4", "system3")}


def test_a_sample_by_algorithm_1_needs_enough_documents(study):
    with pytest.raises(Refused, match="No batch was made"):
        judged_by(study, sample=["up"])


def test_ratings_are_dealt_among_the_chosen_systems_only(study):
    judged = Selection(systems=["system0", "system2"])
    batch = create_batch(study, "Ratings", "likert", 1, {"reference": False}, judged=judged)
    task = batch.tasks.first()
    names = Summary.objects.filter(pk__in=task.pinned["summaries"]).values_list("system__name", flat=True)
    assert (batch.tasks.count(), sorted(names)) == (5, ["system0", "system2"])


def test_extraction_asks_for_the_references_of_the_chosen_documents(study):
    batch = create_batch(study, "SCUs", "scu", 1, judged=Selection(documents=["doc2"]))
    assert [task.document.doc_id for task in batch.tasks.all()] == ["doc2"]


def test_groups_of_systems_may_ask_for_another_number_of_answers(study):
    study.systems.filter(name="system0").update(group="ext")
    batch = create_batch(study, "Groups", "litepyramid", 3, quota_by_group={"ext": 5})
    quotas = dict(batch.tasks.values_list("summary__system__name", "quota"))
    assert quotas == {"system0": 5, "system1": 3, "system2": 3, "system3": 3}


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ({"documents": ["doc9"]}, "no documents “doc9”"),
        ({"systems": ["gpt"]}, "no systems “gpt”"),
        ({"metric": "rouge"}, "no metric 'rouge'; they have down, same, up"),
        ({"metric": "up", "low": 0.9, "high": 0.1}, "must go up"),
        ({"disputed": ["up"], "most": 3}, "at least two"),
        ({"metric": "up", "low": 0.9, "documents": ["doc0"]}, "Nothing is left to judge"),
    ],
)
def test_a_choice_that_makes_no_sense_is_a_sentence_and_makes_nothing(study, choice, sentence):
    with pytest.raises(Refused, match=sentence):
        create_batch(study, "b", "litepyramid", 1, judged=Selection(**choice))
    assert not study.batches.exists()


def test_answers_for_an_unknown_group_are_refused(study):
    with pytest.raises(Refused, match="no group of systems “ext”"):
        create_batch(study, "b", "litepyramid", 1, quota_by_group={"ext": 5})
