"""What somebody answered, task by task: each answer with its statement, what a check expects, and what others say."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotation import protocols
from annotation.models import Assignment, ContentUnit, Flag, Judgment, Summary
from annotation.models.work import MODEL_ROLE
from annotation.protocols.descriptions import title_of

Item = tuple[int, str]


@dataclass(frozen=True)
class Answer:
    judgment: Judgment
    title: str
    label: str
    """The answer in words, where its protocol has any."""
    others: list[tuple[str, int]]
    """What the others answered, with how many did."""
    mean: float | None
    """Of the others' answers."""
    expected: float | None
    """What a check item expects."""
    note: str
    """What the annotator told of this item."""
    is_flagged: bool

    @property
    def is_wrong(self) -> bool:
        return self.expected is not None and self.expected != self.judgment.value


@dataclass(frozen=True)
class AnsweredText:
    """A summary, with the answers about it."""

    summary: Summary
    answers: list[Answer]


@dataclass(frozen=True)
class AnsweredTask:
    assignment: Assignment
    texts: list[AnsweredText]
    note: str
    """What the annotator told of the task as a whole."""


def answered_tasks(assignments: Sequence[Assignment]) -> list[AnsweredTask]:
    """In a fixed number of queries. Each needs its task with batch and document."""
    judgments = defaultdict(list)
    rows = Judgment.objects.filter(assignment__in=assignments, is_current=True)
    for row in rows.select_related("summary__system").order_by("position", "pk"):
        judgments[row.assignment_id].append(row)
    facts = _Facts(assignments, [row for answers in judgments.values() for row in answers])
    return [facts.task(assignment, judgments[assignment.pk]) for assignment in assignments]


class _Facts:
    """What the database knows of these answers beside the answers themselves."""

    def __init__(self, assignments: Sequence[Assignment], judgments: Sequence[Judgment]) -> None:
        documents = {assignment.task.document_id for assignment in assignments}
        units = list(ContentUnit.objects.filter(document__in=documents))
        self.statements = {(unit.document_id, unit.scu_id): unit.text for unit in units}
        self.expected = {(unit.document_id, unit.scu_id): unit.expected for unit in units if unit.is_check}
        self.flags: dict[tuple[int, int | None, str], Flag] = {
            (flag.assignment_id, flag.summary_id, flag.unit): flag
            for flag in Flag.objects.filter(assignment__in=assignments)
        }
        self.others = _others(assignments, judgments)

    def task(self, assignment: Assignment, judgments: Sequence[Judgment]) -> AnsweredTask:
        batch = assignment.task.batch
        labels = protocols.of(batch).labels(batch)
        about_scus = batch.protocol in protocols.judging_scus()
        document = assignment.task.document_id
        titles = self.statements if about_scus else protocols.of(batch).unit_titles(batch, document)
        texts: dict[int, AnsweredText] = {}
        for judgment in judgments:
            text = texts.setdefault(judgment.summary_id, AnsweredText(judgment.summary, []))
            text.answers.append(self._answer(assignment, judgment, titles, labels))
        note = self.flags.get((assignment.pk, None, ""))
        return AnsweredTask(assignment, list(texts.values()), note.note if note else "")

    def _answer(
        self, assignment: Assignment, judgment: Judgment, titles: dict[Item, str], labels: dict[str, str]
    ) -> Answer:
        document = assignment.task.document_id
        flag = self.flags.get((assignment.pk, judgment.summary_id, judgment.unit))
        values = self.others.get((assignment.worker_id, judgment.summary_id, judgment.unit), [])
        counts = sorted(Counter(values).items())
        return Answer(
            judgment,
            title_of(titles, document, judgment.unit) or judgment.unit,
            _in_words(judgment.value, labels),
            [(_in_words(value, labels), n) for value, n in counts],
            sum(values) / len(values) if values else None,
            self._expected(document, judgment) if judgment.is_check else None,
            flag.note if flag else "",
            flag is not None,
        )

    def _expected(self, document: int, judgment: Judgment) -> float | None:
        """What the check SCU says; other checks hold it themselves."""
        return self.expected.get((document, judgment.unit), (judgment.extra or {}).get("expected"))


def _in_words(value: float, labels: dict[str, str]) -> str:
    return labels.get(f"{value:g}", f"{value:g}")


def _others(
    assignments: Iterable[Assignment], judgments: Sequence[Judgment]
) -> dict[tuple[int, int, str], list[float]]:
    """What other people answered, by worker, summary and unit; only what counts."""
    workers = {assignment.worker_id for assignment in assignments}
    protocol_names = {assignment.task.batch.protocol for assignment in assignments}
    rows = Judgment.objects.counted().filter(
        summary__in={row.summary_id for row in judgments}, assignment__task__batch__protocol__in=protocol_names
    )
    rows = rows.exclude(assignment__task__batch__role=MODEL_ROLE)
    others: dict[tuple[int, int, str], list[float]] = defaultdict(list)
    for summary, unit, value, worker in rows.values_list("summary", "unit", "value", "assignment__worker"):
        for other in workers - {worker}:
            others[other, summary, unit].append(value)
    return others
