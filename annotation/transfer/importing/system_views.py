"""A further system for a study that is here: a summaries table, such as `analysis generate` writes."""

import tempfile
from pathlib import Path

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from analysis.tables import TableError
from annotation.accounts.access import study_for
from annotation.common.error_pages import answers_refusals
from annotation.common.errors import Refused
from annotation.common.parsing import parse_int
from annotation.models import Role, Study
from annotation.transfer.importing.generated import ImportedSystems, import_generated
from annotation.transfer.importing.uploads import check_files, check_unpacked, write_file

MOST_MB = 20


@require_POST
@answers_refusals
def add_system(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins: a file of summaries becomes a system, or several, of the study; whole or not at all."""
    study = study_for(request, slug, Role.ADMIN)
    imported = _import(request, study)
    sentence = ngettext(
        "The system %(names)s is added, with summaries of %(n)d documents.",
        "The systems %(names)s are added, with summaries of %(n)d documents.",
        len(imported.systems),
    )
    messages.success(request, sentence % {"names": ", ".join(imported.systems), "n": imported.documents})
    return redirect("study", slug=slug)


def _import(request: HttpRequest, study: Study) -> ImportedSystems:
    form, files = request.POST, request.FILES.getlist("file")
    check_files(files)
    if len(files) != 1 or (files[0].size or 0) > MOST_MB * 10**6:
        raise Refused(_("Send one file of at most %(mb)d MB. Nothing was imported.") % {"mb": MOST_MB})
    with tempfile.TemporaryDirectory() as place:
        path = write_file(files[0], Path(place))
        check_unpacked([path])
        try:
            return import_generated(
                study,
                path,
                form.get("name", "").strip(),
                low=parse_int(form.get("low", ""), 80) / 100,
                high=parse_int(form.get("high", ""), 100) / 100,
                each=parse_int(form.get("each", ""), 1),
                write=True,
            )
        except TableError as error:
            raise Refused(_("%(error)s Nothing was imported.") % {"error": error}) from None
