"""LitePyramid: checks among the units by a stated rule, evidence as places in the text."""

from collections import Counter

import pytest

from annotation.common.errors import Refused
from annotation.judging.leases import lease_task
from annotation.judging.submit import revise_judgments, submit_judgments
from annotation.models import Batch, ContentUnit, Judgment, Study, Summary
from annotation.protocols.base import Item
from annotation.protocols.litepyramid import LitePyramid, mix_in_checks, words_of
from annotation.studies.batches import create_batch
from annotation.tables.frames import judgments_frame
from annotation.transfer.importing.study import import_study
from tests.annotation.transfer.whole_export import export_study
from tests.factories import make_study, make_worker

REAL = [Item(1, f"r{n}", f"Real {n}.") for n in range(8)]
CHECKS = [Item(1, f"c{n}", f"Check {n}.", is_check=True) for n in range(2)]
protocol = LitePyramid()


def test_in_natural_order_real_units_keep_their_order_and_checks_stand_among_them():
    for seed in range(50):
        items = mix_in_checks(CHECKS + REAL, seed, "natural")
        assert [item.unit for item in items if not item.is_check] == [f"r{n}" for n in range(8)]
        assert [item.position for item in items] == list(range(1, 11))


def test_checks_come_at_every_place_equally_often():
    # 2 checks at 10 places over 2,000 seeds: 400 each on average; ±100 is five standard deviations.
    places = Counter(
        item.position for seed in range(2000) for item in mix_in_checks(CHECKS + REAL, seed, "natural") if item.is_check
    )
    assert set(places) == set(range(1, 11))
    assert all(300 < n < 500 for n in places.values())


def test_the_same_seed_gives_the_same_order_and_random_shuffles_all():
    assert mix_in_checks(REAL + CHECKS, 7, "random") == mix_in_checks(REAL + CHECKS, 7, "random")
    assert [i.unit for i in mix_in_checks(REAL, 7, "random")] != [i.unit for i in REAL]


@pytest.fixture
def study(db) -> Study:
    return make_study(documents=2, units=4)


def open_batch(study: Study, **options) -> Batch:
    return create_batch(study, "b", "litepyramid", 1, options, state=Batch.State.OPEN)


def test_a_batch_has_a_task_per_summary(study):
    assert open_batch(study).tasks.count() == Summary.objects.count() == 2


def test_a_batch_makes_the_checks_it_asks_for_once(study):
    options = {"checks": {"blank": 1, "foreign": 2}}
    create_batch(study, "one", "litepyramid", 1, options)
    create_batch(study, "two", "litepyramid", 1, options)
    checks = ContentUnit.objects.filter(is_check=True)
    assert checks.count() == 2 * 3
    assert set(checks.values_list("expected", flat=True)) == {0}
    for check in checks.exclude(text="BLANK"):
        assert f"document {1 - int(check.document.doc_id[-1])}" in check.text  # the facts of the other document


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"order": "backwards"}, "natural, random"),
        ({"checks": {"trick": 1}}, "must say how many"),
        ({"checks": {"blank": -1}}, "must say how many"),
    ],
)
def test_wrong_options_are_refused_and_no_batch_is_made(study, options, sentence):
    with pytest.raises(Refused, match=sentence):
        open_batch(study, **options)
    assert not Batch.objects.exists()


def test_a_batch_needs_a_name_of_its_own_a_quota_and_something_to_judge(study):
    open_batch(study)
    with pytest.raises(Refused, match="has a batch named"):
        open_batch(study)
    with pytest.raises(Refused, match="at least 1 answer"):
        create_batch(study, "c", "litepyramid", 0)
    with pytest.raises(Refused, match="Known: errors, likert, litepyramid"):
        create_batch(study, "c", "pyramid", 1)
    with pytest.raises(Refused, match="nothing to judge"):
        create_batch(make_study(documents=0), "c", "litepyramid", 1)


def test_words_are_found_with_their_places():
    assert [(w.text, w.start, w.end) for w in words_of(" Bees 🐝 stay.")] == [
        ("Bees", 1, 5),
        ("🐝", 6, 7),
        ("stay.", 8, 13),
    ]


class TestEvidence:
    @pytest.fixture
    def assignment(self, study):
        Summary.objects.update(text="One 🐝 two three four.")
        return lease_task(open_batch(study, evidence=True), make_worker(study))

    def answers(self, assignment, evidence, value="1"):
        first, *other_items = protocol.items(assignment)
        with_evidence = {first.field: {"value": value, "evidence": evidence}}
        return {**with_evidence, **{item.field: {"value": "0"} for item in other_items}}

    def stored_extra(self):
        return Judgment.objects.get(position=1, is_current=True).extra

    def test_marked_words_are_stored_as_characters_of_the_text(self, assignment):
        submit_judgments(assignment.worker, assignment.key, self.answers(assignment, [[2, 3], [0, 0]]), "k")
        # "One 🐝 two three four.": "One" is 0–3; "two three" starts after 4 + 2 characters and has 9.
        assert self.stored_extra() == {"evidence": [[0, 3], [6, 15]]}

    @pytest.mark.parametrize("evidence", [[[0, 9]], [[-1, 0]], ["x"], [[0]], [[0.5, 1]], "no", 7, None, [[True, 1]]])
    def test_marks_that_name_no_words_are_left_out(self, assignment, evidence):
        submit_judgments(assignment.worker, assignment.key, self.answers(assignment, evidence), "k")
        assert self.stored_extra() is None

    def test_what_is_not_present_has_no_evidence(self, assignment):
        submit_judgments(assignment.worker, assignment.key, self.answers(assignment, [[0, 1]], value="0"), "k")
        assert self.stored_extra() is None

    def test_without_the_option_nothing_is_stored(self, study):
        assignment = lease_task(open_batch(study), make_worker(study))
        submit_judgments(assignment.worker, assignment.key, self.answers(assignment, [[0, 1]]), "k")
        assert self.stored_extra() is None

    def test_it_comes_back_for_a_second_look_and_a_new_mark_is_a_revision(self, assignment):
        submit_judgments(assignment.worker, assignment.key, self.answers(assignment, [[2, 3]]), "k")
        assignment.refresh_from_db()
        field = protocol.items(assignment)[0].field
        assert protocol.answers_of(assignment)[field] == {"value": "1", "evidence": [[2, 3]]}
        answers = {field: {"value": "1", "evidence": [[0, 0]]}}
        assert revise_judgments(assignment.worker, assignment.key, answers, "r").judgments == 1
        assert self.stored_extra() == {"evidence": [[0, 3]]}

    def test_it_is_exported(self, assignment):
        submit_judgments(assignment.worker, assignment.key, self.answers(assignment, [[2, 3]]), "k")
        frame = judgments_frame(assignment.task.batch.study)
        assert frame.sort_values("position")["evidence"].iloc[0] == [[6, 15]]

    def test_it_survives_an_export_and_an_import(self, assignment, tmp_path):
        submit_judgments(assignment.worker, assignment.key, self.answers(assignment, [[2, 3], [0, 0]]), "k")
        export_study(assignment.task.batch.study, tmp_path)
        import_study(tmp_path, "again")
        imported = Judgment.objects.exclude(assignment=assignment).get(position=1)
        assert imported.extra["evidence"] in ([[0, 3], [6, 15]], "[[0, 3], [6, 15]]")  # a CSV cell is text


@pytest.mark.django_db
def test_a_document_without_units_makes_no_batch():
    study = make_study(documents=3)
    ContentUnit.objects.filter(document__doc_id="doc1").update(is_check=True)  # checks alone ask nothing
    ContentUnit.objects.filter(document__doc_id="doc2").update(retired_in=2)
    with pytest.raises(Refused, match=r"2 documents have no SCUs yet \(the first is “doc1”\)\. No batch was made"):
        create_batch(study, "Work", "litepyramid", 1)
    assert not study.batches.exists()
