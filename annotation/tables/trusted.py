"""What a study trusts: the filter in force, the judgments that count under it, and the human scores they give."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd
from django.utils.translation import gettext, gettext_noop

from analysis.sentence import Sentence
from analysis.tables.csv_formulas import defuse
from annotation.common.errors import Refused
from annotation.models import REFERENCE_GROUP, Assignment, Batch, FilterDecision, Study, Worker
from annotation.tables.frames import judgments_frame, scus_frame
from annotation.tables.judgments import judgments_table
from annotation.tables.stream import Column, Row, Table

if TYPE_CHECKING:
    from analysis.filters import Decision

MEASURES = ("litepyramid_recall", "relevance", "coherence")  # which human measure leads, when there are several
REASONS = ("rule", "reason", "evidence", "settings")


def of_systems(frame: pd.DataFrame) -> pd.DataFrame:
    """A table without the rows about rated references."""
    return frame[frame["group"] != REFERENCE_GROUP] if "group" in frame else frame


def systems_judgments(study: Study) -> pd.DataFrame:
    """The judgments of the systems' summaries. Rated references are left out: a worker rates them in every group."""
    return of_systems(judgments_frame(study))


def batch_judgments(batch: Batch) -> pd.DataFrame:
    """The judgments of one batch that count, without rated references."""
    judgments = systems_judgments(batch.study)
    if judgments.empty:
        return judgments
    assignments = set(Assignment.objects.counted().filter(task__batch=batch).values_list("key", flat=True))
    return judgments[judgments["assignment_id"].isin(assignments)]


@dataclass(frozen=True)
class Trusted:
    """What a filter leaves of the judgments."""

    judgments: pd.DataFrame
    decision: FilterDecision | None
    """The filter in force; None: every answer counts."""
    drops: tuple["Decision", ...] = ()
    """Who was left out, where and why, in the rules' order."""


def trusted_judgments(study: Study) -> Trusted:
    """The judgments that count under the filter in force."""
    return apply_filter(study.filter_in_force(), systems_judgments(study))


def apply_filter(decision: FilterDecision | None, judgments: pd.DataFrame) -> Trusted:
    """What a decision leaves of these judgments. Raises AnalysisError where a rule of it doesn't apply."""
    if decision is None or judgments.empty:
        return Trusted(judgments, decision)
    from analysis.filters import apply_rules

    result = apply_rules(judgments, decision.rules, seed=decision.seed)
    return Trusted(result.kept, decision, result.decisions)


def human_scores(study: Study, judgments: pd.DataFrame) -> pd.DataFrame:
    """What these judgments give every summary, a row per measure."""
    from analysis.aggregate import aggregate

    # SCUs that a later version of the list left out keep their judgments, but no longer make the score.
    in_force = judgments[judgments["retired"] != 1] if "retired" in judgments else judgments
    return aggregate(in_force, scus=scus_frame(study))


def measures_of(human: pd.DataFrame) -> list[str]:
    """The human measures of a scores table, the leading one first."""
    return sorted(set(human["metric"]), key=lambda name: (MEASURES.index(name) if name in MEASURES else 99, name))


def filter_sentence(decision: FilterDecision | None) -> str:
    if decision is None:
        return ""
    template = gettext_noop("The judgments were filtered by %(rules)s, seed %(seed)s.")
    return Sentence(template, {"rules": str(decision), "seed": decision.seed})


@dataclass(frozen=True)
class Filtered:
    """The trusted judgments as streams: what is kept, and what is dropped with the reason. The filter is worked out
    once: its rules look at all judgments together."""

    study: Study
    raw_workers: bool = False

    @cached_property
    def decision(self) -> FilterDecision | None:
        return self.study.filter_in_force()

    @cached_property
    def trusted(self) -> Trusted:
        return apply_filter(self.decision, systems_judgments(self.study))

    @cached_property
    def human_scores(self) -> pd.DataFrame:
        """One row per summary and measure, as the Report page has them; empty while nobody has judged."""
        if self.trusted.judgments.empty:
            return pd.DataFrame(columns=["doc_id", "system", "metric", "value"])
        return human_scores(self.study, self.trusted.judgments)

    @cached_property
    def drops(self) -> "_Drops":
        return _Drops(() if self.decision is None else self.trusted.drops)

    def defused_scores(self) -> pd.DataFrame:
        """The human scores with names as a CSV file holds them."""
        frame = self.human_scores
        names = [name for name in ("doc_id", "system", "group", "metric", "scheme") if name in frame]
        return frame.assign(**{name: [defuse(str(cell)) for cell in frame[name]] for name in names})

    @cached_property
    def has_retired(self) -> bool:
        """Whether judgments carry the column `retired`: a later list of SCUs left some out."""
        return self.study.documents.filter(units__retired_in__isnull=False).exists()

    def kept(self) -> Table:
        """Judgments of the systems' summaries; checks and rated references are left out, as the scores do."""
        source = judgments_table(self.study, raw_workers=self.raw_workers, name="judgments_kept")
        return Table(source.name, source.columns, source.total, lambda: self._chunks(source, want_kept=True))

    def dropped(self) -> Table:
        source = judgments_table(self.study, raw_workers=self.raw_workers, name="judgments_dropped")
        # As `python -m analysis filter` writes them: a column of the study's own gives way to one of the same name.
        columns = {column.name: column for column in source.columns} | {name: Column(name) for name in REASONS}

        def chunks() -> Iterator[list[Row]]:
            return iter(()) if self.decision is None else self._chunks(source, want_kept=False)

        return Table(source.name, tuple(columns.values()), source.total, chunks)

    def _chunks(self, source: Table, *, want_kept: bool) -> Iterator[list[Row]]:
        from analysis.filters.base import as_json

        drops, names = self.drops, source.names
        doc, system, group, check, worker = map(source.reader, ("doc_id", "system", "group", "is_check", "worker_id"))
        pseudonyms = self._pseudonyms if self.raw_workers else {}
        for rows in source.chunks():
            chosen_rows: list[Row] = []
            for row in rows:
                if check(row) or group(row) == REFERENCE_GROUP:
                    continue
                drop = drops.of(pseudonyms.get(worker(row), (worker(row),)), doc(row), system(row))
                if want_kept and drop is None:
                    chosen_rows.append(row)
                elif drop is not None and not want_kept:
                    reasons = (drop.rule, drop.reason, as_json(drop.evidence), as_json(drop.settings))
                    cells = dict(zip(names, row, strict=True)) | dict(zip(REASONS, reasons, strict=True))
                    chosen_rows.append(tuple(cells.values()))
            yield chosen_rows

    @cached_property
    def _pseudonyms(self) -> dict[str, tuple[str, ...]]:
        """What a raw id is called in the decisions; two crowds may know somebody by the same id."""
        pseudonyms: dict[str, tuple[str, ...]] = {}
        for raw, pseudonym in Worker.objects.filter(study=self.study).values_list("external_id", "pseudonym"):
            pseudonyms[raw] = (*pseudonyms.get(raw, ()), pseudonym)
        return pseudonyms


class _Drops:
    """The first decision that drops a judgment: rules come one after the other, and what is gone stays gone."""

    def __init__(self, drops: tuple["Decision", ...]) -> None:
        self.everywhere: dict[str, tuple[int, Decision]] = {}
        self.items: dict[tuple[str, str, str], tuple[int, Decision]] = {}
        for number, drop in enumerate(drops):
            entry, item = (number, drop), drop.item
            if not item:
                self.everywhere.setdefault(drop.worker_id, entry)
            elif set(item) == {"doc_id", "system"}:
                self.items.setdefault((drop.worker_id, item["doc_id"], item["system"]), entry)
            else:
                raise Refused(gettext("A rule decides by %(names)s, which exports can't tell.") % {"names": str(item)})

    def of(self, workers: tuple[str, ...], doc: str, system: str) -> "Decision | None":
        entries: list[Any] = [self.everywhere.get(worker) for worker in workers]
        entries += [self.items.get((worker, doc, system)) for worker in workers]
        return min((entry for entry in entries if entry), key=lambda entry: entry[0], default=(0, None))[1]
