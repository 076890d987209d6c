"""What the shapes are written from: one document at a time, with all that belongs to it."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from annotation.models import REFERENCE_GROUP, Study
from annotation.tables.judgments import judgments_table
from annotation.tables.stream import Table
from annotation.tables.texts import documents_table, scores_table, scus_table, summaries_table
from annotation.tables.trusted import Filtered

Row = dict[str, Any]


@dataclass
class SummaryFacts:
    system: str
    group: str
    text: Any
    shown: Any
    judgments: list[Row] = field(default_factory=list)
    scores: dict[str, float | None] = field(default_factory=dict)


@dataclass
class DocumentFacts:
    doc_id: str
    source: Any
    references: list[Any]
    units: list[Row]  # without checks
    checks: list[Row]
    summaries: list[SummaryFacts]


class Source:
    """A study's documents in order. Judgments are those that the filter in force keeps, or all of them (`raw`)."""

    def __init__(self, study: Study, filtered: Filtered | None = None) -> None:
        self.study = study
        self.filtered = filtered or Filtered(study)

    @property
    def groups(self) -> list[str]:
        return sorted(set(self.study.systems.exclude(group=REFERENCE_GROUP).values_list("group", flat=True)))

    def documents(self, *, raw: bool = False) -> Iterator[DocumentFacts]:
        judgments = judgments_table(self.study, raw_workers=self.filtered.raw_workers) if raw else self.filtered.kept()
        units, summaries = _Groups(scus_table(self.study)), _Groups(summaries_table(self.study))
        answers, scores = _Groups(judgments), _Groups(scores_table(self.study))
        human = self._human_scores()
        for row in _rows(documents_table(self.study)):
            doc = row["doc_id"]
            scus = [unit for unit in units.take(doc) if unit.get("retired_in") is None]
            scus.sort(key=lambda unit: (unit.get("order") or 0, unit["scu_id"]))
            facts = {
                (summary["system"], summary.get("group", "")): SummaryFacts(
                    summary["system"], summary.get("group", ""), summary["summary"], summary.get("shown_to_workers")
                )
                for summary in summaries.take(doc)
                if summary.get("group", "") != REFERENCE_GROUP
            }
            _add(facts, answers.take(doc), scores.take(doc), human.get(doc, ()))
            yield DocumentFacts(
                doc,
                row["source"],
                row["references"],
                [unit for unit in scus if not unit.get("is_check")],
                [unit for unit in scus if unit.get("is_check")],
                list(facts.values()),
            )

    def _human_scores(self) -> dict[str, list[Row]]:
        by_document: dict[str, list[Row]] = defaultdict(list)
        frame = self.filtered.human_scores
        groups = frame["group"] if "group" in frame else [""] * len(frame)
        for doc, system, group, metric, value in zip(
            frame["doc_id"], frame["system"], groups, frame["metric"], frame["value"], strict=True
        ):
            number = None if value != value else float(value)
            by_document[doc].append({"system": system, "group": group, "metric": metric, "value": number})
        return by_document


def _add(summaries: dict[tuple[str, str], SummaryFacts], answers: list[Row], scores: list[Row], human: Any) -> None:
    for row in answers:
        if summary := summaries.get((row["system"], row.get("group", ""))):
            summary.judgments.append(row)
    for row in (*scores, *human):  # what was worked out here stands for an imported measure of the same name
        if summary := summaries.get((row["system"], row.get("group", ""))):
            summary.scores[row["metric"]] = row["value"]


def _rows(table: Table) -> Iterator[Row]:
    names = table.names
    for row in table.rows():
        yield dict(zip(names, row, strict=True))


class _Groups:
    """The rows of one document after the other, from a table that is sorted by document."""

    def __init__(self, table: Table) -> None:
        self.groups = groupby(_rows(table), key=lambda row: row["doc_id"])
        self.now: tuple[str, Iterator[Row]] | None = next(self.groups, None)

    def take(self, doc: str) -> list[Row]:
        while self.now is not None and self.now[0] < doc:
            self.now = next(self.groups, None)
        if self.now is None or self.now[0] != doc:
            return []
        rows = list(self.now[1])
        self.now = next(self.groups, None)
        return rows
