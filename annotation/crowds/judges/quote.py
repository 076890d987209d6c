"""What asking a judge would cost, from counted tokens, and what speaks against it: nothing is spent."""

from dataclasses import dataclass
from math import ceil

from django.db.models import Avg
from django.utils.translation import gettext as _

from annotation import protocols
from annotation.common.errors import Refused
from annotation.crowds.markets.models.prices import cost, count_tokens, text_of
from annotation.crowds.markets.models.prompts import instructions_text, request_for
from annotation.judging.leases import draw_seed
from annotation.models import Assignment, Batch, Judge, JudgeCall, Task, Worker
from annotation.models.judges import MICROS_A_CENT
from annotation.protocols.model_question import ModelQuestion

COUNTED = 200
"""Tasks that are counted word by word; of more, as many evenly spread ones stand for all."""
LATEST = 50
"""Calls to the same model whose true counts correct ours."""
TOKENS_AN_ITEM, TOKENS_A_LIST = 8, 400
ROOM = 1.25
"""The cap that is proposed: room for answers that must be asked for again."""


@dataclass(frozen=True)
class JudgeQuote:
    tasks: int
    counted: int
    """Of which so many were counted."""
    calls: int
    tokens_in: int
    tokens_out: int
    micros: int
    example: dict[str, object]
    """The request of the first task, as it would be sent."""

    @property
    def cents(self) -> int:
        return -(-self.micros // MICROS_A_CENT)

    @property
    def proposed_cents(self) -> int:
        """The cap that the form proposes."""
        return ceil(self.micros * ROOM / MICROS_A_CENT)


def judge_worker(judge: Judge) -> Worker:
    """The worker that a judge is; not saved yet where it has never worked."""
    key = {"study": judge.study, "crowd": "models", "external_id": f"{judge.model[:180]} {judge.digest[:12]}"}
    return Worker.objects.filter(**key).first() or Worker(**key, pseudonym=judge.worker_name)


def question_of(judge: Judge, assignment: Assignment) -> ModelQuestion:
    """What the task asks of the judge. Refused where its protocol, or the kind of judge, has no way to."""
    protocol = protocols.of(assignment.task.batch)
    question = protocol.model_question(assignment)
    if question is None:
        raise Refused(_("%(protocol)s can't be asked of a model. Nothing was done.") % {"protocol": protocol.title})
    if judge.kind == Judge.Kind.NLI and not question.premise:
        raise Refused(
            _("%(protocol)s is no question of entailment, so a model of that kind can't answer it. Nothing was done.")
            % {"protocol": protocol.title}
        )
    return question


def preview(judge: Judge, task: Task) -> dict[str, object]:
    """What the judge would be sent for this task."""
    assignment = _as_seen(judge_worker(judge), task)
    question = question_of(judge, assignment)
    return request_for(judge, assignment, question, question.items, instructions=instructions_text(task.batch))


def quote_judge(judge: Judge, batch: Batch) -> JudgeQuote:
    """The price of asking the judge every task of the batch."""
    n_tasks, samples = batch.tasks.count(), int(judge.options["samples"])
    if not n_tasks:
        raise Refused(_("“%(batch)s” has no tasks.") % {"batch": batch})
    keys = list(batch.tasks.order_by("pk").values_list("pk", flat=True))[:: max(1, n_tasks // COUNTED)]
    worker, instructions = judge_worker(judge), instructions_text(batch)
    tokens_in = tokens_out = 0
    example: dict[str, object] = {}
    factor, usual_out = _experience(judge, batch.protocol)
    for task in Task.objects.filter(pk__in=keys).select_related("document", "summary").order_by("pk"):
        task.batch = batch
        assignment = _as_seen(worker, task)
        question = question_of(judge, assignment)
        request = request_for(judge, assignment, question, question.items, instructions=instructions)
        example = example or request
        tokens_in += count_tokens(text_of(request))
        tokens_out += TOKENS_AN_ITEM * len(question.items) if question.values else TOKENS_A_LIST
    scale = n_tasks * samples / len(keys)
    total_in = round(tokens_in * scale * factor)
    total_out = round(usual_out * n_tasks * samples) if usual_out else round(tokens_out * scale)
    return JudgeQuote(
        tasks=n_tasks,
        counted=len(keys),
        calls=n_tasks * samples,
        tokens_in=total_in,
        tokens_out=total_out,
        micros=cost(judge, total_in, total_out),
        example=example,
    )


def _as_seen(worker: Worker, task: Task) -> Assignment:
    """The task as this judge will see it, with its order; not saved."""
    return Assignment(task=task, worker=worker, seed=draw_seed(task, task.batch, worker))


def _experience(judge: Judge, protocol: str) -> tuple[float, float | None]:
    """By the last calls to the same model in this study: its true count for one of ours, and tokens out per call."""
    calls = JudgeCall.objects.filter(
        run__judge__study=judge.study_id, run__judge__model=judge.model, state="answered", tokens_in__gt=0
    ).order_by("-pk")
    rows = list(calls.values_list("request", "tokens_in")[:LATEST])
    ours = sum(count_tokens(text_of(request)) for request, _tokens in rows)
    same = calls.filter(run__batch__protocol=protocol, attempt=1).values_list("pk", flat=True)[:LATEST]
    out = JudgeCall.objects.filter(pk__in=list(same)).aggregate(mean=Avg("tokens_out"))["mean"]
    return (sum(tokens or 0 for _request, tokens in rows) / ours if ours else 1.0), out
