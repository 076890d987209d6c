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
    right: float | None
    """Share of right answers when the filter was applied."""
    caught_by: tuple[str, ...]
    paid_cents: int
    """Rewards, bonuses and fees."""
    problem: str = ""

    @property
    def caught(self) -> bool:
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
    """Rewards and fees of rejected work, which went back."""
    notes: tuple[str, ...] = ()

    @property
    def planted(self) -> list[Verdict]:
        """Those of the planted whose answers the filters saw."""
        return [one for one in self.verdicts if one.planted and one.right is not None]

    @property
    def caught(self) -> list[Verdict]:
        return [one for one in self.planted if one.caught]

    @property
    def missed(self) -> list[Verdict]:
        return [one for one in self.planted if not one.caught]

    @property
    def wronged(self) -> list[Verdict]:
        """Good workers whom the filters took for bad ones."""
        return [one for one in self.verdicts if not one.planted and one.caught]

    def rows(self) -> list[dict[str, Any]]:
        return [{**asdict(one), "caught": one.caught} for one in self.verdicts]


def findings(
    batch: Batch, worked: Sequence[Worked], truth: Truth, examined: Examined, notes: Sequence[str] = ()
) -> Findings:
    """Hold the verdicts and the money against what the crowd really was."""
    verdicts = tuple(_verdict(batch, one, examined) for one in sorted(worked, key=lambda one: one.person.name))
    bad = {one.worker for one in verdicts if one.planted and one.worker}
    return Findings(
        verdicts=verdicts,
        examined=examined,
        right_in_the_end=share_right(judged_truly(batch, truth)),
        paid_to_planted_cents=sum(one.paid_cents for one in verdicts if one.planted),
        kept_from_planted_cents=_kept_from(batch, bad),
        notes=tuple(notes),
    )


def _verdict(batch: Batch, one: Worked, examined: Examined) -> Verdict:
    worker = Worker.objects.filter(study=batch.study, crowd=batch.crowd, external_id=one.worker_id).first()
    name = worker.pseudonym if worker else ""
    return Verdict(
        name=one.person.name,
        worker=name,
        character=one.person.character.name,
        planted=one.person.character.planted,
        handed_in=one.count("handed in"),
        left=one.count("returned") + one.count("abandoned"),
        refused=one.count("refused") + one.count("late"),
        right=examined.answers.get(name),
        caught_by=examined.caught.get(name, ()),
        paid_cents=_paid(batch, worker),
        problem=one.problem,
    )


def _paid(batch: Batch, worker: Worker | None) -> int:
    if worker is None:
        return 0
    spent = batch.entries.filter(submission__worker=worker, kind__in=[Entry.Kind.APPROVE, Entry.Kind.BONUS])
    return sum(entry.paid_cents for entry in spent.exclude(state=Entry.State.FAILED))


def _kept_from(batch: Batch, names: set[str]) -> int:
    back = batch.entries.filter(kind=Entry.Kind.RELEASE, submission__worker__pseudonym__in=names)
    return -sum(back.exclude(state=Entry.State.FAILED).values_list("promised_cents", flat=True))


def judged_truly(batch: Batch, truth: Truth) -> Any:
    """The batch's judgments with a column `right`: whether an answer is the true one."""
    frame = batch_judgments(batch)
    if frame.empty:
        return frame
    summaries = Summary.objects.filter(document__study=batch.study).select_related("document", "system")
    texts = {(one.document.doc_id, one.system.name): one.text_shown for one in summaries}
    documents = {document.doc_id: document.pk for document in batch.study.documents.only("doc_id")}
    titles = protocols.get(batch.protocol).unit_titles(batch)
    values = [float(value) for value in range(int(batch.scale_min), int(batch.scale_max) + 1)]
    cells = zip(frame["doc_id"], frame["system"], frame["unit"], frame["value"], strict=True)
    right = [
        truth.of(texts[doc, system], title_of(titles, documents[doc], unit) or unit, values) == value
        for doc, system, unit, value in cells
    ]
    return frame.assign(right=right)
