"""Files that become a study. For people who are the admin of one; each sees the imports of their own."""

from typing import Annotated, Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext
from ninja import File, Form, Router, Schema, Status
from ninja.files import UploadedFile
from pydantic import ConfigDict, Field

from annotation.accounts.access import may_make_studies
from annotation.api.access import READ, WRITE, token_of
from annotation.api.paging import Id
from annotation.models import Job, Study, User
from annotation.transfer.importing.reading import KIND, read_again, result_of, start_reading, tables_of
from annotation.transfer.importing.uploads import Upload

router = Router()
Files = Annotated[list[UploadedFile], File()]
NO_FILES: list[UploadedFile] = []


class ImportIn(Schema):
    model_config = ConfigDict(extra="forbid")
    name: str = Field(min_length=1, max_length=200, pattern=r"^[^\x00]*$", description="Of the new study")
    shape: str = Field(default="", max_length=40, pattern=r"^[^\x00]*$", description="Whose shape the files have")
    check: bool = Field(default=False, description="Only say what is in them")


class ChoicesIn(Schema):
    """How to read the files that an earlier look has shown; what is left out is read as it was shown."""

    model_config = ConfigDict(extra="forbid")
    choices: dict[str, str] = Field(
        default={}, description="By a table's place: kind:0, encoding:0, separator:0, column:0:doc_id"
    )
    check: bool = Field(default=False, strict=True, description="Only look once more")


class SentTableOut(Schema):
    file: str
    sheet: str
    encoding: str
    separator: str
    columns: list[str]
    kind: str = Field(description="documents, summaries, scus, judgments or scores; empty: left out")
    mapping: dict[str, str] = Field(description="Our columns, each with the file's that holds it")


class ImportOut(Schema):
    id: int
    state: str = Field(description="waiting, running, done or failed")
    done: int
    total: int
    study: str | None = Field(description="The slug of the study that was made; null while there is none")
    asks: bool = Field(description="Something was recognised and not read yet: say how with POST …/read")
    counts: dict[str, int] = Field(description="What is in the files")
    findings: list[str]
    problems: list[str] = Field(description="Why nothing was made")
    tables: list[SentTableOut] = Field(description="How the files are read, where that had to be recognised")


@router.post("/imports", response={202: ImportOut}, auth=WRITE)
def post_import(request: HttpRequest, response: HttpResponse, data: Form[ImportIn], files: Files = NO_FILES) -> Any:
    """Send up to ten files (90 MB) as multipart/form-data; they are read in the background. The same files under the
    same name change nothing. Where their form had to be recognised, nothing is made before POST …/read."""
    upload = Upload(name=data.name.strip(), files=files, shape=data.shape)
    return _answer(request, response, start_reading(upload, _maker(request), check=data.check))


@router.get("/imports/{id}", response=ImportOut, auth=READ)
def get_import(request: HttpRequest, id: Id) -> dict[str, Any]:
    """How far the files are read, and what came of it."""
    return _shaped(_own_job(request, id))


@router.post("/imports/{id}/read", response={202: ImportOut}, auth=WRITE)
def read_import(request: HttpRequest, response: HttpResponse, id: Id, data: ChoicesIn) -> Any:
    """Read the files of an earlier look as recognised, or as you choose. The answer is a new import."""
    job = _own_job(request, id)
    return _answer(request, response, read_again(job, data.choices, _maker(request), check=data.check))


def _maker(request: HttpRequest) -> User:
    token = token_of(request)
    if token.study_id or not may_make_studies(token.user):
        sentence = gettext("Studies are made by people who are the admin of one, with a token that opens every study.")
        raise PermissionDenied(sentence)
    return token.user


def _own_job(request: HttpRequest, job_id: int) -> Job:
    job = Job.objects.filter(pk=job_id, kind=KIND, asked_by=_maker(request)).first()
    if job is None:
        raise Http404(gettext("There is no such import of yours."))
    return job


def _answer(request: HttpRequest, response: HttpResponse, job: Job) -> Any:
    response["Location"] = f"/api/v1/imports/{job.pk}"
    return Status(202, _shaped(job))


def _shaped(job: Job) -> dict[str, Any]:
    imported, problems, _more = result_of(job) if job.is_over else (None, [], 0)
    is_look = job.options.get("result", {}).get("is_look", job.options["check"])
    study = Study.objects.filter(name=imported.study).first() if imported and not is_look else None
    tables = tables_of(job) if job.is_over else []
    return {
        "id": job.pk,
        "state": job.state,
        "done": job.done,
        "total": job.total,
        "study": study.slug if study else None,
        "asks": bool(tables),
        "counts": imported.counts if imported else {},
        "findings": imported.findings if imported else [],
        "problems": problems,
        "tables": tables,
    }
