"""Calling a market many times: several calls at once, results kept in order, one thread that writes."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

from annotation.crowds.base import Market, MarketRefused, MarketUnreachable

T = TypeVar("T")
R = TypeVar("R")
CHUNK = 32
"""Results are written after so many calls: a crash leaves at most these to be looked up."""


@dataclass(frozen=True)
class Reply(Generic[T, R]):
    """What came of one call: a value, or why not."""

    item: T
    value: R | None = None
    problem: MarketRefused | MarketUnreachable | None = None

    @property
    def unknown(self) -> bool:
        """Whether the call took effect is not known."""
        return isinstance(self.problem, MarketUnreachable)


def ask(
    market: Market,
    items: Iterable[T],
    call: Callable[[T], R],
    before: Callable[[list[T]], None] | None = None,
    size: int = CHUNK,
) -> Iterator[list[Reply[T, R]]]:
    """Chunks of replies, in order. `before` sees each chunk first. Stops after one in which the market fell silent."""

    def attempt(item: T) -> Reply[T, R]:
        try:
            return Reply(item, call(item))
        except (MarketRefused, MarketUnreachable) as problem:
            return Reply(item, problem=problem)

    remaining = iter(items)
    with ThreadPoolExecutor(market.calls_at_once) as pool:
        while chunk := list(islice(remaining, size)):
            if before:
                before(chunk)
            # One at a time stays in this thread: such markets may read the database.
            replies = list((pool.map if market.calls_at_once > 1 else map)(attempt, chunk))
            yield replies
            if any(reply.unknown for reply in replies):
                return
