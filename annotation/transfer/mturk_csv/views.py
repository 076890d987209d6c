"""MTurk's CSV forms of a batch, for the study's admins: its Input file out, a result file in."""

import io

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotation.accounts.access import study_for
from annotation.common.downloads import file_response
from annotation.common.error_pages import answers_refusals
from annotation.common.errors import Refused
from annotation.crowds.console.views import batch_of
from annotation.models import Role
from annotation.transfer.mturk_csv import export_batch, import_results


@require_http_methods(["GET", "POST"])
@answers_refusals
def batch_csv(request: HttpRequest, slug: str, batch_id: int) -> HttpResponse:
    """Admins: a batch as MTurk's Input file; a POST imports a result file, as a whole or not at all."""
    batch = batch_of(study_for(request, slug, Role.ADMIN), batch_id)
    if request.method == "POST":
        upload = request.FILES.get("results")
        if upload is None:
            raise Refused(_("Choose a file first. Nothing was imported."))
        report = import_results(batch.study, upload.read(), upload.name or "results.csv", batch=batch)
        messages.success(request, " ".join(report.sentences()))
        return redirect("monitor", slug=slug, batch_id=batch.pk)
    stream = io.StringIO(newline="")
    export_batch(batch, stream, prefix="" if request.GET.get("upload") else "Input.")
    return file_response(stream.getvalue().encode(), "text/csv; charset=utf-8", f"{slug}-{batch.pk}.csv")
