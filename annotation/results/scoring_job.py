"""Metric scores of a study: computed by `scoring`, stored as rows, each metric with the signature of its making."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from django.conf import settings
from django.db import transaction

from analysis.lazy import pandas as pd
from annotation.jobs import Progress, kind
from annotation.models import WHOLE_SYSTEM, Job, MetricRun, Score, Study
from annotation.tables.frames import documents_frame, summaries_frame
from annotation.tables.trusted import of_systems

CACHE = Path(settings.HOME) / "scores"


@kind("score")
def score_job(job: Job, progress: Progress) -> str:
    count = score_study(job.study, job.options["metrics"], progress)
    return f"{count:,} scores are stored."


def score_study(study: Study, metrics: Sequence[str], progress: Progress | None = None) -> int:
    """Score every summary with these metrics, replacing their old scores; returns the number of scores."""
    from scoring import evaluate

    frame = evaluate(
        of_systems(summaries_frame(study)), documents_frame(study), list(metrics), cache=CACHE, progress=progress
    )
    return store_scores(study, frame, frame.attrs["signatures"])


def store_scores(study: Study, frame: pd.DataFrame, signatures: dict[str, str]) -> int:
    """Write a scores table into the study; a metric that is there already is replaced as a whole."""
    documents = dict(study.documents.values_list("doc_id", "pk"))
    systems = {(name, group): key for key, name, group in study.systems.values_list("pk", "name", "group")}
    groups = frame["group"] if "group" in frame else [""] * len(frame)
    marks = frame["is_reference"] if "is_reference" in frame else [False] * len(frame)
    rows = [
        Score(
            study=study,
            document_id=None if doc == WHOLE_SYSTEM else documents[doc],
            system_id=systems[system, group],
            metric=metric,
            value=None if pd.isna(value) else value,
            extra={"is_reference": True} if is_own else {},
        )
        for doc, system, group, metric, value, is_own in zip(
            frame["doc_id"], frame["system"], groups, frame["metric"], frame["value"], marks, strict=True
        )
    ]
    with transaction.atomic():
        study.scores.filter(metric__in=signatures).delete()
        study.metric_runs.filter(metric__in=signatures).delete()
        Score.objects.bulk_create(rows, batch_size=2000)
        MetricRun.objects.bulk_create(
            MetricRun(study=study, metric=metric, signature=signature) for metric, signature in signatures.items()
        )
    return len(rows)
