"""The Exports page: made in the background, fetched in pieces, and nobody gets what is not theirs."""

import errno
import hashlib
import io
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.common import clock
from annotation.models import Export, Job, Role, Study
from annotation.transfer.exporting import jobs
from annotation.transfer.exporting.options import ExportOptions
from annotation.transfer.importing.study import import_study
from tests.annotation.transfer.test_import import JUDGMENTS, write_folder
from tests.factories import make_member, make_study

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def study(tmp_path: Path, settings) -> Study:
    settings.EXPORT_ROOT = str(tmp_path / "exports")
    import_study(write_folder(tmp_path / "in", judgments__csv=JUDGMENTS), "s")
    return Study.objects.get(name="s")


@pytest.fixture
def analyst(client, study):
    client.force_login(make_member(study, Role.ANALYST))
    return client


def post_export(client, study: Study, **form: object) -> Export:
    answer = client.post(f"/studies/{study.slug}/exports/", form)
    assert answer.status_code == 302, answer.content.decode()
    return Export.objects.latest("pk")


def test_an_empty_page_says_what_to_do(analyst, study):
    page = analyst.get(f"/studies/{study.slug}/exports/").content.decode()
    assert "No export yet" in page
    assert "raw_workers" not in page  # not an analyst's to ask for
    assert "ledger" not in page


def test_an_analyst_exports_and_fetches_every_file(analyst, study):
    export = post_export(analyst, study, table=["judgments", "scores"], form="parquet")
    assert export.job.state == Job.State.DONE
    page = analyst.get(f"/studies/{study.slug}/exports/").content.decode()
    names = [file.name for file in export.files.all()]
    assert names == ["judgments.parquet", "scores.parquet", "manifest.json", "everything.zip"]
    for file in export.files.all():
        answer = analyst.get(f"/studies/{study.slug}/exports/{export.key}/{file.name}")
        content = b"".join(answer.streaming_content)
        assert hashlib.sha256(content).hexdigest() == file.sha256
        assert file.sha256[:16] in page
        assert int(answer["Content-Length"]) == file.size == len(content)
    archive = zipfile.ZipFile(io.BytesIO(content))
    assert archive.namelist() == [f"export/{name}" for name in names[:-1]]


def test_a_broken_download_goes_on_where_it_stopped(analyst, study):
    export = post_export(analyst, study, table=["judgments"])
    url = f"/studies/{study.slug}/exports/{export.key}/judgments.csv"
    download = analyst.get(url)
    content, tag = b"".join(download.streaming_content), download["ETag"]
    assert download["Accept-Ranges"] == "bytes"

    def piece(**headers: str):
        answer = analyst.get(url, headers=headers)
        return answer.status_code, b"".join(answer.streaming_content) if answer.streaming else b"", answer

    size = len(content)
    for byte_range, start, end in (("bytes=10-", 10, size), ("bytes=0-9", 0, 10), ("bytes=-7", size - 7, size)):
        status, body, answer = piece(range=byte_range, if_range=tag)
        assert (status, body) == (206, content[start:end])
        assert answer["Content-Range"] == f"bytes {start}-{end - 1}/{size}"
    assert piece(range="bytes=10-", if_range='"another"')[:2] == (200, content)  # the file has changed: all of it
    assert piece(range="bytes=5-2")[:2] == (200, content)
    assert piece(range="bytes=0-1,4-5")[:2] == (200, content)
    status, _, answer = piece(range=f"bytes={size}-")
    assert (status, answer["Content-Range"]) == (416, f"bytes */{size}")
    assert piece(if_none_match=tag)[0] == 304
    head = analyst.head(url)
    assert (head.status_code, head["Content-Length"], head.content) == (200, str(size), b"")


def test_worker_ids_and_money_are_for_admins(client, study):
    analyst, admin = make_member(study, Role.ANALYST), make_member(study, Role.ADMIN)
    client.force_login(analyst)
    for form in ({"table": "judgments", "raw_workers": "1"}, {"table": "ledger"}):
        assert client.post(f"/studies/{study.slug}/exports/", form).status_code == 403
    assert not Export.objects.exists()
    client.force_login(admin)
    export = post_export(client, study, table="judgments", raw_workers="1")
    url = f"/studies/{study.slug}/exports/{export.key}/judgments.csv"
    assert b"ZZTOP9" in b"".join(client.get(url).streaming_content)
    client.force_login(analyst)
    assert client.get(url).status_code == 404
    assert export.key not in client.get(f"/studies/{study.slug}/exports/").content.decode()


def test_strangers_annotators_and_other_studies_get_nothing(client, study):
    export = jobs.start_export(study, make_member(study, Role.ANALYST), ExportOptions.checked(["scores"]))
    other_study = make_study()
    for user, status in (
        (make_member(other_study, Role.ADMIN), 404),
        (make_member(study, Role.ANNOTATOR), 403),
    ):
        client.force_login(user)
        assert client.get(f"/studies/{study.slug}/exports/").status_code == status
        assert client.get(f"/studies/{study.slug}/exports/{export.key}/scores.csv").status_code == status
    client.force_login(make_member(other_study, Role.ADMIN))
    assert client.get(f"/studies/{other_study.slug}/exports/{export.key}/scores.csv").status_code == 404
    assert client.get(f"/studies/{other_study.slug}/exports/{export.key}/..%2F..%2Fsecret").status_code == 404


def test_an_expired_export_is_gone_and_says_so(analyst, study):
    export = post_export(analyst, study, table=["scores"])
    Export.objects.update(expires_at=clock.now() - timedelta(seconds=1))
    url = f"/studies/{study.slug}/exports/{export.key}/scores.csv"
    assert analyst.get(url).status_code == 410
    page = analyst.get(f"/studies/{study.slug}/exports/").content.decode()
    assert "expired" in page
    assert url not in page
    assert jobs.folder_of(export).is_dir()
    post_export(analyst, study, table=["scores"])
    assert not jobs.folder_of(export).exists()  # the next export cleans up; the list keeps its hash
    assert export.files.count() == 3


def test_nothing_chosen_and_unknown_names_start_nothing(analyst, study):
    for form, text in (({}, "at least one table"), ({"table": "x"}, "Known: documents"), ({"form": "xls"}, "at least")):
        answer = analyst.post(f"/studies/{study.slug}/exports/", form)
        assert answer.status_code == 409
        assert text in answer.content.decode()
    assert not Job.objects.exists()


def test_a_failed_export_leaves_no_files_and_says_why(analyst, study, monkeypatch):
    def broken(*args: object) -> None:
        raise ValueError("The filter would drop everybody.")

    monkeypatch.setattr(jobs, "export_folder", broken)
    export = post_export(analyst, study, table=["scores"])
    assert (export.job.state, export.files.count()) == (Job.State.FAILED, 0)
    assert not jobs.folder_of(export).exists()
    assert "The filter would drop everybody." in analyst.get(f"/studies/{study.slug}/exports/").content.decode()


def test_a_job_that_runs_again_makes_the_same_files_once(analyst, study):
    export = post_export(analyst, study, table=["scores"])
    before = {file.name: file.sha256 for file in export.files.all() if file.name == "scores.csv"}
    jobs.export_job(export.job, lambda n, total: None)
    assert {file.name: file.sha256 for file in export.files.all() if file.name == "scores.csv"} == before
    assert export.files.count() == 3


def test_the_page_asks_a_fixed_number_of_questions(analyst, study, django_assert_max_num_queries):
    for _ in range(6):
        post_export(analyst, study, table=["scores"])
    with django_assert_max_num_queries(12):
        analyst.get(f"/studies/{study.slug}/exports/")


def test_an_export_on_a_full_disk_says_so_and_leaves_nothing(analyst, study, tmp_path, monkeypatch):
    def write(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("annotation.transfer.exporting.study.write_table", write)
    export = post_export(analyst, study, table=["judgments"])
    assert export.job.state == Job.State.FAILED
    assert "There is no room left on the disk." in analyst.get(f"/studies/{study.slug}/exports/").content.decode()
    assert not list((tmp_path / "exports").iterdir())


def test_the_command_says_so_too(study, tmp_path, monkeypatch):
    def write(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("annotation.transfer.exporting.study.write_table", write)
    with pytest.raises(CommandError, match="There is no room left on the disk"):
        call_command("export_study", tmp_path / "out", "--name", study.name)
