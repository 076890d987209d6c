"""Asking a judge the tasks of a batch: a batch of its own, with the same tasks, and a cap on what it may cost."""

from django.db import transaction
from django.utils.translation import gettext as _

from annotation import protocols
from annotation.common.errors import Refused
from annotation.crowds.ledger import within_budget
from annotation.crowds.markets.models import Models, check_judge
from annotation.guidance.pinning import pin
from annotation.models import Batch, Judge, JudgeRun, Study, Task, User
from annotation.models.judges import MICROS_A_CENT
from annotation.models.work import MODEL_ROLE

from .money import MOST_CENTS, promise_cap
from .quote import JudgeQuote, quote_judge

CHUNK = 2000


def batches_to_ask(study: Study) -> list[Batch]:
    """Batches whose tasks a judge can be asked: people's own, of a protocol that knows how."""
    rows = study.batches.exclude(role=MODEL_ROLE).filter(protocol__in=protocols.PROTOCOLS).order_by("-pk")
    return [batch for batch in rows if "round_of" not in batch.options]


def launch_judge(judge: Judge, source: Batch, cap_cents: int, asked_by: User | None) -> JudgeRun:
    """Make the batch and open it. Refused, with nothing made and nothing spent, for all that can be known before."""
    if source.role == MODEL_ROLE or source.study_id != judge.study_id:
        raise Refused(_("A judge is asked what people are asked: choose a batch of people. Nothing was done."))
    if not 0 <= cap_cents <= MOST_CENTS:
        raise Refused(_("The cap must be an amount from 0 to 10,000. Nothing was done."))
    quote = quote_judge(judge, source)
    if cap_cents * MICROS_A_CENT < quote.micros:
        raise Refused(_("The cap is below the quote, so the run could not end. Nothing was done: raise it."))
    check_judge(judge)
    with within_budget(judge.study):
        batch = _copy(judge, source)
        run = _run(judge, batch, quote, cap_cents)
        promise_cap(batch, cap_cents, asked_by)
        pin(batch)
        Batch.objects.filter(pk=batch.pk).update(state=Batch.State.OPEN)
    batch.refresh_from_db()
    return run


def _run(judge: Judge, batch: Batch, quote: JudgeQuote, cap_cents: int) -> JudgeRun:
    return JudgeRun.objects.create(
        batch=batch,
        judge=judge,
        quoted_micros=quote.micros,
        quoted_in=quote.tokens_in,
        quoted_out=quote.tokens_out,
        cap_micros=cap_cents * MICROS_A_CENT,
    )


def _copy(judge: Judge, source: Batch) -> Batch:
    """A batch with the same tasks, one answer each; what they ask is pinned as it is there."""
    with transaction.atomic():
        batch = Batch.objects.create(
            study=source.study,
            name=_free_name(source.study, f"{source.name[:120]} · {judge}"),
            protocol=source.protocol,
            role=MODEL_ROLE,
            crowd=Models.name,
            scale_min=source.scale_min,
            scale_max=source.scale_max,
            options=source.options,
            instructions=None if source.state == Batch.State.DRAFT else source.instructions,
            state=Batch.State.DRAFT if source.state == Batch.State.DRAFT else Batch.State.PAUSED,
        )
        rows = source.tasks.order_by("pk").values_list("document_id", "summary_id", "part", "pinned")
        Task.objects.bulk_create(
            [
                Task(batch=batch, document_id=document, summary_id=summary, part=part, pinned=pinned)
                for document, summary, part, pinned in rows
            ],
            batch_size=CHUNK,
        )
    return batch


def _free_name(study: Study, stem: str) -> str:
    names = set(study.batches.filter(name__startswith=stem).values_list("name", flat=True))
    return next(name for n in range(1, 10**4) if (name := stem if n == 1 else f"{stem} ({n})") not in names)
