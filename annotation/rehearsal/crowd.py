"""Many simulated workers at once."""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from annotation.common.errors import Refused

from .characters import Person
from .truth import Truth
from .worker import MarketWorker

Tell = Callable[[str], None]
AT_ONCE = 6


@dataclass(frozen=True)
class Worked:
    """What one person did, in all."""

    person: Person
    worker_id: str
    """The market's id; empty for somebody who never got a task."""
    outcomes: tuple[str, ...]
    problem: str = ""

    def count(self, outcome: str) -> int:
        return self.outcomes.count(outcome)


class Crowd:
    """People who come back: accounts and sessions stay from one wave of work to the next."""

    def __init__(
        self,
        people: Sequence[Person],
        market: str,
        truth: Truth,
        *,
        at_once: int = AT_ONCE,
        mark: Callable[[str], None] = lambda worker_id: None,
    ) -> None:
        """`mark` is told the market's id of each before they open their first task."""
        self.stop = threading.Event()
        self.workers = {
            person.name: MarketWorker(person, market, truth, stop=self.stop, mark=mark) for person in people
        }
        self.problems: dict[str, str] = {}
        self.at_once = at_once
        # One after the other: passwords are slow to hash, and hold up a small market's database.
        self.door = threading.Lock()

    def work(self, people: Sequence[Person], title: str, *, limit: int = 1000, tell: Tell = lambda line: None) -> int:
        """Let these work until nothing is left for them, or each has done `limit`. Returns how many tasks were taken.

        Somebody's mishap doesn't keep the others from working; `worked` tells of it.
        """

        def let_work(person: Person) -> int:
            worker = self.workers[person.name]
            before = len(worker.outcomes)
            try:
                with self.door:
                    worker.enlist()
                self.problems.pop(person.name, None)
                worker.work(title, limit)
            except Refused as refusal:
                self.problems[person.name] = str(refusal)
            except Exception as error:
                self.problems[person.name] = f"{type(error).__name__}: {error}"
            tell(_line(person, worker.outcomes[before:], self.problems.get(person.name, "")))
            return len(worker.outcomes) - before

        # Late people only wait for most of the time, so they come first and get threads of their own.
        n_late = sum(person.character.is_late for person in people)
        with ThreadPoolExecutor(self.at_once + n_late) as pool:
            in_order = sorted(people, key=lambda person: not person.character.is_late)
            futures = [pool.submit(let_work, person) for person in in_order]
            try:
                return sum(future.result() for future in futures)
            except BaseException:
                self.stop.set()
                raise

    def worked(self) -> list[Worked]:
        return [
            Worked(worker.person, worker.worker_id, tuple(worker.outcomes), self.problems.get(name, ""))
            for name, worker in self.workers.items()
        ]


def _line(person: Person, outcomes: Sequence[str], problem: str) -> str:
    counts = ", ".join(f"{number} {outcome}" for outcome, number in Counter(outcomes).items()) or "no task"
    return f"{person.name}: {counts}{f' ({problem})' if problem else ''}"
