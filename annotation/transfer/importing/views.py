"""A new study from files, for people without a shell."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect, HttpResponseClientRefresh

from annotation.accounts.access import may_make_studies, user_of
from annotation.common.downloads import file_response
from annotation.common.errors import Refused
from annotation.models import Job, Study
from annotation.transfer.importing.folder import KINDS
from annotation.transfer.importing.reading import (
    KIND,
    read_again,
    result_of,
    start_reading,
    stop_reading,
    tables_of,
)
from annotation.transfer.importing.recognise.text_files import ENCODINGS, SAVE_ANEW, SEPARATORS
from annotation.transfer.importing.templates import NAMES, template
from annotation.transfer.importing.truecase import Showing
from annotation.transfer.importing.uploads import MOST_FILES, MOST_LINES, MOST_MB, Upload
from annotation.transfer.shapes import SHAPES

MOST_FINDINGS = 10


@never_cache
@require_http_methods(["GET", "POST"])
def new_study(request: HttpRequest) -> HttpResponse:
    """Admins of any study: files become a study of theirs; a POST with `check` only says what is in them."""
    _refuse_others(request)
    if request.method == "GET":
        return _page(request)
    try:
        job = start_reading(_upload(request), user_of(request), check="check" in request.POST)
    except Refused as refusal:
        return _page(request, status=refusal.status, problems=[str(refusal)])
    return _now_or_later(request, job)


@require_POST
def again(request: HttpRequest, job_id: int) -> HttpResponse:
    """Whoever sent the files: they are read as the form says; with `check` only to look once more."""
    job = _own_job(request, job_id)
    choices = {name: value for name, value in request.POST.items() if ":" in name and isinstance(value, str)}
    try:
        next_job = read_again(job, choices, user_of(request), check="check" in request.POST)
    except Refused as refusal:
        return _page(request, status=refusal.status, problems=[str(refusal)], typed=job.options)
    return _now_or_later(request, next_job)


def _now_or_later(request: HttpRequest, job: Job) -> HttpResponse:
    return _answer(request, job) if job.is_over else _to(request, reverse("new-study-reading", args=[job.pk]))


@require_GET
def template_file(request: HttpRequest, name: str) -> HttpResponse:
    """Admins of any study: a table with an example, to fill in."""
    _refuse_others(request)
    if name not in NAMES:
        raise Http404(_("There is no such template. There are: %(names)s.") % {"names": ", ".join(NAMES)})
    return file_response(template(name), "application/octet-stream", name)


@never_cache
@require_GET
def reading(request: HttpRequest, job_id: int) -> HttpResponse:
    """Whoever sent the files: how far they are read, and what came of it."""
    job = _own_job(request, job_id)
    if job.is_over:
        if request.htmx:  # type: ignore[attr-defined]  # the page asks how far it is: now there is another to show
            return HttpResponseClientRefresh()
        return _answer(request, job)
    return render(request, "annotation/transfer/reading.html", {"job": job})


@require_POST
def stop(request: HttpRequest, job_id: int) -> HttpResponse:
    """Whoever sent the files: they are read no further, and nothing is made."""
    job = _own_job(request, job_id)
    if not stop_reading(job):
        messages.warning(request, _("It was over already. Nothing was stopped."))
    return redirect("new-study-reading", job_id=job.pk)


def _refuse_others(request: HttpRequest) -> None:
    if not may_make_studies(user_of(request)):
        raise PermissionDenied(_("Studies are made by people who are the admin of one. Nothing was changed."))


def _own_job(request: HttpRequest, job_id: int) -> Job:
    _refuse_others(request)
    return get_object_or_404(Job, pk=job_id, kind=KIND, asked_by=user_of(request))


def _answer(request: HttpRequest, job: Job) -> HttpResponse:
    """What came of the files: the study's page, or what is in them, or what is wrong with them."""
    imported, problems, more = result_of(job)
    asked = {"typed": job.options, "tables": tables_of(job), "job": job}
    if imported is None:
        return _page(request, status=409, problems=problems, more=more, **asked)
    is_look = job.options["result"].get("is_look", job.options["check"])
    if is_look or not imported.changed:
        return _page(request, done=imported, checked=is_look, **asked)
    study = get_object_or_404(Study, name=imported.study)
    messages.success(request, _("“%(study)s” is made, and you are its admin.") % {"study": study})
    for sentence in imported.findings[:MOST_FINDINGS]:
        messages.warning(request, sentence)
    return _to(request, reverse("study", args=[study.slug]))


def _to(request: HttpRequest, address: str) -> HttpResponse:
    return HttpResponseClientRedirect(address) if request.htmx else redirect(address)  # type: ignore[attr-defined]


def _upload(request: HttpRequest) -> Upload:
    form = request.POST
    return Upload(
        name=form.get("name", "").strip(),
        files=request.FILES.getlist("files"),
        shape=form.get("shape", ""),
        scale=_scale(form.get("low", ""), form.get("high", "")),
        showing=Showing(truecase=bool(form.get("truecase"))),
    )


def _scale(low: str, high: str) -> tuple[float, float]:
    try:
        ends = float(low or 1), float(high or 5)
    except ValueError:
        ends = 0.0, 0.0
    if not -1e6 < ends[0] < ends[1] < 1e6:
        raise Refused(_("A scale goes from a lower to a higher number, such as 1 to 5. Nothing was made."))
    return ends


def _page(request: HttpRequest, status: int = 200, **results: object) -> HttpResponse:
    """The form, or for a page that is there already only what was found: so the files stay chosen."""
    shapes = [shape for shape in SHAPES.values() if shape.readable]
    context = {"typed": request.POST, "shapes": shapes, "most_files": MOST_FILES, "most_mb": MOST_MB, **results}
    context |= {"most_lines": MOST_LINES, "templates": NAMES, "kinds": KINDS, "save_anew": SAVE_ANEW}
    context |= {"separators": SEPARATORS.items(), "encodings": ENCODINGS.items()}
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "annotation/transfer/new_study_found.html", context)
    return render(request, "annotation/transfer/new_study.html", context, status=status)
