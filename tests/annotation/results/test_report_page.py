"""The Report page: the same report that `python -m analysis report` writes, made once and kept."""

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from annotation.accounts.api_tokens import issue_token
from annotation.models import FilterDecision, Job, Role, StoredResult, Study, User
from annotation.results.report import study_report
from tests.annotation.demo_study import load_written
from tests.annotation.transfer.whole_export import export_study
from tests.factories import make_member, make_study

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def study() -> Study:
    return load_written()


@pytest.fixture
def analyst(client, study):
    client.login(username="analyst", password="demo")
    return client


def test_a_study_nobody_judged_says_so_once_and_for_all(client):
    study = make_study()
    client.force_login(make_member(study, Role.ANALYST))
    for _ in range(2):
        assert "Nobody has judged yet" in client.get(f"/studies/{study.slug}/report/").content.decode()
    assert Job.objects.count() == 1


def test_scores_that_people_gave_elsewhere_are_reported_on_without_any_judgment(client):
    """SummEval's means without its judgments: the page said that nobody had judged yet."""
    study, rng = make_study(), np.random.default_rng(0)
    document = study.documents.create(doc_id="d0", source="…")
    for number in range(8):
        system = study.systems.create(name=f"s{number}")
        for metric, role in (("coherence", "human"), ("relevance", "human"), ("rouge-2-r", "")):
            extra = {"role": role} if role else {}
            study.scores.create(document=document, system=system, metric=metric, value=rng.random(), extra=extra)
    client.force_login(make_member(study, Role.ANALYST))
    page = client.get(f"/studies/{study.slug}/report/").content.decode()
    assert "Nobody has judged yet" not in page
    assert "the closest of 1, rouge-2-r, has r =" in page
    assert "Everything rests on one document" in page
    assert "coherence: given by people too, and so not judged as metrics." in page
    metrics = client.get(f"/studies/{study.slug}/metrics/").content.decode()
    assert metrics.count("people") >= 2


def test_the_report_argues_in_order_and_is_kept(analyst, study):
    page = analyst.get(f"/studies/{study.slug}/report/").content.decode()
    heads = ["Can we trust the judges?", "How good are the systems?", "Which metric follows them?"]
    places = [page.index(head) for head in heads]
    assert places == sorted(places)
    assert "Only 6 systems" in page
    assert "majority-dissent" in page
    assert page.count("<svg") >= 3
    assert "demo-worker" not in page
    analyst.get(f"/studies/{study.slug}/report/")
    assert Job.objects.filter(kind="page").count() == 1


def test_a_german_reader_gets_german_sentences_and_an_english_download(analyst, study):
    german = {"accept-language": "de"}
    page = analyst.get(f"/studies/{study.slug}/report/", headers=german).content.decode()
    for text in (
        "Kann man den Urteilenden trauen?",
        "Hier (6 Systeme, 12 Dokumente)",
        "Nur 6 Systeme",
        "2.315 Urteilen",
    ):
        assert text in page
    for text in ("Can we trust", "On these 6 systems", "Only 6 systems", "were scored on", "Which metric ranks"):
        assert text not in page
    download = analyst.get(f"/studies/{study.slug}/report/folder/", headers=german)
    with zipfile.ZipFile(io.BytesIO(download.getvalue())) as archive:
        assert b"Can we trust the judges?" in archive.read("index.html")
    token = issue_token(User.objects.get(username="analyst"), "x", ["read"], 7).token
    answer = analyst.get(f"/api/v1/studies/{study.slug}/report", headers={**german, "Authorization": f"Bearer {token}"})
    assert answer.json()["verdict"].startswith("On these 6 systems and 12 documents")
    assert answer.json()["sections"][0]["heading"] == "Can we trust the judges?"


def test_the_site_and_the_command_line_give_the_same_numbers(study, tmp_path):
    FilterDecision.objects.all().delete()
    export_study(study, tmp_path)
    human = tmp_path / "human.csv"
    for command in (
        ["aggregate", "judgments.csv", "--out", str(human)],
        ["correlate", "scores.csv", "human.csv", "--human", "litepyramid_recall", "--ci", "1000", "--json"],
    ):
        answer = subprocess.run(
            [sys.executable, "-m", "analysis", *command],
            cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
        )  # fmt: skip
    printed = {row["metric"]: row["value"] for row in json.loads(answer.stdout)}
    report = study_report(study)
    table = report.figure("system-correlation").table
    assert {name: printed[name] for name in ("rouge-1-f", "rouge-1-p", "rouge-1-r")} == pytest.approx(
        dict(zip(table["metric"], table["value"], strict=True)), abs=1e-12
    )


def test_figures_and_the_whole_folder_can_be_downloaded(analyst, study):
    analyst.get(f"/studies/{study.slug}/report/")
    content = StoredResult.objects.get(name="report").content
    name = content["sections"][0]["figures"][0]["name"]
    assert analyst.get(f"/studies/{study.slug}/report/{name}.svg").content.startswith(b"<svg")
    assert b"," in analyst.get(f"/studies/{study.slug}/report/{name}.csv").content
    assert analyst.get(f"/studies/{study.slug}/report/nothing.csv").status_code == 409
    archive = zipfile.ZipFile(io.BytesIO(analyst.get(f"/studies/{study.slug}/report/folder/").content))
    assert {"index.html", "methods.txt", "commands.txt", "provenance.json"} <= set(archive.namelist())
    assert not any(b"demo-worker" in archive.read(name) for name in archive.namelist())
