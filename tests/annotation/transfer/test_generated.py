"""Bred summaries become systems of a study in one step, from a range of their fitness."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from annotation.models import Role, Summary
from annotation.studies.batches import create_batch
from annotation.studies.selection import Selection
from tests.factories import make_member, make_study

pytestmark = pytest.mark.django_db
GENERATED = [
    {"doc_id": doc, "system": f"rouge-{n:04d}", "summary": [f"Sentence {n} of {doc}."], "fitness": n / 10}
    for doc in ("doc0", "doc1")
    for n in range(11)
] + [{"doc_id": "doc0", "system": "lexrank", "summary": ["A baseline."], "fitness": None}]


@pytest.fixture
def study():
    study = make_study(documents=2, systems=1)
    for place, document in enumerate(study.documents.order_by("pk")):
        document.doc_id = f"doc{place}"
        document.save()
    return study


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "summaries.jsonl"
    path.write_text("\n".join(map(json.dumps, GENERATED)))
    return path


def texts(study, system):
    rows = Summary.objects.filter(document__study=study, system__name=system).order_by("document__doc_id")
    return [row.text for row in rows]


def test_the_best_of_each_document_is_a_system_that_a_batch_judges(study, file, capsys):
    command = ("import_outputs", study.name, f"--summaries={file}", "--system=bred")
    call_command(*command)
    assert "Dry run: nothing is stored" in capsys.readouterr().out
    assert texts(study, "bred") == []
    call_command(*command, "--yes")
    assert texts(study, "bred") == [["Sentence 10 of doc0."], ["Sentence 10 of doc1."]]
    batch = create_batch(study, "Top", "likert", 1, {}, judged=Selection(systems=["bred"]))
    assert batch.tasks.count() == 2
    with pytest.raises(CommandError, match="has a system 'bred' already"):
        call_command(*command, "--yes")


def test_several_of_a_range_are_several_systems(client, study, file):
    client.force_login(make_member(study, Role.ADMIN))
    form = {"name": "mid", "low": "40", "high": "60", "each": "2"}
    answer = client.post(
        f"/studies/{study.slug}/systems/", {**form, "file": SimpleUploadedFile("s.jsonl", file.read_bytes())}
    )
    assert answer.status_code == 302
    # Eleven summaries with ranks 1/11 … 11/11: between .4 and .6 lie the 5th and the 6th, of fitness .4 and .5.
    assert texts(study, "mid-1") == [["Sentence 5 of doc0."], ["Sentence 5 of doc1."]]
    assert texts(study, "mid-2") == [["Sentence 4 of doc0."], ["Sentence 4 of doc1."]]
    assert "The systems mid-1, mid-2 are added" in client.get(answer["Location"]).content.decode()


def test_what_does_not_fit_is_refused_whole(client, study, file):
    client.force_login(make_member(study, Role.ADMIN))
    cases = [
        (b'{"doc_id": "zzz", "system": "a", "summary": "x"}', {}, "are not in this study, such as"),
        (b"nonsense", {}, "line 1 that is not JSON"),
        (file.read_bytes(), {"low": "90", "high": "10"}, "A range lies within 0 and 100 %"),
        (file.read_bytes(), {"each": "99"}, "at most 50 are taken"),
        (file.read_bytes(), {"name": " "}, "A system needs a name"),
    ]
    for content, form, sentence in cases:
        sent = {"name": "x", **form, "file": SimpleUploadedFile("s.jsonl", content)}
        answer = client.post(f"/studies/{study.slug}/systems/", sent)
        assert answer.status_code == 409, sentence
        assert sentence in answer.content.decode()
        assert "Nothing was imported" in answer.content.decode()
    assert study.systems.count() == 1
