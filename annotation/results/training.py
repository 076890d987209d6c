"""Training a metric on a study's own people, from the Metrics page: S3, or a regression over the scored metrics."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.tables import write_table
from annotation.common.errors import Refused
from annotation.jobs import Progress, kind
from annotation.models import Job, Study
from annotation.tables.frames import documents_frame, summaries_frame
from annotation.tables.trusted import of_systems

from .report import human_measures_of
from .scoring_job import CACHE, score_study

TRAINABLE = {
    "learned": gettext_lazy("a regression over the metrics scored so far"),
    "s3-pyr": gettext_lazy("S3, pyramid"),
    "s3-resp": gettext_lazy("S3, responsiveness"),
}
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,40}")
KEY = "SCORING_MODELS"


def checked_training(study: Study, form: Mapping[str, str]) -> dict[str, str]:
    """What is to be trained, from the form; Refused says what is wrong."""
    trained_kind, name = form.get("kind", ""), form.get("model", "").strip()
    if trained_kind not in TRAINABLE:
        raise Refused(_("Choose what is to be trained. Nothing was started."))
    if not NAME.fullmatch(name):
        raise Refused(_("A model's name has small letters, digits and hyphens, such as “mine-1”. Nothing was started."))
    if (model_folder() / f"{study.slug}-{name}.json").exists():
        raise Refused(_("There is a model of this name already. Nothing was started: choose another."))
    return {"kind": trained_kind, "model": f"{study.slug}-{name}"}


def model_folder() -> Path:
    """Where models are kept and found by their names."""
    return Path(os.environ.get(KEY) or settings.HOME / "models")


@kind("train")
def train_job(job: Job, progress: Progress) -> str:
    """Train on the trusted human scores, keep the model, score the study with it, and say what it is worth."""
    from scoring import ScoringError

    os.environ.setdefault(KEY, str(model_folder()))  # where a metric looks for models by name
    try:
        verdict = train_on(job.study, job.options["kind"], job.options["model"], progress)
        metric = f"{job.options['kind']}[model={job.options['model']}]"
        score_study(job.study, [metric], progress)
    except ScoringError as error:
        raise Refused(f"{error} Nothing was kept.") from None
    return f"{metric} is trained and scored. {verdict}"


def train_on(study: Study, trained_kind: str, name: str, progress: Progress) -> str:
    """Write the model's file; returns what it is worth on documents that it had not seen."""
    from scoring.learned.examples import collect
    from scoring.learned.model_file import write_model
    from scoring.learned.train import Settings, train
    from scoring.metrics.s3 import FEATURES

    scores, measures = human_measures_of(study)
    if not measures:
        raise Refused(_("Nobody has judged yet, so there is nothing to learn from. Nothing was kept."))
    metrics = [] if trained_kind == "learned" else list(FEATURES)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        usable = scores[~scores["metric"].isin(measures[1:])].dropna(subset=["value"])
        write_table(usable[["doc_id", "system", "metric", "value"]], folder / "scores.csv", "scores")
        write_table(of_systems(summaries_frame(study)), folder / "summaries.jsonl", "summaries")
        write_table(documents_frame(study), folder / "documents.jsonl", "documents")
        texts = (folder / "summaries.jsonl", folder / "documents.jsonl")
        examples = collect([folder / "scores.csv"], measures[0], metrics, texts, cache=CACHE, progress=progress)
    trained = train(examples, Settings(measures[0]), name, trained_kind)
    model_folder().mkdir(parents=True, exist_ok=True)
    write_model(trained.model, model_folder() / f"{name}.json")
    return trained.verdict
