"""What all metrics that ask a model share: the libraries it runs on, and texts that are longer than it reads."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from scoring.base import Family, library_version

LONG = "long"
"""The hidden column that counts summaries with a text longer than the model."""


class ModelFamily(Family):
    """A metric that asks a model which the option `model` names."""

    reports = True
    libraries: ClassVar[tuple[str, ...]] = ("torch", "transformers")

    def versions(self) -> Mapping[str, str]:
        return {
            "torch": library_version("torch").partition("+")[0],
            "transformers": library_version("transformers"),
        }

    def columns(self, names: Sequence[str]) -> tuple[str, ...]:
        return (*names, LONG)

    def warnings(self, sums: Mapping[str, float], count: int) -> Sequence[str]:
        number = int(sums.get(LONG, 0))
        return [f"{self.description.names[0]}: {self.long_texts(f'{number} of {count} summaries')}"] if number else ()

    @abstractmethod
    def long_texts(self, summaries: str) -> str:
        """What became of the texts that are longer than the model, of so many summaries."""
