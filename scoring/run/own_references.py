"""Summaries that are one of their own document's references: a human reference left among the systems.

Scored against all references such a summary is compared with itself. `leave_one_out` is ROUGE's jackknife: of m
references each is left out in turn and the m scores are averaged; a summary that is a reference itself is scored
against the others only. So systems and references are scored against m − 1 references alike.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
import numpy.typing as npt

from scoring.run.plan import Task
from scoring.texts import Document, Text, joined

REFERENCE_SETS = ("all", "leave-one-out")


def own_references(document: Document, summaries: Sequence[Text]) -> list[tuple[int, ...]]:
    """For each summary the references whose text it has; white space and the split into sentences don't count."""
    heads = set(map(_head, document.references))
    candidates = [_head(text) in heads for text in summaries]  # nearly every summary begins otherwise
    if not any(candidates):
        return [()] * len(summaries)
    references = [_plain(text) for text in document.references]
    plain_summaries = [_plain(text) if is_open else "" for text, is_open in zip(summaries, candidates, strict=True)]
    return [
        tuple(i for i, reference in enumerate(references) if reference == summary) if is_open else ()
        for summary, is_open in zip(plain_summaries, candidates, strict=True)
    ]


def _head(text: Text) -> str:
    """The first letters that are no white space."""
    first = text if isinstance(text, str) else "".join(text[:3])
    return first[:60].lstrip()[:4].split(None, 1)[0] if first[:60].strip() else ""


def _plain(text: Text) -> str:
    return " ".join(joined(text).split())


class LeaveOneOut:
    """Tasks with each reference left out in turn, and the way back from their scores to one per summary."""

    def __init__(self) -> None:
        self._weights: deque[npt.NDArray[np.float64]] = deque()
        """For each document, sets of references × summaries: 1 where the summary is scored against the set."""

    def tasks(self, tasks: Iterable[Task]) -> Iterator[Task]:
        for task in tasks:
            references = task.document.references
            own = own_references(task.document, task.summaries)
            if len(references) < 2:
                self._weights.append(np.array([[0.0 if rows else 1.0 for rows in own]]))
                yield task
                continue
            sets = range(len(references))
            self._weights.append(np.array([[float(not rows or i in rows) for rows in own] for i in sets]))
            for i in sets:
                others = references[:i] + references[i + 1 :]
                yield replace(task, document=replace(task.document, references=others))

    def average(self, values: Iterable[npt.NDArray[np.float64]]) -> Iterator[npt.NDArray[np.float64]]:
        """One block per document from the blocks of its sets; what no set may score is undefined."""
        blocks = iter(values)
        for first in blocks:
            weights = self._weights.popleft()
            stacked = np.stack([first, *islice(blocks, len(weights) - 1)])
            totals = weights.sum(axis=0)[:, None]
            with np.errstate(invalid="ignore"):
                yield np.where(weights[:, :, None] > 0, stacked, 0.0).sum(axis=0) / totals


def mark_signature(signature: str, references: str) -> str:
    """The signature, with the set of references where it is not all of them."""
    return signature if references == "all" else f"{signature}|references:{references}"
