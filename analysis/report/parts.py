"""What a report is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

from analysis.correlate.coefficients import UnknownName
from analysis.correlate.score_cube import ScoreCube
from analysis.plot import to_svg
from analysis.sentence import Sentence


@dataclass(frozen=True)
class Study:
    """What the figures are drawn from."""

    scores: pd.DataFrame
    cube: ScoreCube
    human: str
    metrics: tuple[str, ...]
    """The metrics to judge, without other human measures."""
    judgments: pd.DataFrame | None
    summaries: pd.DataFrame | None
    seed: int
    resamples: int
    where: tuple[str, ...] = ()
    source: tuple[str, ...] = ("scores.csv",)
    """Where the scores lie, as the printed commands name them."""
    judgments_source: str = "judgments.csv"
    filtered: str = ""
    """One sentence on how the judgments were filtered."""


@dataclass(frozen=True)
class Figure:
    """A chart, the table of its numbers, and the command that makes it again."""

    name: str
    title: Sentence
    caption: Sentence
    chart: Any
    table: pd.DataFrame
    command: str

    @cached_property
    def svg(self) -> str:
        """The chart as a drawing."""
        return to_svg(self.chart)


@dataclass(frozen=True)
class Section:
    """One step of the argument."""

    name: str
    heading: Sentence
    text: Sentence
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class Report:
    """A whole report, ready to be shown or written."""

    title: str
    verdict: Sentence
    warnings: tuple[str, ...]
    sections: tuple[Section, ...]
    methods: Sentence
    command: str
    provenance: dict[str, object] = field(default_factory=dict)

    @property
    def figures(self) -> tuple[Figure, ...]:
        return tuple(figure for section in self.sections for figure in section.figures)

    def figure(self, name: str) -> Figure:
        """One figure by name; an unknown one is answered with the known ones."""
        for figure in self.figures:
            if figure.name == name:
                return figure
        raise UnknownName("figure", name, tuple(figure.name for figure in self.figures))
