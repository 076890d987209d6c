"""Marked errors: spans become a row per kind of error; nothing that can't be stored is, and nothing is lost."""

import json

import pytest
from django.urls import reverse

from analysis.errors import rates, read_marks
from annotation.common.errors import BadAnswers, Refused
from annotation.judging.drafts import Change, now_ms, save_draft
from annotation.judging.html_form import form_answers, form_html, form_twin
from annotation.judging.leases import lease_task
from annotation.judging.submit import revise_judgments, submit_judgments, undo_submit
from annotation.models import Assignment, Batch, Judgment, Study
from annotation.protocols.errors import FRANK, MQM, Errors
from annotation.rehearsal.caught_workers import judged_truly
from annotation.rehearsal.characters import CHARACTERS, Person
from annotation.rehearsal.pages import Page
from annotation.rehearsal.places import mark_of
from annotation.rehearsal.truth import truth_of
from annotation.studies.batches import create_batch
from annotation.studies.second_rounds import first_rounds, read_thresholds
from annotation.tables.frames import judgments_frame
from annotation.tables.trusted import human_scores
from annotation.transfer.exporting.options import ExportOptions
from annotation.transfer.exporting.study import export_folder
from annotation.transfer.importing.study import import_study
from tests.factories import make_member, make_study, make_worker

pytestmark = pytest.mark.django_db
protocol = Errors()


@pytest.fixture
def study() -> Study:
    return make_study(documents=2, systems=2)


def open_batch(study: Study, quota: int = 3, **options) -> Batch:
    return create_batch(study, "mark", "errors", quota, options, state=Batch.State.OPEN)


def lease(study: Study, **options) -> Assignment:
    return lease_task(open_batch(study, **options), make_worker(study))


def field_of(assignment: Assignment, unit: str) -> str:
    return next(item.field for item in protocol.items(assignment) if item.unit == unit)


def span(kind: str, severity: str = "major", start: int | None = 0, end: int | None = 3, **more) -> dict:
    return {"value": kind, "severity": severity, "start": start, "end": end, **more}


def answers(assignment: Assignment, *spans: dict, overall: str = "70") -> dict:
    fields = {f"span:s{n}": content for n, content in enumerate(spans)}
    return {**fields, field_of(assignment, "overall"): {"value": overall}}


def submit(assignment: Assignment, form: dict, key: str = "k") -> None:
    submit_judgments(assignment.worker, assignment.key, form, key)


def stored(assignment: Assignment) -> dict[str, tuple[float, list]]:
    rows = Judgment.objects.filter(assignment=assignment, is_current=True)
    return {row.unit: (row.value, (row.extra or {}).get("spans", [])) for row in rows}


def test_every_kind_gets_a_row_with_its_spans_and_points(study):
    assignment = lease(study)
    text = assignment.task.summary.text_shown
    overlapping = [span("entity", "major", 0, 4), span("entity", "minor", 2, 6), span("link", "minor", 2, 6)]
    submit(assignment, answers(assignment, *overlapping, span("omission", "minor", None, None, evidence=[[0, 3]])))
    rows = stored(assignment)
    assert set(rows) == {*FRANK, "overall"}
    assert rows["entity"] == (
        6,
        [{"start": 0, "end": 4, "severity": "major"}, {"start": 2, "end": 6, "severity": "minor"}],
    )
    assert rows["omission"] == (1, [{"severity": "minor", "evidence": [[0, 3]]}])
    assert rows["grammar"] == (0, [])
    assert rows["overall"] == (70, [])
    extra = Judgment.objects.get(assignment=assignment, unit="grammar").extra
    assert extra["characters"] == len(text)


def test_that_there_is_no_error_is_a_judgment(study):
    assignment = lease(study)
    with pytest.raises(BadAnswers, match="Nothing is marked"):
        submit(assignment, answers(assignment))
    submit(assignment, {**answers(assignment), "no-error": {"value": "1"}})
    assert {value for unit, (value, _) in stored(assignment).items() if unit != "overall"} == {0}


@pytest.mark.parametrize(
    ("mark", "sentence"),
    [
        (span("entity", "major", 0, 10_000), "outside its text"),
        (span("entity", "major", 5, 5), "outside its text"),
        (span("entity", "major", -1, 3), "outside its text"),
        (span("entity", "major", "0", 3), "outside its text"),
        (span("entity", "major", None, None), "outside its text"),
        (span("entity", "major", 0, 3, evidence=[[0, 99_999]]), "outside its text"),
        (span("spelling"), "The list of errors has no “spelling”"),
        (span("entity", "critical"), "minor or major"),
        (span("entity", None), "minor or major"),
    ],
)
def test_what_cannot_be_stored_is_answered_with_a_sentence_and_the_draft_is_kept(study, mark, sentence):
    assignment = lease(study)
    good = span("link", "minor", 0, 2)
    save_draft(assignment.worker, assignment.key, [Change("span:a", mark, now_ms()), Change("span:b", good, now_ms())])
    with pytest.raises(BadAnswers, match=sentence):
        submit(assignment, answers(assignment))
    assert not Judgment.objects.filter(assignment=assignment).exists()
    assignment.refresh_from_db()
    assert {"span:a", "span:b"} <= set(assignment.draft["items"])
    submit(assignment, {**answers(assignment), "span:a": {"value": None}})
    assert stored(assignment)["link"][0] == 1


@pytest.mark.parametrize("overall", ["", "101", "-1", "7.5", "many"])
def test_the_whole_needs_a_number_from_0_to_100(study, overall):
    assignment = lease(study)
    with pytest.raises(BadAnswers):
        submit(assignment, answers(assignment, span("entity"), overall=overall))


def test_more_marks_than_are_kept_are_refused(study):
    assignment = lease(study)
    with pytest.raises(BadAnswers, match="51 marks"):
        submit(assignment, answers(assignment, *[span("entity", "minor", 0, 2)] * 51))
    submit(assignment, answers(assignment, *[span("entity", "major", 0, 2)] * 50))
    assert stored(assignment)["entity"][0] == 100, "250 points are told by the spans; a value is at most 100"


def test_a_revision_appends_what_changed(study):
    assignment = lease(study)
    submit(assignment, answers(assignment, span("entity", "major", 0, 4)))
    before = protocol.answers_of(assignment)
    assert [content for name, content in before.items() if name.startswith("span:")] == [
        {"value": "entity", "start": 0, "end": 4, "severity": "major"}
    ]
    name = next(name for name in before if name.startswith("span:"))
    revise_judgments(assignment.worker, assignment.key, {name: {"value": None}, "no-error": {"value": "1"}}, "r")
    assert stored(assignment)["entity"] == (0, [])
    assert Judgment.objects.filter(assignment=assignment, unit="entity").count() == 2
    assert Judgment.objects.filter(assignment=assignment, unit="link").count() == 1


def test_a_submit_taken_back_is_the_draft_again(study):
    assignment = lease(study)
    submit(assignment, answers(assignment, span("entity", "major", 0, 4), span("omission", "minor", None, None)))
    assignment = undo_submit(assignment.worker, assignment.key)
    submit(assignment, {}, "again")
    rows = stored(assignment)
    assert rows["entity"][1] == [{"start": 0, "end": 4, "severity": "major"}]
    assert rows["omission"][0] == 1


def test_two_devices_at_one_summary_keep_what_both_marked(study):
    assignment = lease(study)
    for name in ("a", "b"):
        save_draft(assignment.worker, assignment.key, [Change(f"span:{name}", span("entity"), now_ms())])
    submit(assignment, {field_of(assignment, "overall"): {"value": "5"}})
    assert stored(assignment)["entity"][0] == 10


def test_a_page_without_script_asks_kind_by_kind(study, client):
    batch, member = open_batch(study), make_member(study)
    client.force_login(member)
    page = client.post(reverse("take", args=[batch.pk]), follow=True)
    assignment = Assignment.objects.get(task__batch=batch)
    fields = {item.unit: f"answer:{item.field}" for item in protocol.items(assignment)}
    assert all(f'name="{name}"' in page.text for name in fields.values())
    form = {fields[unit]: "0" for unit in FRANK}
    partly = {fields["entity"]: "2", "submit_key": "k"}
    refused = client.post(page.request["PATH_INFO"], {**partly, fields["overall"]: "60"})
    assert refused.status_code == 422
    assert "7 of 8 items have no answer yet" in refused.text
    client.post(page.request["PATH_INFO"], {**form, **partly, fields["overall"]: "60"})
    assert stored(assignment)["entity"] == (5, [{"severity": "major"}])
    assert stored(assignment)["overall"][0] == 60


def test_the_form_that_a_market_shows_by_itself(study):
    batch = open_batch(study)
    task = batch.tasks.first()
    html = form_html(task)
    twins = {item.unit: item.field for item in protocol.items(form_twin(task))}
    assert all(f'name="{field}"' in html for field in twins.values())
    assignment = lease_task(batch, make_worker(study))
    answer = {twins[unit]: "1" if unit == "link" else "0" for unit in FRANK} | {twins["overall"]: "88"}
    assignment.task = task
    protocol.store(assignment, form_answers(assignment, answer), assignment.leased_at)
    assert stored(assignment)["link"] == (1, [{"severity": "minor"}])


def test_the_list_is_the_studys(study):
    own = [{"name": "tone", "title": "Tone", "definition": "Rude"}, {"name": "gap", "placed": False}, "entity"]
    batch = open_batch(study, categories=own, weights={"minor": 2, "major": 10}, overall=False)
    assignment = lease_task(batch, make_worker(study))
    assert [item.unit for item in protocol.items(assignment)] == ["tone", "gap", "entity"]
    form = {"span:1": span("tone", "minor"), "span:2": span("gap", "major", None, None)}
    submit(assignment, form)
    assert {unit: value for unit, (value, _) in stored(assignment).items()} == {"tone": 2, "gap": 10, "entity": 0}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"categories": "dqf"}, "no list 'dqf'. Known: frank, mqm"),
        ({"categories": ["entity", "entity"]}, "each needs a name of its own"),
        ({"categories": []}, "are empty"),
        ({"categories": ["entities"]}, "no kind of error 'entities'"),
        ({"categories": [{"name": "overall"}]}, "other than overall"),
        ({"weights": {"minor": -1}}, "must be points"),
        ({"weights": {"critical": 25}}, "must be points"),
        ({"weights": {}}, "No error costs anything"),
    ],
)
def test_options_that_make_no_sense_are_refused(study, options, sentence):
    with pytest.raises(Refused, match=sentence):
        open_batch(study, **options)


def test_a_preset_is_named(study):
    assert list(open_batch(study, categories="mqm").options["categories"]) == list(MQM)


def test_marks_are_no_matter_of_a_second_round(study):
    batch = open_batch(study)
    assert first_rounds(study) == []
    with pytest.raises(Refused, match="no second round"):
        read_thresholds(batch, {})


def test_tables_scores_and_rates_come_out(study, tmp_path):
    batch = open_batch(study, quota=2)
    for _ in range(2):
        worker = make_worker(study)
        for n in range(4):
            assignment = lease_task(batch, worker)
            submit(assignment, answers(assignment, *[span("entity", "major", 0, 4)] * (n % 2), span("link", "minor")))
    frame = judgments_frame(study)
    assert len(frame) == 2 * 4 * 9
    assert {"spans", "words", "characters"} <= set(frame.columns)
    scores = human_scores(study, frame)
    assert {"esa", "mqm", "mqm_entity"} <= set(scores["metric"])
    (everything,) = rates(read_marks(frame), by=[])
    assert (everything.n_errors, everything.n_major) == (12, 4)
    export_folder(study, tmp_path / "export", ExportOptions())
    import_study(tmp_path / "export", "copy")
    copy = judgments_frame(Study.objects.get(name="copy"))
    kinds, kinds_before = (rows[rows["unit"] != "overall"] for rows in (copy, frame))
    assert [json.loads(cell) for cell in kinds["spans"]] == list(kinds_before["spans"])
    assert list(copy["value"]) == list(frame["value"])
    assert rates(read_marks(copy), by=[])[0].n_errors == 12


def test_the_explorer_lays_all_marks_over_the_text(study, client):
    batch = open_batch(study, quota=2)
    first = None
    for severity in ("minor", "major"):
        assignment = lease_task(batch, make_worker(study))
        first = first or assignment.task.summary
        submit(assignment, answers(assignment, span("entity", severity, 0, 4), span("omission", "minor", None, None)))
    client.force_login(make_member(study, "admin"))
    page = client.get(reverse("explorer-document", args=[study.slug, first.document_id]), {"system": first.system_id})
    assert page.status_code == 200
    assert f">{first.text_shown[:4]}</mark>" in page.text
    assert "4 marks" in page.text


def test_simulated_workers_mark_words(study, client):
    """Those who see what is there mark the same words; the page tells them by its own words and fields."""
    batch = open_batch(study)
    client.force_login(make_member(study))
    page = client.post(reverse("take", args=[batch.pk]), follow=True)
    read = Page.read("http://site/", 200, page.text)
    text = Assignment.objects.get().task.summary.text_shown
    assert {item.text for item in read.items} == {text}
    assert [item.marks for item in read.items] == [*(name for name in FRANK if name != "omission"), "", ""]
    assert read.items[-1].values == [float(n) for n in range(101)]
    entity = read.items[1]
    people = [Person(name, CHARACTERS["careful"], 1) for name in ("a", "b", "c", "d")]
    marked = [mark_of(read, entity, 2.0, 2.0, person) for person in people]
    assert {mark[1]["start"] for mark in marked} == {marked[0][1]["start"]}
    assert {mark[1]["value"] for mark in marked} == {"entity"}
    assert mark_of(read, entity, 0.0, 0.0, people[0]) is None
    name, content = marked[0]
    overall = field_of(Assignment.objects.get(), "overall")
    submit(Assignment.objects.get(), {name: content, overall: "3"})
    truth = truth_of(batch, 1)
    assert 0 < judged_truly(batch, truth)["right"].mean() < 1
