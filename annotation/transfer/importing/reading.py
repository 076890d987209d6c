"""Sent files are read in the background: kept in a folder of their own, read by a job, and taken away with its end."""

import secrets
import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from analysis.tables import TableError
from annotation.common.errors import Refused
from annotation.guidance import give_defaults
from annotation.jobs import Progress, kind, no_room, start_job, stop_job
from annotation.models import AuditEvent, Job, Study, User

from .folder import NEEDED
from .recognise.plan import Choices, SentTable, needs_asking
from .study import Imported
from .truecase import Showing
from .uploads import Upload, check_files, import_files, look_at_files, write_file

KIND = "import"
FORGOTTEN = 24 * 3600  # seconds after which files whose job was lost are taken away


def start_reading(upload: Upload, user: User, *, check: bool) -> Job:
    """Keep the files and have them read; Refused at once for what their number, size or names tell."""
    check_files(upload.files)
    _refuse_a_second(user)
    _remove_forgotten()
    key = secrets.token_urlsafe(16)
    try:
        for file in upload.files:
            write_file(file, folder_of(key))
    except OSError as error:
        shutil.rmtree(folder_of(key), ignore_errors=True)
        raise Refused(no_room(error) or _("The files could not be kept. Nothing was made: send them again.")) from None
    options = {"key": key, "name": upload.name, "shape": upload.shape, "scale": list(upload.scale), "check": check}
    return _started({**options, "truecase": upload.showing.truecase}, user)


def read_again(job: Job, choices: Choices, user: User, *, check: bool) -> Job:
    """Read the files of an earlier look once more, in the way that their sender chose."""
    _refuse_a_second(user)
    if not folder_of(job.options["key"]).is_dir():
        raise Refused(_("These files are no longer here. Nothing was made: send them again."))
    options = {name: value for name, value in job.options.items() if name != "result"}
    return _started({**options, "check": check, "choices": dict(choices)}, user)


def _refuse_a_second(user: User) -> None:
    if Job.objects.filter(kind=KIND, asked_by=user, state__in=[Job.State.WAITING, Job.State.RUNNING]).exists():
        raise Refused(_("Files of yours are still being read. Nothing was made: wait for them, or stop that first."))


def _started(options: dict[str, Any], user: User) -> Job:
    job = start_job(None, KIND, options, user)
    job.refresh_from_db()
    return job


def folder_of(key: str) -> Path:
    return Path(settings.EXPORT_ROOT) / "uploads" / key


@kind(KIND)
def import_job(job: Job, progress: Progress) -> str:
    """Read the files of an upload, and make the study unless only a look was asked for."""
    options, folder = job.options, folder_of(job.options["key"])
    upload = Upload(
        name=options["name"],
        shape=options["shape"],
        scale=(options["scale"][0], options["scale"][1]),
        showing=Showing(truecase=options["truecase"]),
    )
    result: dict[str, Any] = {}
    try:
        tables = look_at_files(upload, folder, options.get("choices", {}))
        asks = needs_asking(tables, NEEDED) or any(table.missing for table in tables)
        is_look = options["check"] or (asks and "choices" not in options)
        if asks:
            result["tables"] = [table.stored() for table in tables]
        imported = import_files(upload, folder, tables, job.asked_by, dry_run=is_look, progress=progress)
        result |= {"imported": asdict(imported), "is_look": is_look}
    except TableError as error:
        more = error.total - len(error.problems)
        result |= {"problems": [str(problem) for problem in error.problems], "more": more}
        raise
    finally:
        _note(job, result)
        if "tables" not in result or not result.get("is_look", True):  # nobody is asked how to read them
            shutil.rmtree(folder, ignore_errors=True)
    if imported.changed:
        study = Study.objects.get(name=imported.study)
        give_defaults(study, job.asked_by)
        _log(job, study)
    return _("The files are read.")


def _note(job: Job, result: Mapping[str, Any]) -> None:
    Job.objects.filter(pk=job.pk).update(options={**job.options, "result": result})


def _log(job: Job, study: Study) -> None:
    """The study's record begins with its making."""
    user = job.asked_by
    name = user.get_username() if user else ""
    facts = {f"form.{field}": str(job.options[field]) for field in ("name", "shape")}
    AuditEvent.objects.create(action="POST new-study", user=user, name=name, study=study, facts=facts, request="")


def stop_reading(job: Job) -> bool:
    """End the job before it is done; False where it is over already."""
    is_stopped = stop_job(job)
    job.refresh_from_db()
    if job.is_over:  # it never began, or has just ended: nobody else takes the files away
        shutil.rmtree(folder_of(job.options["key"]), ignore_errors=True)
    return is_stopped


def result_of(job: Job) -> tuple[Imported | None, list[str], int]:
    """What came of it: what is in the files, or the problems, the first of them in words and how many more."""
    result = job.options.get("result", {})
    if "imported" in result and job.state == Job.State.DONE:
        return Imported(**result["imported"]), [], 0
    problems = result.get("problems")
    return None, [*problems, _("Nothing was made.")] if problems else [job.message], result.get("more", 0)


def tables_of(job: Job) -> list[SentTable]:
    """How the files are read, where their sender is asked about it; none where the files are gone."""
    stored = job.options.get("result", {}).get("tables", [])
    return [SentTable(**table) for table in stored] if folder_of(job.options["key"]).is_dir() else []


def _remove_forgotten() -> None:
    """Files whose job never ended, because its worker was lost and nobody took it up."""
    for folder in folder_of("").glob("*"):
        try:
            if time.time() - folder.stat().st_mtime > FORGOTTEN:
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # its job has just ended
            continue
