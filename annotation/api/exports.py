"""Exports: asked for, made in the background, fetched in pieces. For admins and analysts."""

from datetime import datetime
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext
from ninja import Path, Router, Schema, Status
from pydantic import ConfigDict, Field

from annotation.common.byte_ranges import file_response
from annotation.models import Scope
from annotation.transfer.exporting.jobs import export_facts, find_export, open_file, start_export, visible_exports
from annotation.transfer.exporting.options import ExportOptions

from .access import READ, READERS, WRITE, study_for, token_of
from .problems import Problem
from .studies import Slug

router = Router()
MOST = 50
Key = Annotated[str, Path(pattern=r"^[-a-zA-Z0-9_]{1,64}$")]
FileName = Annotated[str, Path(pattern=r"^[-.a-zA-Z0-9_]{1,100}$")]
NameIn = Annotated[str, Field(max_length=60, pattern=r"^[^\x00]*$")]


class ExportIn(Schema):
    """Without tables and shapes: the usual tables. Without a form: texts as JSON lines, everything else as CSV."""

    model_config = ConfigDict(extra="forbid")
    tables: list[NameIn] = Field(default=[], max_length=20)
    shapes: list[NameIn] = Field(default=[], max_length=20)
    form: NameIn = ""
    texts: bool = Field(True, strict=True)
    raw_workers: bool = Field(False, strict=True, description="Admins whose token has the scope `admin` only")


class FileOut(Schema):
    name: str
    size: int
    rows: int | None
    sha256: str


class ExportOut(Schema):
    key: str
    state: str = Field(description="waiting, running, done, failed or expired")
    done: int
    total: int
    message: str
    options: dict[str, Any]
    asked_at: datetime
    expires_at: datetime
    files: list[FileOut]


@router.get("/exports", response=list[ExportOut], auth=READ)
def list_exports(request: HttpRequest, study: Slug) -> list[dict[str, Any]]:
    """The newest 50 exports."""
    found_study = study_for(request, study, *READERS)
    return [export_facts(export) for export in visible_exports(found_study, token_of(request).user)[:MOST]]


@router.post("/exports", response={202: ExportOut}, auth=WRITE)
def post_export(request: HttpRequest, response: HttpResponse, study: Slug, data: ExportIn) -> Any:
    """Have an export made. Ask for it again until its state is done."""
    found_study = study_for(request, study, *READERS)
    options = ExportOptions.checked(data.tables, data.shapes, data.form, data.texts, data.raw_workers)
    if options.for_admins and Scope.ADMIN not in token_of(request).scopes:
        raise Problem(403, gettext("This token lacks the scope “admin”. Nothing was exported."), "scope")
    export = start_export(found_study, token_of(request).user, options)
    response["Location"] = f"{request.path}/{export.key}"
    return Status(202, export_facts(export))


@router.get("/exports/{key}", response=ExportOut, auth=READ)
def get_export(request: HttpRequest, study: Slug, key: Key) -> dict[str, Any]:
    """One export, with its files and their hashes."""
    return export_facts(find_export(study_for(request, study, *READERS), token_of(request).user, key))


@router.get("/exports/{key}/files/{name}", auth=READ, openapi_extra={"x-file": True})
def get_export_file(request: HttpRequest, study: Slug, key: Key, name: FileName) -> HttpResponseBase:
    """A file, whole or in pieces (Range); 410 when the export has expired. Admins' exports need the scope `admin`."""
    found_study, token = study_for(request, study, *READERS), token_of(request)
    if find_export(found_study, token.user, key).for_admins and Scope.ADMIN not in token.scopes:
        raise Problem(403, gettext("This token lacks the scope “admin”."), "scope")
    file, path = open_file(found_study, token.user, key, name)
    return file_response(request, path, etag=file.sha256, name=f"{found_study.slug}-{file.name}")
