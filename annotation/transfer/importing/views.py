"""A new study from files, for people without a shell."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods
from django_htmx.http import HttpResponseClientRedirect

from analysis.tables import TableError
from annotation.accounts.access import may_make_studies, user_of
from annotation.common.errors import Refused
from annotation.models import Study
from annotation.transfer.importing.study import Imported
from annotation.transfer.importing.truecase import Showing
from annotation.transfer.importing.uploads import MOST_FILES, MOST_MB, Upload, import_upload
from annotation.transfer.shapes import SHAPES

MOST_FINDINGS = 10


@never_cache
@require_http_methods(["GET", "POST"])
def new_study(request: HttpRequest) -> HttpResponse:
    """Admins of any study: files become a study of theirs; a POST with `check` only says what is in them."""
    if not may_make_studies(user_of(request)):
        raise PermissionDenied(_("Studies are made by people who are the admin of one. Nothing was changed."))
    if request.method == "GET":
        return _page(request)
    check = "check" in request.POST
    try:
        imported = import_upload(_upload(request), user_of(request), dry_run=check)
    except Refused as refusal:
        return _page(request, status=refusal.status, problems=[str(refusal)])
    except TableError as error:
        problems = [*map(str, error.problems), _("Nothing was made.")]
        return _page(request, status=409, problems=problems, more=error.total - len(error.problems))
    if check or not imported.changed:
        return _page(request, done=imported, checked=check)
    return _redirect_to(request, imported)


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
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "annotation/transfer/new_study_found.html", context)
    return render(request, "annotation/transfer/new_study.html", context, status=status)


def _redirect_to(request: HttpRequest, imported: Imported) -> HttpResponse:
    study = Study.objects.get(name=imported.study)
    request.made_study = study  # type: ignore[attr-defined]  # its record begins with this
    messages.success(request, _("“%(study)s” is made, and you are its admin.") % {"study": study})
    for sentence in imported.findings[:MOST_FINDINGS]:
        messages.warning(request, sentence)
    if request.htmx:  # type: ignore[attr-defined]
        return HttpResponseClientRedirect(reverse("study", args=[study.slug]))
    return redirect("study", slug=study.slug)
