"""The judgments under the filter in force, as streams: what is kept, and what is dropped with the reason."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd
from django.utils.translation import gettext

from analysis.table_formulas import defuse
from annotation.errors import Refused
from annotation.models import FilterDecision, Study, Worker
from annotation.protocols.litepyramid import REFERENCE_GROUP
from annotation.quality import of_systems

from .frames import judgments_frame
from .judgment_rows import judgments_table
from .streaming import Column, Row, Table

if TYPE_CHECKING:
    from analysis.filters import Decision

REASONS = ("rule", "reason", "evidence", "settings")


@dataclass(frozen=True)
class Filtered:
    """A study's judgments with the decision about them, worked out once: rules look at all judgments together."""

    study: Study
    raw_workers: bool = False

    @cached_property
    def decision(self) -> FilterDecision | None:
        return FilterDecision.objects.filter(study=self.study, undone_at__isnull=True).first()

    @cached_property
    def human_scores(self) -> pd.DataFrame:
        """One row per summary and measure, as the Report page has them; empty while nobody has judged."""
        from analysis.filters import apply_rules
        from annotation.reports import human_scores

        judgments = of_systems(judgments_frame(self.study))
        if judgments.empty:
            return pd.DataFrame(columns=["doc_id", "system", "metric", "value"])
        if self.decision is not None:
            found = apply_rules(judgments, self.decision.rules, seed=self.decision.seed)
            self.__dict__["decisions"] = _lookup(found.decisions)
            judgments = found.kept
        return human_scores(self.study, judgments)

    @cached_property
    def decisions(self) -> "_Lookup":
        judgments = of_systems(judgments_frame(self.study)) if self.decision is not None else pd.DataFrame()
        if self.decision is None or judgments.empty:
            return _lookup(())
        from analysis.filters import apply_rules

        return _lookup(apply_rules(judgments, self.decision.rules, seed=self.decision.seed).decisions)

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
        return Table(source.name, source.columns, source.total, lambda: self._chunks(source, kept=True))

    def dropped(self) -> Table:
        source = judgments_table(self.study, raw_workers=self.raw_workers, name="judgments_dropped")
        # As `python -m analysis filter` writes them: a column of the study's own gives way to one of the same name.
        columns = {column.name: column for column in source.columns} | {name: Column(name) for name in REASONS}

        def chunks() -> Iterator[list[Row]]:
            return iter(()) if self.decision is None else self._chunks(source, kept=False)

        return Table(source.name, tuple(columns.values()), source.total, chunks)

    def _chunks(self, source: Table, *, kept: bool) -> Iterator[list[Row]]:
        from analysis.filters.base import as_json

        find, names = self.decisions, source.names
        doc, system, group, check, worker = map(source.reader, ("doc_id", "system", "group", "is_check", "worker_id"))
        shown = self._pseudonyms if self.raw_workers else {}
        for rows in source.chunks():
            chosen: list[Row] = []
            for row in rows:
                if check(row) or group(row) == REFERENCE_GROUP:
                    continue
                found = find.of(shown.get(worker(row), (worker(row),)), doc(row), system(row))
                if kept and found is None:
                    chosen.append(row)
                elif found is not None and not kept:
                    reasons = (found.rule, found.reason, as_json(found.evidence), as_json(found.settings))
                    cells = dict(zip(names, row, strict=True)) | dict(zip(REASONS, reasons, strict=True))
                    chosen.append(tuple(cells.values()))
            yield chosen

    @cached_property
    def _pseudonyms(self) -> dict[str, tuple[str, ...]]:
        """What a raw id is called in the decisions; two crowds may know somebody by the same id."""
        found: dict[str, tuple[str, ...]] = {}
        for given, shown in Worker.objects.filter(study=self.study).values_list("external_id", "pseudonym"):
            found[given] = (*found.get(given, ()), shown)
        return found


class _Lookup:
    """The first decision that drops a judgment: rules come one after the other, and what is gone stays gone."""

    def __init__(self, decisions: tuple["Decision", ...]) -> None:
        self.everywhere: dict[str, tuple[int, Decision]] = {}
        self.items: dict[tuple[str, str, str], tuple[int, Decision]] = {}
        for number, decision in enumerate(decisions):
            entry, item = (number, decision), decision.item
            if not item:
                self.everywhere.setdefault(decision.worker_id, entry)
            elif set(item) == {"doc_id", "system"}:
                self.items.setdefault((decision.worker_id, item["doc_id"], item["system"]), entry)
            else:
                raise Refused(gettext("A rule decides by %(names)s, which exports can't tell.") % {"names": str(item)})

    def of(self, workers: tuple[str, ...], doc: str, system: str) -> "Decision | None":
        found: list[Any] = [self.everywhere.get(worker) for worker in workers]
        found += [self.items.get((worker, doc, system)) for worker in workers]
        return min((entry for entry in found if entry), key=lambda entry: entry[0], default=(0, None))[1]


def _lookup(decisions: tuple["Decision", ...]) -> _Lookup:
    return _Lookup(decisions)
