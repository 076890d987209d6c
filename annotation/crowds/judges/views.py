"""The pages of a study's judges: describe one, preview it on a task, see its price, ask it, look at its run."""

import json
from collections.abc import Iterator
from typing import Any

from django.contrib import messages
from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods

from annotation.accounts.access import study_for, user_of
from annotation.common.error_pages import answers_refusals
from annotation.common.errors import Refused
from annotation.common.money import money, to_cents
from annotation.common.parsing import parse_int
from annotation.crowds.markets.models.versions import PROMPT, JudgeForm, keep_judge
from annotation.jobs import stop_job
from annotation.models import Batch, Judge, JudgeRun, Role, Study, Task

from .jobs import decide_doubtful, last_run_job, start_run
from .launch import batches_to_ask, launch_judge
from .money import raise_cap
from .pages import call_rows, exact_amount, last_calls, runs_of, usage_of
from .quote import preview, quote_judge

PREVIEWED = 50


@require_http_methods(["GET", "POST"])
@answers_refusals
def judges(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins: the study's judges and their runs; a POST keeps a new judge, or a new version. Others get 403."""
    study = study_for(request, slug, Role.ADMIN)
    problem = ""
    if request.method == "POST":
        try:
            judge = keep_judge(study, request.POST.dict(), user_of(request))
        except Refused as refusal:
            problem = str(refusal)
        else:
            messages.success(request, _("%(judge)s is kept. Nothing was asked yet.") % {"judge": judge})
            return redirect("judge", slug=slug, judge_id=judge.pk)
    source = study.judges.filter(pk=parse_int(request.GET.get("from", ""))).first()
    form = JudgeForm(request.POST) if request.method == "POST" else JudgeForm(initial=_values(source))
    context = {"study": study, "step": "collect", "form": form, "problem": problem, "source": source}
    context |= {"judges": study.judges.select_related("made_by"), "runs": runs_of(study)}
    return render(request, "annotation/crowds/judges/judges.html", context, status=422 if problem else 200)


def _values(judge: Judge | None) -> dict[str, Any]:
    """A version as the form shows it, to make the next one from; the defaults without one."""
    if judge is None:
        return {
            "prompt": PROMPT,
            **{name: field.initial for name, field in JudgeForm.base_fields.items() if field.initial},
        }
    names = ("name", "kind", "endpoint", "model", "prompt", "price_in", "price_out", "own_system")
    return {**{name: getattr(judge, name) for name in names}, **judge.options}


@require_http_methods(["GET", "POST"])
@answers_refusals
def judge(request: HttpRequest, slug: str, judge_id: int) -> HttpResponse:
    """Admins: one version, as it would be asked a task of a batch, and its price; a POST asks it. Others get 403."""
    study = study_for(request, slug, Role.ADMIN)
    version = get_object_or_404(study.judges, pk=judge_id)
    batches = batches_to_ask(study)
    values = request.POST if request.method == "POST" else request.GET
    source = next((batch for batch in batches if str(batch.pk) == values.get("batch")), None)
    context: dict[str, Any] = {
        "study": study,
        "step": "collect",
        "judge": version,
        "batches": batches,
        "source": source,
    }
    try:
        if source is not None:
            context |= _asked(version, source, values.get("task", ""))
            context["cap"] = values.get("cap") or money(context["quote"].proposed_cents)
        if source is not None and request.method == "POST":
            return _launch(request, version, source)
    except (Refused, ValueError) as refusal:
        context["problem"] = str(refusal)
    status = 422 if context.get("problem") else 200
    return render(request, "annotation/crowds/judges/judge.html", context, status=status)


def _asked(version: Judge, source: Batch, task_id: str) -> dict[str, Any]:
    tasks = source.tasks.select_related("document", "summary", "batch__study").order_by("pk")
    task: Task | None = tasks.filter(pk=parse_int(task_id)).first() or tasks.first()
    quote = quote_judge(version, source)
    request = preview(version, task) if task else {}
    return {
        "quote": quote,
        "quoted": exact_amount(quote.micros),
        "tasks": tasks[:PREVIEWED],
        "task": task,
        "messages_sent": request.get("messages", []),
        "claims": request.get("claims", {}),
        "request": json.dumps({k: v for k, v in request.items() if k not in ("messages", "claims")}, indent=1),
    }


def _launch(request: HttpRequest, version: Judge, source: Batch) -> HttpResponse:
    run = launch_judge(version, source, to_cents(request.POST.get("cap") or "0"), user_of(request))
    start_run(run, user_of(request))
    return redirect("judge-run", slug=version.study.slug, batch_id=run.batch_id)


def _run_of(study: Study, batch_id: int) -> JudgeRun:
    runs = JudgeRun.objects.select_related("judge", "batch__study")
    return get_object_or_404(runs, batch=batch_id, batch__study=study)


@require_http_methods(["GET", "POST"])
@answers_refusals
def judge_run(request: HttpRequest, slug: str, batch_id: int) -> HttpResponse:
    """Admins: how far a run is and what it used; a POST goes on, stops it, or raises its cap. Others get 403."""
    study = study_for(request, slug, Role.ADMIN)
    run = _run_of(study, batch_id)
    if request.method == "POST":
        _act(request, run)
        return redirect("judge-run", slug=slug, batch_id=batch_id)
    done = run.batch.tasks.filter(assignments__state="submitted").distinct().count()
    context = {"study": study, "step": "collect", "run": run, "usage": usage_of(run), "job": last_run_job(run)}
    context |= {"calls": last_calls(run), "done": done, "total": run.batch.tasks.count()}
    return render(request, "annotation/crowds/judges/run.html", context)


def _act(request: HttpRequest, run: JudgeRun) -> None:
    action, user = request.POST.get("action", ""), user_of(request)
    if action == "go":
        start_run(run, user)
    elif action == "stop":
        if (job := last_run_job(run)) is not None and stop_job(job):
            messages.success(request, _("It stops as soon as the calls under way have been answered."))
    elif action == "cap":
        try:
            raise_cap(run, to_cents(request.POST.get("more", "")), user)
        except ValueError as error:
            raise Refused(_("%(error)s Nothing was changed.") % {"error": error}) from None
        messages.success(request, _("The cap is raised."))
    elif action in ("billed", "unbilled"):
        n_calls = decide_doubtful(run, was_billed=action == "billed")
        sentence = ngettext("%(n)d question is asked again.", "%(n)d questions are asked again.", n_calls)
        messages.success(request, sentence % {"n": n_calls})
        start_run(run, user)
    else:
        raise Refused(_("There is no such action. Nothing was changed."))


@require_GET
@answers_refusals
def judge_calls(request: HttpRequest, slug: str, batch_id: int) -> HttpResponse | StreamingHttpResponse:
    """Admins: every question and answer of a run, whole, as a file of JSON lines. Others get 403."""
    run = _run_of(study_for(request, slug, Role.ADMIN), batch_id)

    def lines() -> Iterator[str]:
        for row in call_rows(run):
            yield json.dumps(row, cls=DjangoJSONEncoder, ensure_ascii=False) + "\n"

    headers = {"Content-Disposition": f'attachment; filename="{slug}-judge-{batch_id}.jsonl"'}
    return StreamingHttpResponse(lines(), content_type="application/jsonl; charset=utf-8", headers=headers)
