"""The stage of a rehearsal: a copy of the study's texts, a batch, and its terms. The study itself is not touched."""

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from analysis.tables import write_table
from annotation import protocols
from annotation.crowds.terms import LENGTHS, Terms
from annotation.models import (
    REFERENCE_GROUP,
    Assignment,
    Batch,
    Document,
    Membership,
    PracticeItem,
    Study,
    Summary,
    Task,
)
from annotation.studies.batches import create_batch
from annotation.studies.selection import Selection
from annotation.tables.frames import documents_frame, scus_frame, summaries_frame
from annotation.transfer.importing.study import import_study

from .characters import USUAL

RULES = ("checks", "time", "straightlining", "worker-agreement")
FOR_REAL_WORKERS = ("requirements", "exclude_batches", "preset")
TABLES = {"documents.jsonl": documents_frame, "summaries.jsonl": summaries_frame, "scus.csv": scus_frame}


@dataclass(frozen=True)
class Plan:
    """What to rehearse."""

    study: Study
    seed: int = 0
    crowd: str = USUAL
    protocol: str = "litepyramid"
    quota: int = 3
    documents: int | None = None
    """Only the first so many documents; None: all."""
    reward_cents: int = 20
    question: str = "external"
    duration_seconds: int = 60
    rules: tuple[str, ...] = RULES
    reject_caught: bool = True
    bonus_cents: int = 10
    at_once: int = 6
    like: Batch | None = None
    """A batch of the study that is rehearsed as it is: its protocol, options, answers per task, and terms."""


def plan_like(plan: Plan) -> Plan:
    """The plan with what the batch that is rehearsed says of itself."""
    batch = plan.like
    if batch is None:
        return plan
    terms = {name: batch.terms[name] for name in ("reward_cents", "question") if name in batch.terms}
    quota = batch.tasks.order_by("pk").values_list("quota", flat=True).first() or plan.quota
    return replace(plan, protocol=batch.protocol, quota=quota, **terms)


def copy_study(study: Study, seed: int) -> Study:
    """A new study with the same texts, SCUs and instructions, and the same people; no judgments, no scores."""
    names = set(Study.objects.values_list("name", flat=True))
    stem = f"Rehearsal of {study.name}"[:180]
    name = next(candidate for n in range(1, 10**6) if (candidate := f"{stem}, seed {seed}, no. {n}") not in names)
    with tempfile.TemporaryDirectory() as place:
        for file, read in TABLES.items():
            kind, frame = file.partition(".")[0], read(study)
            if kind == "summaries" and "group" in frame:
                frame = frame[frame["group"] != REFERENCE_GROUP]
            if "retired_in" in frame:
                frame = frame[frame["retired_in"].isna()].drop(columns="retired_in")
            if len(frame):
                write_table(frame.reset_index(drop=True), Path(place) / file, kind)
        import_study(Path(place), name)
    copy = Study.objects.get(name=name)
    Study.objects.filter(pk=copy.pk).update(currency=study.currency, minimum_wage_cents=study.minimum_wage_cents)
    for member in study.memberships.all():
        Membership.objects.create(study=copy, user=member.user, role=member.role)
    for text in study.guidance.order_by("pk"):
        text.pk, text.study = None, copy  # saved as a row of its own
        text.save()
    _copy_practice(study, copy)
    copy.refresh_from_db()
    return copy


def _copy_practice(study: Study, copy: Study) -> None:
    """Tutorial and test, on the copy's own summaries; without what is asked on references."""
    rows = Summary.objects.filter(document__study=copy).select_related("document", "system")
    summaries = {(row.document.doc_id, row.system.name, row.system.group): row for row in rows}
    for plan in study.practice_plans.order_by("pk"):
        items = list(plan.items.filter(retired_at=None).select_related("summary__document", "summary__system"))
        plan.pk, plan.study = None, copy
        plan.save()
        for item in items:
            key = (item.summary.document.doc_id, item.summary.system.name, item.summary.system.group)
            if key in summaries:
                item.pk, item.plan, item.summary = None, plan, summaries[key]
                item.save()


def prepare(plan: Plan, study: Study) -> tuple[Batch, Terms]:
    """The batch of a rehearsal, and what it offers: open to new accounts, with short times."""
    if plan.documents is not None:
        keep = list(study.documents.order_by("doc_id").values_list("pk", flat=True)[: plan.documents])
        practised = PracticeItem.objects.filter(plan__study=study).values("summary__document")
        Document.objects.filter(study=study).exclude(pk__in=keep).exclude(pk__in=practised).delete()
    batch = create_batch(
        study, "Rehearsal", plan.protocol, plan.quota, _options(plan), crowd="mturk", judged=_judged(plan, study)
    )
    return batch, Terms.parse(_terms(plan, f"Rehearsal {study.pk}-{batch.pk}"))


def _terms(plan: Plan, name: str) -> dict[str, Any]:
    """Those of the batch that is rehearsed, open to new accounts and with short times; otherwise usual ones."""
    own_terms = plan.like.terms if plan.like is not None else {}
    values = {name: value for name, value in own_terms.items() if name not in FOR_REAL_WORKERS}
    return {
        "description": "A rehearsal with simulated workers, for play money.",
        "keywords": "rehearsal, simulated",
        "auto_approve_seconds": 7 * 24 * 3600,
        "minutes": 2,
        **values,
        "title": f"{name}: {own_terms.get('title') or 'judge a summary'}"[: LENGTHS["title"]],
        "lifetime_seconds": 3600,
        **{name: getattr(plan, name) for name in ("reward_cents", "duration_seconds", "question")},
    }


def _options(plan: Plan) -> dict[str, Any]:
    """Those of the batch that is rehearsed; otherwise the usual ones with check items."""
    if plan.like is not None:
        return {name: value for name, value in plan.like.options.items() if name != "judged"}
    return {"seed": plan.seed, **protocols.get(plan.protocol).rehearsal_options()}


def _judged(plan: Plan, study: Study) -> Selection:
    """The documents and systems of the batch that is rehearsed: the copy has no scores to choose them by again."""
    tasks = plan.like.tasks.order_by("pk") if plan.like else Task.objects.none()
    documents = list(tasks.values_list("document__doc_id", flat=True))
    if plan.documents is not None:
        documents = list(study.documents.order_by("doc_id").values_list("doc_id", flat=True)[: plan.documents])
    systems = tasks.exclude(summary=None).values_list("summary__system__name", flat=True)
    return Selection(documents=list(dict.fromkeys(documents)), systems=list(dict.fromkeys(systems)))


def left_to_spend(study: Study) -> int | None:
    """What is left of the real study's budget, which a rehearsal keeps to; None where it has none."""
    study.refresh_from_db(fields=["budget_cents", "committed_cents"])
    return None if study.budget_cents is None else max(0, study.budget_cents - study.committed_cents)


def judged_batches(plan: Plan) -> list[Batch]:
    """Batches of the real study that say what is right."""
    finished = Assignment.objects.counted().filter(task__batch__study=plan.study, task__batch__protocol=plan.protocol)
    return list(Batch.objects.filter(pk__in=finished.values("task__batch")))
