"""What the Metrics pages show: which metrics there are, what each system scored, and how one score came about."""

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils.translation import gettext

from annotation.common import libraries
from annotation.common.errors import Refused
from annotation.common.private import is_foreign_place
from annotation.common.text import natural_key
from annotation.jobs import Progress, kind
from annotation.models import WHOLE_SYSTEM, Job, Study, Summary
from annotation.tables.frames import documents_frame, scores_frame, summaries_frame
from annotation.tables.records import records
from annotation.tables.trusted import of_systems

from .metric_families import SETS, MetricSet, known_family, seconds_for

if TYPE_CHECKING:
    from scoring.base import Metric

RESAMPLES = 1000
SORTS = {"system": ("system", True), "mean": ("value", False), "n": ("n", False)}


@dataclass(frozen=True)
class Choice:
    """A family of metrics that can be ticked."""

    title: str
    names: tuple[str, ...]
    citation: str
    missing: str  # what this machine lacks for it; empty when ready
    options: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return known_family(self.names).name

    @property
    def usual(self) -> list[str]:
        """The scores that people usually report."""
        return [name for name in self.names if name in known_family(self.names).usual]

    @property
    def others(self) -> list[str]:
        return [name for name in self.names if name not in known_family(self.names).usual]


@dataclass(frozen=True)
class SetChoice:
    """A ready-made set: what of it can be computed here, what not, and about how long it takes."""

    key: str
    title: Any
    metrics: list[str]
    missing: list[str]
    minutes: int


def set_choices(families: list[Choice], summaries: int) -> list[SetChoice]:
    """The ready-made sets, for so many summaries."""
    family_of = {name: family for family in families for name in family.names}
    return [_set_choice(entry, family_of, summaries) for entry in SETS]


def _set_choice(entry: MetricSet, family_of: dict[str, Choice], summaries: int) -> SetChoice:
    ready = [name for name in entry.metrics if name in family_of and not family_of[name].missing]
    needed = {family_of[name].names for name in ready}
    minutes = ceil(seconds_for(needed, summaries) / 60)
    return SetChoice(entry.key, entry.title, ready, [name for name in entry.metrics if name not in ready], minutes)


def choices() -> list[Choice]:
    """Every registered family, ready or not."""
    from scoring import registry

    families = {id(registry.get(name).family.description): registry.get(name) for name in registry.known()}
    return [
        Choice(
            metric.family.description.title,
            metric.family.description.names,
            metric.family.description.citation,
            "" if (ready := metric.ready()).ok else ready.missing,
            tuple(option.name for option in metric.family.description.options),
        )
        for metric in families.values()
    ]


def model_libraries() -> libraries.State | None:
    """How the libraries of the metrics with models stand here; None where they are all here."""
    state = libraries.state("models")
    return None if state.ready else state


@kind("libraries")
def bring_libraries(job: Job, progress: Progress) -> str:
    """Install what the metrics with models need, where the operator allows it."""
    try:
        libraries.bring("models", progress)
    except libraries.NotInstalled as problem:
        raise Refused(str(problem)) from None
    return "The metrics with models are ready."


def checked_metrics(text: str, ticked: list[str]) -> list[str]:
    """The metrics a person asked for, in canonical form; Refused with the scoring's own sentence otherwise."""
    from scoring import ScoringError, registry

    names = [*ticked, *([text] if text.strip() else [])]
    if not names:
        raise Refused(gettext("Choose at least one metric. Nothing was started."))
    try:
        metrics = registry.parse(names)
        for metric in metrics:
            _refuse_foreign_folders(metric)
            metric.require_ready()
    except ScoringError as error:
        raise Refused(gettext("%(error)s Nothing was started.") % {"error": error}) from None
    return [metric.name for metric in metrics]


def _refuse_foreign_folders(metric: "Metric") -> None:
    """A metric's options may name folders and files; here only those that the operator allows (MODEL_FOLDERS)."""
    for value in metric.family.options.values():
        if isinstance(value, str) and is_foreign_place(value, settings.MODEL_FOLDERS):
            raise Refused(
                gettext(
                    "“%(place)s” is in no folder that models are read from on this site. Nothing was started: name a "
                    "model, or ask whoever runs the site to add its folder to MODEL_FOLDERS."
                )
                % {"place": value[:100]}
            )


def scored_metrics(study: Study) -> list[dict[str, Any]]:
    """The metrics that have scores, with signature and number of scores: two queries."""
    from django.db.models import Count, Q

    from analysis.correlate.score_cube import HUMAN

    runs = {run.metric: run for run in study.metric_runs.all()}
    given_by_people = Count("pk", filter=Q(extra__role=HUMAN))
    counts = study.scores.values("metric").annotate(n=Count("pk"), defined=Count("value"), human=given_by_people)
    return [
        {
            **row,
            "undefined": row["n"] - row["defined"],
            "role": HUMAN if row["human"] else "",
            "run": runs.get(row["metric"]),
        }
        for row in counts.order_by("metric")
    ]


def current_job(study: Study) -> Job | None:
    """The newest job that this page starts, while it matters."""
    return study.jobs.filter(kind__in=("score", "libraries", "train")).first()


@dataclass(frozen=True)
class MetricPage:
    """One metric of a study: a row per system, and the distribution as a chart."""

    metric: str
    run: Any
    rows: list[dict[str, Any]]
    chart: str
    spread: str
    documents: list[str]


def metric_page(study: Study, metric: str, sort: str = "mean") -> MetricPage:
    from analysis.correlate import system_means
    from analysis.plot import score_bars, to_svg
    from analysis.plot.quality import score_distributions

    scores = scores_frame(study)
    scores = scores[scores["metric"] == metric]
    if scores.empty:
        scored = (
            ", ".join(study.scores.values_list("metric", flat=True).distinct().order_by("metric")[:30]) or "none yet"
        )
        raise Refused(
            gettext("This study has no scores of “%(metric)s”. It has: %(known)s.")
            % {"metric": metric[:100], "known": scored}
        )
    means = system_means(scores, metric, ci=RESAMPLES)
    column, ascending = SORTS.get(sort, SORTS["mean"])
    documents = sorted(set(scores["doc_id"]) - {WHOLE_SYSTEM}, key=natural_key)
    return MetricPage(
        metric=metric,
        run=study.metric_runs.filter(metric=metric).first(),
        rows=records(means.sort_values(column, ascending=ascending, kind="stable")),
        chart=to_svg(score_bars(means, title=metric)),
        spread=to_svg(score_distributions(scores, metric)) if documents else "",
        documents=documents,
    )


def explained(study: Study, metric: str, doc_id: str, system: str) -> tuple[Summary, Any]:
    """The summary, and how its score came about."""
    from scoring import ScoringError, explain, registry

    summary = (
        Summary.objects.filter(document__study=study, document__doc_id=doc_id, system__name=system)
        .select_related("document", "system")
        .first()
    )
    if summary is None:
        raise Refused(gettext("There is no such summary in this study."))
    references = [reference.text for reference in summary.document.references.all()]
    try:
        _refuse_foreign_folders(registry.get(metric))
        return summary, explain(metric, summary.text, references, summary.document.source, **_corpus(study, metric))
    except ScoringError as error:
        raise Refused(str(error)) from None


def _corpus(study: Study, metric: str) -> dict[str, Any]:
    """All documents and summaries, for a metric whose scores depend on them; nothing is read for any other."""
    from scoring import registry
    from scoring.run.evaluate import check_documents
    from scoring.texts import as_text

    family = registry.get(metric).family
    return {
        **({"corpus": check_documents(documents_frame(study)).values()} if family.needs_corpus else {}),
        **(
            {"summaries": [as_text(text) for text in of_systems(summaries_frame(study))["summary"]]}
            if family.needs_summaries
            else {}
        ),
    }
