"""One person in a pilot and in the main batch: every page, file, shape and command works, by a rule that is said."""

import json
import shlex

import pandas as pd
import pytest
from django.db import connection

from analysis.cli import main
from analysis.tables import read_table
from annotation.judging.leases import lease_task
from annotation.judging.submit import submit_judgments
from annotation.models import Batch, FilterDecision, HumanScore, Role, Study, Worker
from annotation.protocols import of as protocol_of
from annotation.results.scoring_job import store_scores
from annotation.tables.frames import judgments_frame
from annotation.tables.trusted import human_scores, trusted_judgments
from annotation.transfer.exporting.options import USUAL, ExportOptions
from annotation.transfer.exporting.study import export_folder
from annotation.transfer.importing.study import import_study
from annotation.transfer.shapes import SHAPES
from tests.factories import make_batch, make_member, make_study, make_worker

pytestmark = pytest.mark.django_db(transaction=True)
SYSTEMS = ["system0", "system1", "system2"]
RULES = ["latest", "separate", "chosen"]
RESULTS = "quality/ report/ explorer/ explorer/?metric=m metrics/ metrics/m/ exports/ datasheet/ rounds/ rounds/{main}/"
PAGES = f"{RESULTS} collect/ collect/{{main}}/monitor/ collect/{{main}}/workers/ guidance/ ledger/ record/ scus/"


def judge(batch: Batch, worker: Worker, values: dict[str, str]) -> None:
    for _ in range(batch.tasks.count()):
        assignment = lease_task(batch, worker)
        value = values[assignment.task.summary.system.name]
        answers = {item.field: value for item in protocol_of(batch).items(assignment)}
        submit_judgments(worker, assignment.key, answers, assignment.key)


def judged_study(rule: str = "latest") -> Study:
    """Ann says no in the pilot; in the main batch she and Bob say yes, but of system0."""
    study = make_study(documents=3, systems=3)
    ann, bob = make_worker(study), make_worker(study)
    pilot, main_batch = make_batch(study, quota=2), make_batch(study, quota=2)
    Batch.objects.filter(pk=pilot.pk).update(name="pilot/1, the first")
    Batch.objects.filter(pk=main_batch.pk).update(name="main", is_chosen=True)
    no, yes = dict.fromkeys(SYSTEMS, "0"), {**dict.fromkeys(SYSTEMS, "1"), "system0": "0"}
    for batch, worker, values in ((pilot, ann, no), (main_batch, ann, yes), (main_batch, bob, yes)):
        judge(batch, worker, values)
    frame = pd.DataFrame(
        [(f"doc{d}", f"system{s}", "abs", "m", d + s * 2.0) for d in range(3) for s in range(3)],
        columns=["doc_id", "system", "group", "metric", "value"],
    )
    store_scores(study, frame, {"m": "m|v1"})
    Study.objects.filter(pk=study.pk).update(batch_rule=rule)
    study.refresh_from_db()
    return study


# Of 9 summaries with 3 SCUs each, ann judged all twice.
RATERS = {"latest": 2, "separate": 3, "chosen": 2}


@pytest.mark.parametrize("rule", RULES)
def test_every_page_works(client, rule):
    study = judged_study(rule)
    client.force_login(make_member(study, Role.ADMIN))
    for page in ["", *PAGES.format(main=study.batches.get(name="main").pk).split()]:
        answer = client.get(f"/studies/{study.slug}/{page}")
        assert answer.status_code == 200, page
        assert not study.jobs.filter(state="failed").exists(), study.jobs.filter(state="failed").first().message
        assert "Waiting for a free background process" not in answer.content.decode(), page
    recalls = HumanScore.objects.filter(measure="litepyramid_recall").values_list("system__name", "value")
    assert set(recalls) == {("system0", 0.0), ("system1", 1.0), ("system2", 1.0)}
    for document in study.documents.all():
        page = client.get(f"/studies/{study.slug}/explorer/{document.pk}/").content.decode()
        assert ("judged this again in a later batch" in page) == (rule == "latest")
        assert ("none of those that count" in page) == (rule == "chosen")
    for worker in study.workers.all():
        page = client.get(f"/studies/{study.slug}/quality/workers/{worker.pseudonym}/").content.decode()
        assert page.count("pilot/1, the first") in (0, 6)  # of the ten tasks on the first page


@pytest.mark.parametrize("rule", RULES)
def test_the_rule_decides_what_counts_and_is_said_in_the_methods(client, rule):
    study = judged_study(rule)
    trusted = trusted_judgments(study)
    assert trusted.judgments["worker_id"].nunique() == RATERS[rule]
    assert len(trusted.judgments) == (81 if rule == "separate" else 54)
    assert set(human_scores(study, trusted.judgments)["value"]) == {0.0, 1.0}
    client.force_login(make_member(study, Role.ANALYST))
    said = {
        "latest": "the answers of the latest batch count (set aside: 27; workers: 1; batches in order: pilot/1, ",
        "separate": "each batch counts as a rater of its own (workers: 1; batches: pilot/1, the first, main)",
        "chosen": "Only these batches count: main (judgments of others, set aside: 27).",
    }
    assert said[rule] in client.get(f"/studies/{study.slug}/report/").content.decode()
    assert said[rule] in client.get(f"/studies/{study.slug}/quality/").content.decode()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("filtered", [False, True])
def test_exports_carry_the_batch_and_every_shape_and_command_works(rule, filtered, tmp_path, monkeypatch):
    study = judged_study(rule)
    if filtered:
        FilterDecision.objects.create(study=study, rules=["worker-agreement[threshold=-5]"])
    export_folder(study, tmp_path, ExportOptions.checked(tables=USUAL, shapes=SHAPES))
    judgments, kept, dropped = (
        read_table(tmp_path / f"{name}.csv", "judgments")
        for name in ("judgments", "judgments_kept", "judgments_dropped")
    )
    assert judgments["batch"].value_counts().to_dict() == {"main": 54, "pilot/1, the first": 27}
    assert len(kept) == (81 if rule == "separate" else 54)
    assert kept["worker_id"].nunique() == RATERS[rule]
    assert len(dropped) == 81 - len(kept)
    assert set(dropped["rule"]) <= {"batches"}
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["batches"]["rule"] == rule
    assert manifest["batches"]["says"]
    monkeypatch.chdir(tmp_path)
    for command in manifest["commands"]:
        words = shlex.split(command["command"])
        if words[:3] == ["python", "-m", "analysis"]:
            assert main(words[3:]) == 0, command


@pytest.mark.parametrize("rule", RULES)
def test_the_batches_come_back_when_an_export_is_imported(rule, tmp_path):
    study = judged_study(rule)
    export_folder(study, tmp_path, ExportOptions.checked(tables=USUAL))
    (tmp_path / "human_scores.csv").unlink()
    import_study(tmp_path, "again")
    again = Study.objects.get(name="again")
    assert sorted(again.batches.values_list("name", flat=True)) == ["main", "pilot/1, the first"]
    columns = ["doc_id", "system", "unit", "value", "batch"]
    before, after = (judgments_frame(which)[columns].sort_values(columns) for which in (study, again))
    assert before.to_numpy().tolist() == after.to_numpy().tolist()
    assert len(trusted_judgments(again).judgments) == 54  # the latest batch, by default


def test_files_without_times_take_the_later_batch_of_the_file(tmp_path):
    study = judged_study()
    export_folder(study, tmp_path, ExportOptions.checked(tables=["documents", "summaries", "scus", "judgments"]))
    frame = read_table(tmp_path / "judgments.csv", "judgments")
    (tmp_path / "manifest.json").unlink()
    rows = [*frame[frame["batch"] == "main"].index, *frame[frame["batch"] != "main"].index]
    frame.loc[rows].drop(columns=["submitted_at", "assignment_id"]).to_csv(tmp_path / "judgments.csv", index=False)
    import_study(tmp_path, "no times")
    trusted = trusted_judgments(Study.objects.get(name="no times"))
    ann = trusted.choice.set_aside["worker_id"].iloc[0]
    assert set(trusted.judgments.loc[trusted.judgments["worker_id"] == ann, "value"]) == {0}  # the pilot's


def test_admins_choose_the_rule_and_wrong_choices_change_nothing(client):
    study = judged_study()
    admin, analyst = make_member(study, Role.ADMIN), make_member(study, Role.ANALYST)
    address, pilot = f"/studies/{study.slug}/quality/batches/", study.batches.get(name__startswith="pilot")
    client.force_login(analyst)
    assert client.post(address, {"rule": "separate"}).status_code == 403
    client.force_login(admin)
    for form in ({}, {"rule": "newest"}, {"rule": "chosen"}, {"rule": "chosen", "batch": "999999"}):
        assert client.post(address, form).status_code == 409
        study.refresh_from_db()
        assert study.batch_rule == "latest"
    assert client.post(address, {"rule": "chosen", "batch": str(pilot.pk)}).status_code == 302
    study.refresh_from_db()
    assert study.batch_rule == "chosen"
    assert list(study.batches.filter(is_chosen=True)) == [pilot]
    assert (
        "Only these batches count: pilot/1, the first" in client.get(f"/studies/{study.slug}/report/").content.decode()
    )


def test_a_filter_on_separate_raters_drops_the_answers_of_one_batch(client):
    study = judged_study("separate")
    FilterDecision.objects.create(study=study, rules=["majority-dissent"])
    client.force_login(make_member(study, Role.ADMIN))
    assert client.get(f"/studies/{study.slug}/explorer/").status_code == 200
    assert set(study.dropped.values_list("batch__name", flat=True)) == {"pilot/1, the first"}
    document = study.documents.first()
    system = study.systems.get(name="system1")
    page = client.get(f"/studies/{study.slug}/explorer/{document.pk}/?system={system.pk}").content.decode()
    assert page.count("majority-dissent") == 1
    assert "[pilot/1, the first]</b> left out:" in page


def test_a_study_imported_before_batches_were_read_keeps_its_own_column(tmp_path):
    study = judged_study()
    study.batches.filter(name="main").delete()
    from annotation.models import Judgment

    with connection.cursor() as cursor:  # as an older version stored it; judgments are append-only
        table = Judgment._meta.db_table
        cursor.execute(f"UPDATE {table} SET extra = %s", [json.dumps({"batch": "wave 7"})])
    assert set(judgments_frame(study)["batch"]) == {"wave 7"}
