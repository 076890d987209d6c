"""Preference: pairs are planned and balanced, left and right are drawn, and an answer means the same on either side."""

from collections import Counter

import pytest
from django.urls import reverse

from analysis.agreement import agreement
from analysis.preferences import preferences_of
from annotation import protocols
from annotation.common.errors import BadAnswers, Refused
from annotation.judging.html_form import form_answers, form_html, form_seed, form_twin
from annotation.judging.leases import lease_task
from annotation.judging.submit import revise_judgments, submit_judgments
from annotation.models import Assignment, Batch, Judgment, PracticeItem, Role, Study, Summary
from annotation.protocols.preference import damage, plan_pairs
from annotation.rehearsal.caught_workers import judged_truly
from annotation.rehearsal.pages import Page
from annotation.rehearsal.truth import truth_of
from annotation.results.quality import quality_content
from annotation.results.report import study_report
from annotation.studies.batches import create_batch
from annotation.studies.second_rounds import find_contested, open_second_round, read_thresholds
from annotation.tables.frames import judgments_frame
from annotation.tables.trusted import human_scores, trusted_judgments
from annotation.transfer.datasheet import datasheet
from annotation.transfer.importing.study import import_study
from tests.annotation.transfer.whole_export import export_study
from tests.factories import make_member, make_study, make_worker

PROTOCOL = protocols.get("preference")


def systems(documents: int, n: int) -> dict[int, dict[str, int]]:
    return {document: {f"s{number:02}": number for number in range(n)} for document in range(documents)}


def judge(batch: Batch, better: str = "system0", tasks: int = 100) -> None:
    """A worker who always prefers one system, the first of two others, and what is whole."""
    worker = make_worker(batch.study)
    for _number in range(tasks):
        try:
            assignment = lease_task(batch, worker)
        except Refused:
            return
        page = PROTOCOL.page(assignment, {})
        (_, _, left), (_, _, right) = page["sides"]
        wins = [
            better in text if better in left + right else text < other for text, other in ((left, right), (right, left))
        ]
        if item_is_check := page["item"].is_check:
            wins = [text.startswith("Summary of document") for text in (left, right)]
        assert item_is_check or wins[0] != wins[1]
        submit_judgments(worker, assignment.key, {page["item"].field: "1" if wins[0] else "-1"}, assignment.key)


# Which pairs


def test_all_pairs_of_every_document_are_planned_once():
    plan = plan_pairs(systems(3, 5), 0, 0)
    assert len(plan) == 3 * 10 == len(set(plan))


def test_few_pairs_connect_all_systems_and_are_balanced():
    """25 systems on 100 documents, 4 pairs each: 400 pairs, 32 for each system; 300 pairs of systems once or twice."""
    plan = plan_pairs(systems(100, 25), 4, 1)
    times_system = Counter(name for _, *pair in plan for name in pair)
    times_pair = Counter(tuple(pair) for _, *pair in plan)
    assert set(times_system.values()) == {32}
    assert (len(times_pair), set(times_pair.values())) == (300, {1, 2})
    assert Counter(document for document, *_ in plan) == dict.fromkeys(range(100), 4)


@pytest.mark.parametrize(("documents", "pairs"), [(24, 1), (12, 2), (1, 24)])
def test_as_many_pairs_as_a_tree_needs_are_enough(documents, pairs):
    plan = plan_pairs(systems(documents, 25), pairs, 3)
    groups = {f"s{number:02}": {f"s{number:02}"} for number in range(25)}
    for _, first, second in plan:
        joined = groups[first] | groups[second]
        groups |= dict.fromkeys(joined, joined)
    assert len(groups["s00"]) == 25


def test_the_seed_decides_and_nothing_else():
    assert plan_pairs(systems(9, 6), 2, 5) == plan_pairs(systems(9, 6), 2, 5)
    assert plan_pairs(systems(9, 6), 2, 5) != plan_pairs(systems(9, 6), 2, 6)


@pytest.mark.parametrize(
    ("n_systems", "options", "sentence"),
    [
        (1, {}, "A pair needs two systems"),
        (9, {"pairs": 3}, "So few pairs don't connect all systems"),
        (2, {"between": [["system0", "system0"]]}, "system0 can't be compared with itself"),
        (2, {"between": [["system0", "nobody"]]}, "There is no system “nobody”"),
        (2, {"pairs": -1}, "pairs is -1, but must be a whole number"),
        (2, {"speed": 1}, "Preference has no option 'speed'"),
    ],
)
def test_what_makes_no_pairs_is_refused_in_a_sentence_and_nothing_is_made(db, n_systems, options, sentence):
    study = make_study(systems=n_systems)
    with pytest.raises(Refused, match=sentence):
        create_batch(study, "Pairs", "preference", 1, options)
    assert not study.batches.exists()


def test_only_the_named_pairs_are_asked(db):
    batch = create_batch(make_study(2, 4), "Pairs", "preference", 1, {"between": [["system0", "system3"]]})
    systems_of = {
        tuple(sorted(s.system.name for s in Summary.objects.filter(pk__in=task.pinned["pair"])))
        for task in batch.tasks.all()
    }
    assert (batch.tasks.count(), systems_of) == (2, {("system0", "system3")})


# Left and right


@pytest.fixture
def batch(db) -> Batch:
    return create_batch(
        make_study(6, 3), "Pairs", "preference", 3, {"check_pairs": 1, "strength": True, "reason": True}, state="open"
    )


def seats(batch: Batch, n: int) -> list[Assignment]:
    """So many imagined people at every task."""
    return [
        Assignment(task=task, seed=seed * 7919)
        for task in batch.tasks.select_related("batch__study")
        for seed in range(n)
    ]


def test_left_and_right_are_drawn_for_each_person_and_pair_and_stay(batch):
    drawn = [PROTOCOL.items(seat)[0].position for seat in seats(batch, 40)]
    assert 0.4 < drawn.count(1) / len(drawn) < 0.6
    assert drawn == [PROTOCOL.items(seat)[0].position for seat in seats(batch, 40)]
    for seat in seats(batch, 2):
        (item,) = PROTOCOL.items(seat)
        judged = Summary.objects.get(pk=item.summary_id).text_shown
        assert PROTOCOL.page(seat, {})["sides"][item.position - 1][2] == judged


@pytest.mark.parametrize("answer", ["2", "1", "0", "-1", "-2"])
def test_an_answer_means_the_same_whoever_stood_on_the_left(batch, answer):
    """A is better: then the judged summary is better exactly where it was A."""
    worker = make_worker(batch.study)
    for _number in range(6):
        assignment = lease_task(batch, worker)
        (item,) = PROTOCOL.items(assignment)
        content = {"value": answer, "reason": "  it says  more "}
        submit_judgments(worker, assignment.key, {item.field: content}, assignment.key)
        judgment = Judgment.objects.get(assignment=assignment)
        sign = (int(answer) > 0) - (int(answer) < 0)
        assert judgment.value == (sign if judgment.position == 1 else -sign)
        assert judgment.extra["reason"] == "it says more"
        assert judgment.extra.get("strength", 0) == abs(int(answer))
        assert PROTOCOL.answers_of(Assignment.objects.get(pk=assignment.pk))[item.field]["value"] == answer


def test_a_form_without_script_sends_the_reason_in_its_own_field_and_can_be_revised(batch):
    worker = make_worker(batch.study)
    assignment = lease_task(batch, worker)
    (item,) = PROTOCOL.items(assignment)
    submit_judgments(worker, assignment.key, {item.field: "1", f"{item.field}:reason": "clear"}, "first")
    revise_judgments(worker, assignment.key, {item.field: "-1", f"{item.field}:reason": ""}, "second")
    first, second = Judgment.objects.filter(assignment=assignment).order_by("revision")
    assert (first.value, first.extra["reason"]) == (-second.value, "clear")
    assert "reason" not in second.extra


@pytest.mark.parametrize(("options", "answer"), [({"ties": False}, "0"), ({}, "2"), ({}, "x"), ({}, "")])
def test_what_the_page_does_not_offer_is_refused_and_nothing_is_stored(db, options, answer):
    batch = create_batch(make_study(1, 2), "Pairs", "preference", 1, options, state="open")
    worker = make_worker(batch.study)
    assignment = lease_task(batch, worker)
    (item,) = PROTOCOL.items(assignment)
    with pytest.raises(BadAnswers, match="Nothing was submitted"):
        submit_judgments(worker, assignment.key, {item.field: answer}, "once")
    assert not Judgment.objects.exists()


# Check pairs


def test_a_damaged_copy_has_the_same_words_in_another_order():
    text = "The council voted eleven to four to keep the night ferry."
    assert sorted(damage(text, 1).split()) == sorted(text.split())
    assert damage(text, 1) != text
    assert damage("Too few words", 1) is None


def test_check_pairs_look_like_any_other_and_know_their_answer(batch):
    checks = [task for task in batch.tasks.all() if "damaged" in task.pinned]
    assert Counter(task.document_id for task in checks) == dict.fromkeys(
        batch.study.documents.values_list("pk", flat=True), 1
    )
    (item,) = PROTOCOL.items(Assignment(task=checks[0], seed=1))
    assert (item.is_check, item.expected, item.unit[:12]) == (True, 1.0, "check system")
    judge(batch)
    frame = judgments_frame(batch.study)
    assert (frame.loc[frame["is_check"], "expected"] == frame.loc[frame["is_check"], "value"]).all()
    assert frame.loc[~frame["is_check"], "expected"].isna().all()


# Tables, scores, pages


@pytest.fixture
def judged_batch(batch) -> Batch:
    for better in ("system0", "system0", "system1"):
        judge(batch, better)
    return batch


def test_agreement_scores_quality_and_report_read_the_answers(judged_batch):
    """Three people; one of them prefers system1 to system0: that pair is 2 to 1, all others are agreed on."""
    study = judged_batch.study
    frame = preferences_of(judgments_frame(study)[lambda rows: ~rows["is_check"]])
    assert Counter(frame["preferred"]) == {"system0": 6 * (2 + 3), "system1": 6 * (1 + 3)}
    human = human_scores(study, trusted_judgments(study).judgments)
    rates = human[human["metric"] == "preference_win_rate"].groupby("system")["value"].mean()
    assert rates.round(4).to_dict() == {"system0": 0.8333, "system1": 0.6667, "system2": 0.0}
    assert set(human["group"]) == {"abs"}
    (content,) = quality_content(study)["protocols"]
    assert (content["name"], content["level"], list(content["by"])) == ("preference", "nominal", ["system", "group"])
    assert any("What was shown first was preferred in" in remark for remark in content["remarks"])
    assert any("triads go in a circle" in remark for remark in content["remarks"])
    (alpha,) = agreement(judgments_frame(study)[lambda rows: ~rows["is_check"]])
    assert content["agreement"][0]["value"] == pytest.approx(alpha.value)
    report = study_report(study)
    assert "preference_win_rate" in report.methods


def test_what_was_exported_can_be_imported_again(judged_batch, tmp_path):
    export_study(judged_batch.study, tmp_path / "first")
    import_study(tmp_path / "first", "again")
    export_study(Study.objects.get(name="again"), tmp_path / "second")
    first, second = ((tmp_path / name / "judgments.csv").read_text().splitlines() for name in ("first", "second"))
    assert first[0] == second[0]
    assert len(first) == 1 + 3 * 6 * 4
    cells = [[line.split(",") for line in lines[1:]] for lines in (first, second)]
    place = first[0].split(",").index("worker_id")
    for rows in cells:
        for row in rows:
            row[place] = ""
    assert sorted(cells[0]) == sorted(cells[1])


def test_its_pages_and_sheets_know_it(client, judged_batch):
    study = judged_batch.study
    client.force_login(make_member(study, Role.ADMIN))
    for name in ("study", "collect", "rounds", "quality", "scus", "report", "explorer"):
        assert client.get(reverse(name, args=[study.slug])).status_code == 200, name
    worker = Judgment.objects.first().assignment.worker.pseudonym
    page = client.get(reverse("quality-worker", args=[study.slug, worker])).text
    assert "A is better" in page
    assert "Summary of document 0 by" in page
    sheet = datasheet(study).markdown()
    assert "Quality criterion 1: preference between two summaries" in sheet
    assert "1, 0 or −1 for one pair of summaries" in datasheet(study).markdown("card")


def test_contested_pairs_go_back_with_both_texts(client, judged_batch):
    """Of three answers, two of one kind are a majority: nothing is contested until it must be two thirds."""
    contested = find_contested(judged_batch, read_thresholds(judged_batch, {"majority": "0.7"}))
    assert contested.looks == 6 * 3  # system0 against system1, where one of three disagrees, in six documents
    Batch.objects.filter(pk=judged_batch.pk).update(state="closed")
    judged_batch.refresh_from_db()
    second = open_second_round(judged_batch, contested.thresholds)
    client.force_login(second.tasks.first().reserved_for.user)
    page = client.post(reverse("take", args=[second.pk]), follow=True).text
    look = second.tasks.first().looks.select_related("judgment__summary").first()
    assert look.judgment.summary.text_shown in page
    assert PROTOCOL.unit_titles(second)[look.task.document_id, look.judgment.unit] in page
    assert page.count("B is better") > 1
    assert "Summary A" in page
    assert "Summary B: Summary of document" in page


# Crowds and rehearsal


def test_the_self_contained_form_comes_back_as_the_same_answer(batch):
    task = batch.tasks.select_related("batch__study", "document").first()
    page = Page.read("http://x/", 200, form_html(task))
    (item,) = page.items
    assert page.items[0].sides == tuple(text for _, _, text in PROTOCOL.page(form_twin(task), {})["sides"])
    assignment = Assignment(task=task, worker=make_worker(batch.study), seed=form_seed(task))
    (own_item,) = PROTOCOL.items(assignment)
    assert own_item.field != item.field
    form = form_answers(assignment, {item.field: "2", f"{item.field}:reason": "clear"})
    (answer,) = PROTOCOL.check_answers(assignment, form)
    assert answer.value == (1 if own_item.position == 1 else -1)
    assert answer.extra["reason"] == "clear"
    assert answer.extra["strength"] == 2


def test_the_rehearsal_knows_which_of_two_texts_is_better(batch):
    truth = truth_of(batch, seed=1)
    for seat in seats(batch, 3):
        page, (item,) = PROTOCOL.page(seat, {}), PROTOCOL.items(seat)
        (_, _, left), (_, _, right) = page["sides"]
        values = [-2.0, -1.0, 0.0, 1.0, 2.0]
        assert truth.between(left, right, values) == -truth.between(right, left, values)
        if item.is_check:
            assert truth.between(left, right, values) == (1 if item.position == 1 else -1)
    judge(batch)
    assert 0 < judged_truly(batch, truth)["right"].mean() < 1
    checks = judged_truly(batch, truth)[lambda rows: rows["is_check"]]
    assert checks["right"].all()


# Guidance


def test_practice_compares_a_summary_with_another_system_s(client, batch):
    study = batch.study
    client.force_login(make_member(study, Role.ADMIN))
    summary = Summary.objects.get(document__doc_id="doc0", system__name="system0", document__study=study)
    item = {"protocol": "preference", "kind": "test", "summary": summary.pk, "question": "system1", "expected": "1"}
    address = reverse("guidance-item", args=[study.slug])
    for name in ("system0", "nobody"):
        response = client.post(address, {**item, "question": name})
        assert "so there is nothing to compare" in response.text
    assert "must be 1, 0 or -1" in client.post(address, {**item, "expected": "2"}).text
    assert client.post(address, item).status_code == 302
    for kind in ("tutorial", "test"):
        PracticeItem.objects.update(kind=kind)
        page = client.get(reverse(kind, args=[batch.pk])).text
        assert "Summary of document 0 by system0." in page
        assert "Summary of document 0 by system1." in page
        assert "A is better" in page
        assert ">system1<" not in page
