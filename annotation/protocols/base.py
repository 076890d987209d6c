"""What every protocol can do: list the items of a task, and check the answers to them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

from annotation.errors import BadAnswers
from annotation.models import Assignment, Task


@dataclass(frozen=True)
class Item:
    """One thing to answer: a unit of a summary, as the annotator sees it."""

    summary_id: int
    unit: str
    text: str
    is_check: bool = False

    @property
    def field(self) -> str:
        """The name of its form field."""
        return f"{self.summary_id}:{self.unit}"


@dataclass(frozen=True)
class Answer:
    """A checked answer to an item, with the place it was shown at."""

    item: Item
    value: float
    position: int


class Protocol(ABC):
    name: str
    title: str
    template: str
    scale_min: float
    scale_max: float

    @abstractmethod
    def items(self, assignment: Assignment) -> list[Item]:
        """What the holder of this assignment is asked, in the order shown."""

    @abstractmethod
    def values(self, task: Task) -> list[float]:
        """The values that an answer may have."""

    def check_answers(self, assignment: Assignment, given: Mapping[str, str]) -> list[Answer]:
        """Every item answered once, with a value of the scale; otherwise BadAnswers says what is wrong."""
        items, allowed = self.items(assignment), self.values(assignment.task)
        missing = [item for item in items if not given.get(item.field, "").strip()]
        if missing:
            raise BadAnswers(
                f"{len(missing)} of {len(items)} items have no answer yet, the first one is: “{missing[0].text}”. "
                "Nothing was submitted; your other answers are kept."
            )
        return [
            Answer(item, _value(given[item.field], allowed, item), position)
            for position, item in enumerate(items, start=1)
        ]


def _value(text: str, allowed: list[float], item: Item) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if value not in allowed:
        choices = ", ".join(f"{choice:g}" for choice in allowed)
        raise BadAnswers(
            f"The answer to “{item.text}” is “{text[:40]}”, but must be one of {choices}. "
            "Nothing was submitted; your other answers are kept."
        )
    return value
