"""What a new batch judges: documents and systems by name, a pilot, a sample, or summaries chosen by metrics' scores."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from random import Random
from typing import Any

from django.utils.translation import gettext as _

from annotation.common.errors import Refused
from annotation.models import REFERENCE_GROUP, Study, Summary
from annotation.tables.frames import scores_frame

Pair = tuple[str, str]


@dataclass(frozen=True)
class Selection:
    """Empty parts choose everything; all that are filled must hold."""

    documents: list[str] = field(default_factory=list)
    systems: list[str] = field(default_factory=list)
    sample: list[str] = field(default_factory=list)
    """Metrics by which REALSumm's Algorithm 1 draws documents."""
    metric: str = ""
    low: float = 0.0
    high: float = 1.0
    """Quantiles of that metric's scores between which a summary lies."""
    disputed: list[str] = field(default_factory=list)
    """Metrics whose ranks differ most on the summaries …"""
    most: int = 0
    """… so many of them."""
    pilot: int = 0
    """So many documents, drawn last, from those that are left."""
    seed: int = 0

    def stored(self) -> dict[str, Any]:
        """What was chosen, without what was left open."""
        empty = asdict(Selection())
        return {name: value for name, value in asdict(self).items() if value != empty[name]}


def choose(study: Study, selection: Selection) -> frozenset[int] | None:
    """The summaries that it chooses; None for all of them. Refused says what is wrong or that nothing is left."""
    if not selection.stored():
        return None
    pairs = _named(study, selection)
    for group in _by_scores(study, selection):
        pairs = {pair: key for pair, key in pairs.items() if pair in group}
    if selection.pilot:
        pairs = _pilot(pairs, selection)
    if not pairs:
        raise Refused(_("Nothing is left to judge after this choice. No batch was made: choose less strictly."))
    return frozenset(pairs.values())


def _named(study: Study, selection: Selection) -> dict[Pair, int]:
    documents = set(study.documents.values_list("doc_id", flat=True))
    systems = set(study.systems.exclude(group=REFERENCE_GROUP).values_list("name", flat=True))
    _refuse_unknown(_("documents"), selection.documents, documents)
    _refuse_unknown(_("systems"), selection.systems, systems)
    wanted_documents, wanted_systems = set(selection.documents) or documents, set(selection.systems) or systems
    rows = Summary.objects.filter(document__study=study).exclude(system__group=REFERENCE_GROUP)
    return {
        (doc_id, system): key
        for key, doc_id, system in rows.order_by("pk").values_list("pk", "document__doc_id", "system__name")
        if doc_id in wanted_documents and system in wanted_systems
    }


def _refuse_unknown(kind: str, names: Iterable[str], available: set[str]) -> None:
    if unknown := [name for name in names if name not in available]:
        raise Refused(
            _("This study has no %(kind)s “%(names)s”. No batch was made.")
            % {"kind": kind, "names": "”, “".join(unknown[:5])}
        )


def _by_scores(study: Study, selection: Selection) -> Iterable["set[Pair] | _Documents"]:
    """The pairs that each choice by scores leaves; the scores are read only where one is made."""
    if not (selection.sample or selection.metric or selection.disputed):
        return
    from analysis.planning.choose import in_range, most_disputed
    from analysis.planning.sample import sample_documents
    from analysis.tables import AnalysisError

    scores = scores_frame(study)
    try:
        if selection.sample:
            sample = sample_documents(scores, selection.sample, seed=selection.seed)
            yield _Documents(document.doc_id for document in sample.documents)
        if selection.metric:
            yield set(in_range(scores, selection.metric, selection.low, selection.high))
        if selection.disputed:
            yield set(most_disputed(scores, selection.disputed, selection.most or len(scores)))
    except AnalysisError as error:
        raise Refused(_("%(error)s No batch was made.") % {"error": error}) from error


class _Documents(frozenset[str]):
    """Holds every pair of one of these documents."""

    def __contains__(self, pair: object) -> bool:
        return isinstance(pair, tuple) and super().__contains__(pair[0])


def _pilot(pairs: Mapping[Pair, int], selection: Selection) -> dict[Pair, int]:
    documents = sorted({doc_id for doc_id, _system in pairs})
    pilot_documents = set(Random(f"{selection.seed}:pilot").sample(documents, min(selection.pilot, len(documents))))
    return {pair: key for pair, key in pairs.items() if pair[0] in pilot_documents}
