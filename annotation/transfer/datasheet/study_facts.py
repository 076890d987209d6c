"""What the platform knows of a study, counted once for both sheets."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any

from django.db.models import Avg, Count, Max, Min

from annotation.common.text import plain
from annotation.guidance import newest_text
from annotation.jobs.page_cache import study_mark
from annotation.models import (
    REFERENCE_GROUP,
    Assignment,
    Batch,
    FilterDecision,
    GuidanceText,
    Reference,
    StoredResult,
    Study,
    Summary,
    Worker,
)
from annotation.models.attention import totals
from annotation.models.work import MODEL_ROLE, counted
from annotation.studies.progress import StudyState, study_state


@dataclass(frozen=True)
class Facts:
    """Everything the sheets say about a study."""

    study: Study
    state: StudyState
    groups: list[str]
    protocols: list[str]
    batches: list[Batch]
    workers_by_role: dict[str, int]
    models: int
    """Models that judged beside people; nothing else here speaks of their answers."""
    crowds: list[str]
    assignments: int
    per_summary: float | None
    """Assignments that count, per summary with_work on its own."""
    minutes: float | None
    """Median active minutes of an assignment, where the page measured them."""
    first: datetime | None
    last: datetime | None
    rewards: list[int]
    """What a place pays, in cents, by batch."""
    filter: FilterDecision | None
    agreement: list[dict[str, Any]]
    """The Quality page's rows, where that page has been made for the data as they stand."""
    instructions: dict[str, GuidanceText]
    consent: GuidanceText | None
    consents: int
    plans: list[Any]
    checks: int
    words: dict[str, float]
    """Mean length in words of sources, references and summaries, from the first hundred of each."""

    @property
    def judged_here(self) -> bool:
        """Whether anybody with_work on this site. What happened elsewhere is for others to say."""
        return any(crowd != Worker.IMPORTED for crowd in self.crowds)


def sentence(words: str) -> str:
    """With a capital and a full stop; nothing stays nothing."""
    return f"{words[:1].upper()}{words[1:]}." if words else ""


def facts_of(study: Study) -> Facts:
    everything = Assignment.objects.filter(counted(), task__batch__study=study)
    work = everything.exclude(task__batch__role=MODEL_ROLE)
    times = work.aggregate(first=Min("submitted_at"), last=Max("submitted_at"))
    batches = [batch for batch in study.batches.exclude(role=MODEL_ROLE).order_by("pk") if batch.protocol]
    with_work = [batch for batch in batches if work.filter(task__batch=batch).exists()] or batches
    protocols = sorted({batch.protocol for batch in with_work})
    instructions = {name: newest_text(study, GuidanceText.Kind.INSTRUCTIONS, name) for name in protocols}
    consent = newest_text(study, GuidanceText.Kind.CONSENT)
    state = study_state(study)
    return Facts(
        study=study,
        state=state,
        groups=sorted(set(study.systems.exclude(group="").values_list("group", flat=True)) - {REFERENCE_GROUP}),
        protocols=protocols,
        batches=with_work,
        workers_by_role=_workers_by_role(work),
        models=_workers_by_role(everything).get(MODEL_ROLE, 0),
        crowds=sorted(set(Worker.objects.filter(study=study, assignments__in=work).values_list("crowd", flat=True))),
        assignments=work.count(),
        per_summary=_per_summary(study),
        minutes=_minutes(work),
        first=times["first"],
        last=times["last"],
        rewards=sorted({batch.terms["reward_cents"] for batch in with_work if (batch.terms or {}).get("reward_cents")}),
        filter=study.filter_in_force(),
        agreement=_agreement(study),
        instructions={name: text for name, text in instructions.items() if text},
        consent=consent,
        consents=consent.consents.count() if consent else 0,
        plans=list(study.practice_plans.filter(protocol__in=protocols)),
        checks=state.checks,
        words=_words(study),
    )


def _workers_by_role(work: Any) -> dict[str, int]:
    pairs = set(work.values_list("task__batch__role", "worker"))
    return dict(sorted(Counter(role for role, _ in pairs).items()))


def _per_summary(study: Study) -> float | None:
    assignments = Assignment.objects.filter(counted(), task__batch__study=study, task__summary__isnull=False)
    assignments = assignments.exclude(task__batch__role=MODEL_ROLE)
    counts = assignments.values("task__summary", "task__batch__role").annotate(n=Count("pk")).aggregate(mean=Avg("n"))
    return None if counts["mean"] is None else float(counts["mean"])


TIMED = 1000
"""So many of the newest assignments tell how long one takes."""


def _minutes(work: Any) -> float | None:
    recorded = work.exclude(signals={}).order_by("-pk").values_list("signals", flat=True)[:TIMED]
    measured = [totals(signals).active_seconds for signals in recorded]
    return median(measured) / 60 if measured else None


def _agreement(study: Study) -> list[dict[str, Any]]:
    page = StoredResult.objects.filter(study=study, name="quality", mark=study_mark(study)).first()
    blocks = page.content.get("protocols", []) if page else []
    return [{"protocol": block["name"], **row} for block in blocks for row in block["agreement"]]


def _words(study: Study) -> dict[str, float]:
    summaries = Summary.objects.filter(document__study=study).exclude(system__group=REFERENCE_GROUP)
    samples = {
        "source": study.documents.values_list("source", flat=True),
        "reference": Reference.objects.filter(document__study=study).values_list("text", flat=True),
        "summary": summaries.values_list("text", flat=True),
    }
    lengths = {
        name: [len(plain(text).split()) for text in sample.order_by("pk")[:100]] for name, sample in samples.items()
    }
    return {name: sum(sample) / len(sample) for name, sample in lengths.items() if sample}
