"""A study from files that a browser sends: whole or not at all, for people who may, with the sender as its admin."""

import errno
import gzip
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.jobs import run_job
from annotation.models import AuditEvent, Job, Judgment, Membership, Role, Study
from annotation.transfer.exporting.options import ExportOptions
from annotation.transfer.exporting.study import export_folder
from annotation.transfer.importing import uploads
from annotation.transfer.importing.study import import_study, study_counts
from tests.annotation.transfer.test_import import write_folder
from tests.browser.looking import markup
from tests.factories import make_member, make_study, make_user

pytestmark = pytest.mark.django_db(transaction=True)  # the files are read by a job, after the commit
HTMX = {"HX-Request": "true"}


@pytest.fixture
def admin(client):
    user = make_member(make_study(), Role.ADMIN)
    client.force_login(user)
    return user


def files(folder: Path, *leave_out: str) -> list[SimpleUploadedFile]:
    paths = (path for path in sorted(folder.iterdir()) if path.name not in leave_out)
    return [SimpleUploadedFile(path.name, path.read_bytes()) for path in paths]


def send(client: Client, uploads: list[SimpleUploadedFile], headers: dict[str, str] | None = None, **form: str):
    return client.post("/new-study/", {"name": "Mine", "files": uploads, **form}, headers=headers or {})


def test_the_files_become_the_study_that_the_command_makes(client, admin, tmp_path):
    folder = write_folder(tmp_path / "in")
    answer = send(client, files(folder))
    study = Study.objects.get(name="Mine")
    assert (answer.status_code, answer["Location"]) == (302, f"/studies/{study.slug}/")
    assert study.role_of(admin) == Role.ADMIN
    import_study(folder, "By command")
    assert study_counts(study) == study_counts(Study.objects.get(name="By command"))
    assert study.fingerprint == Study.objects.get(name="By command").fingerprint
    page = client.get(answer["Location"]).content.decode()
    assert "“Mine” is made, and you are its admin." in page
    [line] = AuditEvent.objects.filter(action="POST new-study")
    assert (line.study, line.user) == (study, admin)
    assert "Made the study" in client.get(f"/studies/{study.slug}/record/").content.decode()


def test_looking_into_the_files_counts_warns_and_makes_nothing(client, admin, tmp_path):
    folder = write_folder(tmp_path / "in")
    (folder / "notes.txt").write_text("Mine alone.")
    for headers in ({}, HTMX):
        answer = send(client, files(folder), headers, check="1")
        page = markup(answer.content.decode())
        assert answer.status_code == 200
        assert '<dt>summaries</dt><dd class="number">4</dd>' in page
        assert "notes.txt was not read: no table has this name." in page
        assert "Nothing was made yet." in page
        assert ("<h1>" in page) is (headers == {})  # a page that is there already gets the news alone
    assert not Study.objects.filter(name="Mine").exists()
    assert not AuditEvent.objects.exists()


def test_bad_files_are_told_by_row_and_make_nothing(client, admin, tmp_path):
    folder = write_folder(tmp_path / "in", **{"scores.csv": "doc_id,system,metric,value\nnowhere,1,m,x\n"})
    for headers, status in (({}, 409), (HTMX, 200)):
        answer = send(client, files(folder), headers)
        page = answer.content.decode()
        assert answer.status_code == status
        assert "scores.csv, row 1" in page
        assert "Nothing was made." in page
        assert str(tmp_path) not in page
        assert "/tmp" not in page
    assert Study.objects.count() == 1
    assert not AuditEvent.objects.exists()


def test_what_can_not_be_a_study_is_answered_with_a_sentence(client, admin, tmp_path, monkeypatch):
    folder = write_folder(tmp_path / "in")
    doubled = [*files(folder), SimpleUploadedFile("documents.csv", b"doc_id,source\n")]
    cases = [
        ([], {}, "Choose the files first."),
        (files(folder, "documents.jsonl"), {}, "no file here is named documents.csv."),
        (files(folder), {"name": " "}, "name"),
        (files(folder), {"shape": "nothing"}, "There is no importer for the shape"),
        (files(folder), {"shape": "label_studio"}, "There is no importer for the shape"),
        (files(folder), {"low": "5", "high": "1"}, "A scale goes from a lower to a higher number"),
        (files(folder), {"low": "nan", "high": "x"}, "A scale goes from a lower to a higher number"),
        (doubled, {}, "the files: found documents.csv and documents.jsonl"),
        ([*files(folder), *files(folder)], {}, "is sent twice"),
        ([*files(folder), SimpleUploadedFile("more.parquet", b"PAR1")], {}, "more.parquet: send tables as CSV"),
        ([*files(folder, "scus.csv"), SimpleUploadedFile("scus.csv.gz", b"\x1f\x8bno")], {}, "scus.csv.gz: found"),
        ([SimpleUploadedFile("é" * 120 + ".csv", b"x")], {}, "its name is too long"),
        ([SimpleUploadedFile(f"{n}.csv", b"x") for n in range(11)], {}, "At most 10 files with 90 MB together"),
    ]
    for uploaded, form, sentence in cases:
        answer = send(client, uploaded, **form)
        assert 400 <= answer.status_code < 500, sentence
        assert sentence in answer.content.decode().replace("&quot;", '"'), sentence
    monkeypatch.setattr(uploads, "MOST_UNPACKED_MB", 1)
    bomb = SimpleUploadedFile("scores.csv.gz", gzip.compress(b"0" * 2_000_000))
    answer = send(client, [*files(folder, "scores.csv"), bomb])
    assert "Unpacked, the files have more than 1 MB together" in answer.content.decode()
    monkeypatch.setattr(uploads, "MOST_MB", 0)
    assert "At most 10 files with 0 MB" in send(client, files(folder)).content.decode()
    assert Study.objects.count() == 1


def test_a_name_that_is_taken_changes_nothing_and_lets_nobody_in(client, admin, tmp_path):
    folder = write_folder(tmp_path / "in")
    import_study(folder, "Mine", admin=admin)
    assert "This study is here already, with these files." in send(client, files(folder)).content.decode()
    answer = send(client, files(folder, "scores.csv"))
    assert answer.status_code == 409
    assert "choose another name" in answer.content.decode()
    assert Membership.objects.filter(study__name="Mine").count() == 1


@pytest.mark.parametrize("role", [None, Role.ANNOTATOR])
def test_anothers_study_shows_neither_its_counts_nor_whether_the_files_are_the_same(client, admin, tmp_path, role):
    folder = write_folder(tmp_path / "in")
    import_study(folder, "Mine")
    if role:
        Membership.objects.create(study=Study.objects.get(name="Mine"), user=admin, role=role)
    for form in ({}, {"check": "1"}):
        same = send(client, files(folder), **form)
        other = send(client, files(folder, "scores.csv"), **form)
        assert same.status_code == other.status_code == 409
        assert "<dd" not in same.content.decode()
        for answer in (same, other):
            assert "is here already. Nothing was changed: choose another name." in answer.content.decode()


def test_two_at_once_make_one(client, admin, tmp_path, monkeypatch):
    folder = write_folder(tmp_path / "in")
    take_the_name = lambda _: [str(Study.objects.create(name="Mine", fingerprint="other"))]  # noqa: E731
    monkeypatch.setattr("annotation.transfer.importing.study.findings", take_the_name)  # after the name was found free
    answer = send(client, files(folder))
    assert answer.status_code == 409
    assert "at the same moment" in answer.content.decode()


def test_files_of_others_are_read_in_their_shape(client, admin, tmp_path):
    source = make_study(documents=2, systems=2)
    export_folder(source, tmp_path / "out", ExportOptions.checked(shapes=["summeval"]))
    answer = send(
        client, [SimpleUploadedFile("any.jsonl", (tmp_path / "out" / "summeval.jsonl").read_bytes())], shape="summeval"
    )
    assert answer.status_code == 302
    study = Study.objects.get(name="Mine")
    assert study_counts(study)["summaries"] == 4


def test_a_likert_scale_of_ones_own_is_kept_to(client, admin, tmp_path):
    rows = "doc_id,system,unit,worker_id,value,protocol\n007,1,coherence,A,7,likert\n"
    folder = write_folder(tmp_path / "in", **{"judgments.csv": rows})
    assert "row 1" in send(client, files(folder)).content.decode()
    assert send(client, files(folder), high="7").status_code == 302
    assert Judgment.objects.get().value == 7


@pytest.mark.parametrize("role", [None, Role.ANNOTATOR, Role.ANALYST])
def test_who_is_no_admin_neither_sees_nor_uses_it(client, tmp_path, role):
    study = make_study()
    client.force_login(make_member(study, role) if role else make_user())
    assert "New study" not in client.get("/").content.decode()
    for answer in (client.get("/new-study/"), send(client, files(write_folder(tmp_path / "in")))):
        assert answer.status_code == 403
        assert "Studies are made by people who are the admin of one." in answer.content.decode()
    assert Study.objects.count() == 1


def test_a_superuser_makes_the_first_study(client, tmp_path):
    user = make_user()
    user.is_superuser = True
    user.save()
    client.force_login(user)
    page = client.get("/").content.decode()
    assert "Make the first one from your texts." in page
    assert 'href="/new-study/"' in page
    assert send(client, files(write_folder(tmp_path / "in"))).status_code == 302
    assert Membership.objects.get(study__name="Mine").user == user


# What it costs


def equal_rows(n: int) -> bytes:
    return gzip.compress(b"doc_id,system,metric,value\n" + b"007,1,m,1\n" * n)


def test_equal_rows_are_told_by_their_number_and_the_first_ten(client, admin, tmp_path):
    folder = write_folder(tmp_path / "in")
    doubled = SimpleUploadedFile("scores.csv.gz", equal_rows(100_001))
    answer = send(client, [*files(folder, "scores.csv"), doubled])
    page = answer.content.decode()
    assert answer.status_code == 409
    assert page.count("already in row 1") == 10
    assert "and 99,990 more." in page


def test_more_lines_than_can_be_read_are_refused_before_they_are(client, admin, tmp_path):
    folder = write_folder(tmp_path / "in")
    answer = send(client, [*files(folder, "scores.csv"), SimpleUploadedFile("scores.csv.gz", equal_rows(2_000_000))])
    assert answer.status_code == 409
    assert "lines together, and 2,000,000 can be sent. Nothing was made" in answer.content.decode()


def test_problems_of_many_rows_are_counted(client, admin, tmp_path):
    rows = "".join(f"{n},1,m,1\n" for n in range(5000))
    folder = write_folder(tmp_path / "in", **{"scores.csv": f"doc_id,system,metric,value\n{rows}"})
    page = send(client, files(folder)).content.decode()
    assert page.count("a summary of this study") == 20
    assert "and 4,980 more." in page


@pytest.fixture
def waiting(settings):
    """As on a site with a worker: a job waits until one takes it."""
    settings.BACKGROUND = "worker"
    settings.TASKS = {"default": {"BACKEND": "django_tasks.backends.dummy.DummyBackend"}}


def test_with_a_worker_the_files_are_read_in_the_background(client, admin, tmp_path, waiting, settings):
    settings.EXPORT_ROOT = str(tmp_path / "exports")
    folder = write_folder(tmp_path / "in")
    answer = send(client, files(folder))
    job = Job.objects.get()
    assert answer["Location"] == f"/new-study/{job.pk}/"
    page = client.get(answer["Location"]).content.decode()
    assert "The files are here. Waiting for a free background process." in page
    assert "still being read" in send(client, files(folder)).content.decode()  # one at a time
    assert not Study.objects.filter(name="Mine").exists()
    run_job.call(job.pk)
    job.refresh_from_db()
    assert job.state == "done"
    assert job.total > 0
    answer = client.get(f"/new-study/{job.pk}/")
    study = Study.objects.get(name="Mine")
    assert answer["Location"] == f"/studies/{study.slug}/"
    assert client.get(f"/new-study/{job.pk}/", headers=HTMX)["HX-Refresh"] == "true"
    assert not list((tmp_path / "exports" / "uploads").iterdir())
    client.force_login(make_member(make_study(), Role.ADMIN))
    assert client.get(f"/new-study/{job.pk}/").status_code == 404  # other people's files


def test_reading_can_be_stopped_before_and_while_it_runs(client, admin, tmp_path, waiting, monkeypatch, settings):
    settings.EXPORT_ROOT = str(tmp_path / "exports")
    folder = write_folder(tmp_path / "in")
    for begun in (False, True):
        send(client, files(folder))
        job = Job.objects.first()
        if begun:  # the stop comes while the files are read
            Job.objects.filter(pk=job.pk).update(state="running")
        assert client.post(f"/new-study/{job.pk}/stop/").status_code == 302
        if begun:
            assert "It stops at the next step" in client.get(f"/new-study/{job.pk}/").content.decode()
            Job.objects.filter(pk=job.pk).update(state="waiting")
        run_job.call(job.pk)
        page = client.get(f"/new-study/{job.pk}/").content.decode()
        assert "It was stopped, as somebody asked." in page
        assert not list((tmp_path / "exports" / "uploads").iterdir())
        assert not Study.objects.filter(name="Mine").exists()


def test_a_full_disk_is_said(client, admin, tmp_path, monkeypatch):
    def write(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("annotation.transfer.importing.reading.write_file", write)
    answer = send(client, files(write_folder(tmp_path / "in")))
    assert answer.status_code == 409
    assert "There is no room left on the disk." in answer.content.decode()
