"""Practice items as the tutorial and the test show them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation import protocols
from annotation.common.errors import BadAnswers
from annotation.common.parsing import parse_int
from annotation.models import PracticeItem
from annotation.protocols.descriptions import PracticeText

from . import MarkedAnswer, mark_answer


@dataclass(frozen=True)
class Question:
    """An item with the answer given so far; empty for none."""

    item: PracticeItem
    answer: str
    texts: list[PracticeText]
    asked: str


def practice_page(items: Sequence[PracticeItem], answers: Mapping[str, str]) -> list[Question]:
    ways = [protocols.get(item.plan.protocol) for item in items]
    return [
        Question(item, answers.get(str(item.pk), ""), protocol.practice_texts(item), protocol.practice_asked(item))
        for item, protocol in zip(items, ways, strict=True)
    ]


@dataclass(frozen=True)
class Step:
    """Where somebody is in the tutorial: a question to answer, or its answer with the reason."""

    number: int
    of: int
    question: Question | None  # None: all is done, or there is nothing to do
    feedback: MarkedAnswer | None
    before: list[tuple[str, str]]  # answers that travel along in the form

    @property
    def is_done(self) -> bool:
        return self.of > 0 and self.question is None


def tutorial_step(items: Sequence[PracticeItem], answers: Mapping[str, str]) -> Step:
    """The first item without an answer; or, right after an answer, that item with its feedback.

    The answers travel in the address: going back and forth, or reloading, changes nothing. `seen` counts the items
    whose feedback has been read.
    """
    n_seen = parse_int(answers.get("seen", ""))
    number = min(n_seen, len(items))
    before = [(str(item.pk), answers.get(str(item.pk), "")) for item in items[:number]]
    if number == len(items):
        return Step(number, len(items), None, None, before)
    question = practice_page([items[number]], answers)[0]
    try:
        feedback = mark_answer(question.item, question.answer) if question.answer else None
    except BadAnswers:
        feedback = None
    return Step(number + 1, len(items), question, feedback, before)
