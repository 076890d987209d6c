"""The Explorer's lists: a study's documents by name or by disagreement, found by words. Every page is a few lookups.

What needs all rows (annotation/results/explorer/index.py) is worked out beforehand; a page never does it.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.db import connection
from django.db.models import Q, QuerySet
from django.db.models.expressions import RawSQL

from annotation.common.parsing import parse_int
from annotation.common.text import glimpse
from annotation.jobs import start_job
from annotation.jobs.page_cache import study_mark
from annotation.models import Disagreement, Document, Exploration, Job, Reference, Study, User

from .index import batch_facts, words_of

PER_PAGE = 25
GLIMPSE = 180
BY_NAME, BY_DISAGREEMENT = "name", "disagreement"


@dataclass(frozen=True)
class ListQuery:
    """What an address asks for: the whole state of a page, so that every view is a link."""

    q: str = ""
    sort: str = BY_NAME
    measure: str = ""
    metric: str = ""
    after: int = 0  # a document's id: the page begins behind it
    before: int = 0
    system: int = 0  # on a document's page: whose judges are shown

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> "ListQuery":
        numbers = (parse_int(parameters.get(name, "")) for name in ("after", "before", "system"))
        q, measure, metric = (
            parameters.get(name, "").replace("\x00", "").strip()[:200] for name in ("q", "measure", "metric")
        )
        sort = parameters.get("sort", "")
        return cls(q, sort if sort in (BY_NAME, BY_DISAGREEMENT) else BY_NAME, measure, metric, *numbers)

    def link(self, **changes: Any) -> str:
        """The query of the same view with something changed; what is as usual is left out."""
        defaults = asdict(ListQuery())
        values = {name: value for name, value in asdict(replace(self, **changes)).items() if value != defaults[name]}
        return f"?{urlencode(values)}" if values else "?"

    @property
    def as_list(self) -> str:
        """The query of the list, and of any document opened from it."""
        return self.link(system=0)


@dataclass(frozen=True)
class State:
    """What has been worked out for this query, and what is on its way."""

    facts: Exploration | None  # the study gone through
    pair: Exploration | None  # the metric against the measure
    measures: list[str]
    metrics: list[str]
    job: Job | None


def state_of(study: Study, query: ListQuery, user: User) -> tuple[ListQuery, State]:
    """The query with its defaults filled in, and the state; whatever is missing is started."""
    explorations = Exploration.objects.filter(study=study)
    rows = {(exploration.measure, exploration.metric): exploration for exploration in explorations}
    facts = rows.get(("", ""))
    decision = study.filter_in_force()
    if facts is None or facts.decision != (decision.pk if decision else 0) or _other_batches(facts, study):
        job = start_unless_failed(study, {}, user)
        facts = explorations.filter(metric="").first()
    else:
        job = None
    measures = facts.facts["measures"] if facts else []
    metrics = sorted({*(facts.facts["metrics"] if facts else []), *_newly_scored(study)} - set(measures))
    query = replace(query, measure=query.measure if query.measure in measures else (measures or [""])[0])
    if query.metric not in metrics or not query.measure:
        return replace(query, metric="", sort=BY_NAME), State(facts, None, measures, metrics, job)
    pair = explorations.filter(measure=query.measure, metric=query.metric).first()
    if pair is None and (job is None or job.is_over):
        job = start_unless_failed(study, {"measure": query.measure, "metric": query.metric}, user)
        pair = explorations.filter(measure=query.measure, metric=query.metric).first()
    if pair is None:
        query = replace(query, sort=BY_NAME)
    return query, State(facts, pair, measures, metrics, job)


def _newly_scored(study: Study) -> set[str]:
    return set(study.metric_runs.values_list("metric", flat=True))


def _other_batches(facts: Exploration, study: Study) -> bool:
    """Whether it was worked out under another batch rule. What was made before there was one is as `latest`."""
    return bool(facts.facts.get("batches", [Study.BatchRule.LATEST, []]) != batch_facts(study))


def start_unless_failed(study: Study, options: dict[str, str], user: User) -> Job:
    """A job, unless one with the same task failed on the study as it stands: that one says what to do about it."""
    options = {**options, "mark": study_mark(study)}
    failed_jobs = study.jobs.filter(kind="explore", options=options, state=Job.State.FAILED)
    return failed_jobs.first() or start_once(study, options, user)


def start_once(study: Study, options: dict[str, str], user: User) -> Job:
    """A job, unless the same one waits or runs already."""
    under_way = study.jobs.filter(kind="explore", options=options, state__in=[Job.State.WAITING, Job.State.RUNNING])
    job = under_way.first() or start_job(study, "explore", options, user)
    job.refresh_from_db()
    return job


@dataclass(frozen=True)
class Line:
    """A document in the list."""

    document: Document
    glimpse: str
    disagreement: float | None


@dataclass(frozen=True)
class ListPage:
    query: ListQuery
    state: State
    lines: list[Line]
    total: int
    previous: str  # addresses, empty at the ends
    next: str


def list_page(study: Study, query: ListQuery, user: User) -> ListPage:
    """One page of documents: a fixed number of queries, wherever in the list it is."""
    query, state = state_of(study, query, user)
    ids, has_more = _ids(study, query, state)
    lines = _lines(ids, state.pair)
    first, last = (ids[0], ids[-1]) if ids else (0, 0)
    has_previous = bool(query.before and has_more) or bool(query.after)
    has_next = bool(query.before) or has_more
    return ListPage(
        query,
        state,
        lines,
        total=_all(study, query, state).count(),
        previous=query.link(before=first, after=0) if has_previous and first else "",
        next=query.link(after=last, before=0) if has_next and last else "",
    )


def _all(study: Study, query: ListQuery, state: State) -> QuerySet[Any]:
    """Every row of the list: documents, or disagreements."""
    if query.sort == BY_DISAGREEMENT and state.pair is not None:
        return _with_words(Disagreement.objects.filter(exploration=state.pair), query.q, "document_id")
    return _with_words(Document.objects.filter(study=study), query.q, "pk")


def _with_words(rows: QuerySet[Any], q: str, key: str) -> QuerySet[Any]:
    """Only documents that hold all these words. Whole words: a beginning of many would go through them all."""
    if not q:
        return rows
    words = words_of(q)
    if not words:
        return rows.none()
    if connection.vendor == "postgresql":
        query = " & ".join(f"'{word}'" for word in words)
        ids = RawSQL("SELECT annotation_documents_with(to_tsquery('simple', %s))", [query])
    else:
        query = " ".join(f'"{word}"' for word in words)
        ids = RawSQL("SELECT rowid FROM annotation_documentwords WHERE words MATCH %s", [query])
    return rows.filter(**{f"{key}__in": ids})


def _ids(study: Study, query: ListQuery, state: State) -> tuple[list[int], bool]:
    """The documents of the page, and whether there are more in the direction of travel."""
    backwards = bool(query.before)
    rows, key = beyond(study, query, state, query.before or query.after, backwards)
    ids = list(rows.values_list(key, flat=True)[: PER_PAGE + 1])
    has_more, ids = len(ids) > PER_PAGE, ids[:PER_PAGE]
    return (ids[::-1] if backwards else ids), has_more


def beyond(
    study: Study, query: ListQuery, state: State, document: int, backwards: bool = False
) -> tuple[QuerySet[Any], str]:
    """The rows behind (or, backwards, before) a document in the list's order, and where they keep its id."""
    rows = _all(study, query, state)
    if query.sort == BY_DISAGREEMENT and state.pair is not None:
        order = ["value", "-document_id"] if backwards else ["-value", "document_id"]
        current = Disagreement.objects.filter(exploration=state.pair, document=document).first() if document else None
        if current is not None:
            way, tie = ("gt", "lt") if backwards else ("lt", "gt")
            rows = rows.filter(
                Q(**{f"value__{way}e": current.value}),
                Q(**{f"value__{way}": current.value}) | Q(**{f"document_id__{tie}": document}),
            )
        return rows.order_by(*order), "document_id"
    key = Document.objects.filter(study=study, pk=document).values_list("sort_key", flat=True).first()
    if key is not None:
        rows = rows.filter(**{"sort_key__lt" if backwards else "sort_key__gt": key})
    return rows.order_by("-sort_key" if backwards else "sort_key"), "pk"


def _lines(ids: list[int], pair: Exploration | None) -> list[Line]:
    documents = Document.objects.in_bulk(ids)
    texts = dict(Reference.objects.filter(document__in=ids, index=0).values_list("document", "text"))
    values = dict(
        Disagreement.objects.filter(exploration=pair, document__in=ids).values_list("document", "value") if pair else ()
    )
    starts = {key: glimpse(texts.get(key) or documents[key].source, GLIMPSE) for key in ids}
    return [Line(documents[key], starts[key], values.get(key)) for key in ids]
