"""Whether the filters caught those who were planted: who, by which rules, and what it cost."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from analysis.filters.caught import Examined, examine_filter, share_right
from annotation import protocols
from annotation.models import Batch, Entry, Summary, Worker
from annotation.protocols.descriptions import title_of
from annotation.tables.trusted import batch_judgments

from .crowd import Worked
from .truth import Truth


def examine(batch: Batch, truth: Truth, rules: Sequence[str], seed: int) -> Examined:
    """What the rules drop, and how much better the rest is."""
    level = protocols.level_of(batch.protocol)
    return examine_filter(judged_truly(batch, truth), rules, seed=seed, level=level)


@dataclass(frozen=True)
class Verdict:
    """One simulated worker as the filters saw them."""

    name: str
    worker: str
    """The pseudonym in the study; empty for somebody who never got a task."""
    character: str
    planted: bool
    handed_in: int
    left: int
    """Taken, and returned or left behind."""
    refused: int
    """Taken, and refused by the market or by us; lateness is among the reasons."""
    not_admitted: bool
    """Kept out by the qualification test."""
    right: float | None
    """Share of right answers when the filter was applied."""
    caught_by: tuple[str, ...]
    paid_cents: int
    """Rewards and bonuses, without fees."""
    problem: str = ""

    @property
    def is_caught(self) -> bool:
        return bool(self.caught_by)


@dataclass(frozen=True)
class Findings:
    """What the filters did to a crowd whose characters are known."""

    verdicts: tuple[Verdict, ...]
    examined: Examined
    right_in_the_end: float | None
    """Of the answers that count, once lost ones were asked for again."""
    paid_to_planted_cents: int
    kept_from_planted_cents: int
    """Rewards of rejected work, which went back; without fees."""
    notes: tuple[str, ...] = ()

    @property
    def planted(self) -> list[Verdict]:
        """Those of the planted whose answers the filters saw."""
        return [verdict for verdict in self.verdicts if verdict.planted and verdict.right is not None]

    @property
    def caught(self) -> list[Verdict]:
        return [verdict for verdict in self.planted if verdict.is_caught]

    @property
    def missed(self) -> list[Verdict]:
        return [verdict for verdict in self.planted if not verdict.is_caught]

    @property
    def kept_out(self) -> list[Verdict]:
        """Whom the qualification test did not admit."""
        return [verdict for verdict in self.verdicts if verdict.not_admitted]

    @property
    def wronged(self) -> list[Verdict]:
        """Good workers whom the filters took for bad ones."""
        return [verdict for verdict in self.verdicts if not verdict.planted and verdict.is_caught]

    def rows(self) -> list[dict[str, Any]]:
        return [{**asdict(verdict), "caught": verdict.is_caught} for verdict in self.verdicts]


def findings(
    batch: Batch, worked: Sequence[Worked], truth: Truth, examined: Examined, notes: Sequence[str] = ()
) -> Findings:
    """Hold the verdicts and the money against what the crowd really was."""
    by_name = sorted(worked, key=lambda record: record.person.name)
    verdicts = tuple(_verdict(batch, record, examined) for record in by_name)
    planted_names = {verdict.worker for verdict in verdicts if verdict.planted and verdict.worker}
    return Findings(
        verdicts=verdicts,
        examined=examined,
        right_in_the_end=share_right(judged_truly(batch, truth)),
        paid_to_planted_cents=sum(verdict.paid_cents for verdict in verdicts if verdict.planted),
        kept_from_planted_cents=_kept_from(batch, planted_names),
        notes=tuple(notes),
    )


def _verdict(batch: Batch, record: Worked, examined: Examined) -> Verdict:
    worker = Worker.objects.filter(study=batch.study, crowd=batch.crowd, external_id=record.worker_id).first()
    name = worker.pseudonym if worker else ""
    return Verdict(
        name=record.person.name,
        worker=name,
        character=record.person.character.name,
        planted=record.person.character.planted,
        handed_in=record.count("handed in"),
        left=record.count("returned") + record.count("abandoned"),
        refused=record.count("refused") + record.count("late"),
        not_admitted="not admitted" in record.outcomes,
        right=examined.answers.get(name),
        caught_by=examined.caught.get(name, ()),
        paid_cents=_paid(batch, worker),
        problem=record.problem,
    )


def _paid(batch: Batch, worker: Worker | None) -> int:
    if worker is None:
        return 0
    spent = batch.entries.filter(submission__worker=worker, kind__in=[Entry.Kind.APPROVE, Entry.Kind.BONUS])
    return sum(entry.reward_cents for entry in spent.exclude(state=Entry.State.FAILED))


def _kept_from(batch: Batch, names: set[str]) -> int:
    releases = batch.entries.filter(kind=Entry.Kind.RELEASE, submission__worker__pseudonym__in=names)
    return -sum(releases.exclude(state=Entry.State.FAILED).values_list("reward_cents", flat=True))


def judged_truly(batch: Batch, truth: Truth) -> Any:
    """The batch's judgments with a column `right`: whether an answer is the true one."""
    frame = batch_judgments(batch)
    if frame.empty:
        return frame
    summaries = Summary.objects.filter(document__study=batch.study).select_related("document", "system")
    texts = {(summary.document.doc_id, summary.system.name): summary.text_shown for summary in summaries}
    documents = {document.doc_id: document.pk for document in batch.study.documents.only("doc_id")}
    protocol = protocols.get(batch.protocol)
    titles, right_answer = protocol.unit_titles(batch), truth.between if protocol.compares else truth.of
    stored = {unit: protocol.stored_values(batch, unit) for unit in frame["unit"].unique()}
    cells = zip(frame["doc_id"], frame["system"], frame["unit"], frame["value"], strict=True)
    is_right = []
    for doc, system, unit, value in cells:
        title = title_of(titles, documents[doc], unit) or unit
        is_right.append(stored[unit][right_answer(texts[doc, system], title, list(stored[unit]))] == value)
    return frame.assign(right=is_right)
