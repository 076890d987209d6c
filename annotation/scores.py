"""Metric scores of a study: computed by `scoring`, stored as rows."""

from collections.abc import Sequence

import pandas as pd
from django.db import transaction

from .models import Score, Study
from .transfer.folder import WHOLE_SYSTEM
from .transfer.frames import documents_frame, summaries_frame


def score_study(study: Study, metrics: Sequence[str]) -> int:
    """Score every summary with these metrics, replacing their old scores; returns the number of scores."""
    from scoring import evaluate

    frame = evaluate(summaries_frame(study), documents_frame(study), list(metrics))
    return store_scores(study, frame)


def store_scores(study: Study, frame: pd.DataFrame) -> int:
    """Write a scores table into the study; a metric that is there already is replaced as a whole."""
    documents = dict(study.documents.values_list("doc_id", "pk"))
    systems = {(name, group): key for key, name, group in study.systems.values_list("pk", "name", "group")}
    groups = frame["group"] if "group" in frame else [""] * len(frame)
    rows = [
        Score(
            study=study,
            document_id=None if doc == WHOLE_SYSTEM else documents[doc],
            system_id=systems[system, group],
            metric=metric,
            value=None if pd.isna(value) else value,
        )
        for doc, system, group, metric, value in zip(
            frame["doc_id"], frame["system"], groups, frame["metric"], frame["value"], strict=True
        )
    ]
    with transaction.atomic():
        study.scores.filter(metric__in=frame["metric"].unique()).delete()
        Score.objects.bulk_create(rows, batch_size=2000)
    return len(rows)
