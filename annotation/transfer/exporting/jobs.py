"""Exports in the background: asked for, made by a job, kept for some days, fetched in pieces."""

import shutil
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from analysis.tables.provenance import file_hash
from annotation.common import clock
from annotation.common.errors import Refused
from annotation.jobs import Progress, kind, start_job
from annotation.models import Export, ExportFile, Job, Role, Study, User
from annotation.transfer.exporting.manifest import WrittenFile
from annotation.transfer.exporting.options import ExportOptions, NotForYou
from annotation.transfer.exporting.study import export_folder

BUNDLE = "everything.zip"


class NoSuchExport(Refused):
    status = 404
    sentence = _("There is no such export of this study for you.")


class ExportExpired(Refused):
    status = 410
    sentence = _("This export has expired and its files are gone. Nothing else was lost: ask for it again.")


def start_export(study: Study, user: User, options: ExportOptions) -> Export:
    """Write the export down and have it made. Worker ids and money are for admins alone."""
    if options.for_admins and study.role_of(user) != Role.ADMIN:
        raise NotForYou
    now = clock.now()
    with transaction.atomic():
        export = Export.objects.create(
            study=study,
            options=options.as_json(),
            for_admins=options.for_admins,
            asked_by=user,
            asked_at=now,
            expires_at=now + timedelta(days=settings.EXPORT_DAYS),
        )
        export.job = start_job(study, "export", {"export": export.pk}, user)
        export.save(update_fields=["job"])
    export.refresh_from_db()
    return export


@kind("export")
def export_job(job: Job, progress: Progress) -> str:
    delete_expired()
    export = Export.objects.select_related("study").get(pk=job.options["export"])
    folder = folder_of(export)
    shutil.rmtree(folder, ignore_errors=True)  # of a run that was lost with its worker
    try:
        written_files = export_folder(export.study, folder, ExportOptions.from_json(export.options), progress)
        written_files = [*written_files, WrittenFile(_bundle(folder, written_files), "everything")]
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    files = [_file(export, file) for file in written_files]
    with transaction.atomic():
        export.files.all().delete()
        ExportFile.objects.bulk_create(files)
    return gettext("The export is ready: %(n)d files.") % {"n": len(written_files)}


def _file(export: Export, file: WrittenFile) -> ExportFile:
    file.path.chmod(0o600)
    facts = {"size": file.path.stat().st_size, "rows": file.rows, "sha256": file_hash(file.path)}
    return ExportFile(export=export, name=file.path.name, **facts)


def _bundle(folder: Path, files: list[WrittenFile]) -> Path:
    """All files in one, in a folder of their own. Parquet is packed already."""
    path = folder / BUNDLE
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for file in files:
            compression = zipfile.ZIP_STORED if file.path.suffix == ".parquet" else zipfile.ZIP_DEFLATED
            archive.write(file.path, f"export/{file.path.name}", compress_type=compression)
    return path


def folder_of(export: Export) -> Path:
    return Path(settings.EXPORT_ROOT) / export.key


def delete_expired() -> int:
    """Take the files of expired exports away; the list keeps them, with their hashes. Returns how many had files."""
    expired = [folder_of(export) for export in Export.objects.filter(expires_at__lte=clock.now())]
    present = [folder for folder in expired if folder.is_dir()]
    for folder in present:
        shutil.rmtree(folder, ignore_errors=True)
    return len(present)


def visible_exports(study: Study, user: User) -> "QuerySet[Export]":
    """The study's exports for this person, newest first."""
    exports = Export.objects.filter(study=study).select_related("job", "asked_by", "study").prefetch_related("files")
    return exports if study.role_of(user) == Role.ADMIN else exports.filter(for_admins=False)


def find_export(study: Study, user: User, key: str) -> Export:
    export = visible_exports(study, user).filter(key=key).first()
    if export is None:
        raise NoSuchExport
    return export


def open_file(study: Study, user: User, key: str, name: str) -> tuple[ExportFile, Path]:
    """A file to be fetched; ExportExpired when its time is over."""
    export = find_export(study, user, key)
    file = export.files.filter(name=name).first()
    if file is None:
        raise NoSuchExport
    path = folder_of(export) / file.name
    if is_expired(export) or not path.is_file():
        raise ExportExpired
    return file, path


def is_expired(export: Export) -> bool:
    return export.expires_at <= clock.now()


def export_facts(export: Export) -> dict[str, Any]:
    """An export as programs see it."""
    job = export.job
    return {
        "key": export.key,
        "state": "expired" if is_expired(export) else job.state if job else Job.State.FAILED,
        "done": job.done if job else 0,
        "total": job.total if job else 0,
        "message": job.message if job else "",
        "options": export.options,
        "asked_at": export.asked_at.isoformat(),
        "expires_at": export.expires_at.isoformat(),
        "files": [
            {"name": file.name, "size": file.size, "rows": file.rows, "sha256": file.sha256}
            for file in export.files.all()
        ],
    }
