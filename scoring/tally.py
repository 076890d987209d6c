"""What a run adds up while documents pass by."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from scoring.errors import EmptyTextWarning


@dataclass
class Tally:
    """What a run adds up over all documents: sums for system-level scores, and texts that were empty."""

    sums: dict[str, list[npt.NDArray[np.float64]]] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)
    empty: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Summary or reference: where the first empty one is, and how many there are."""
    hidden: dict[int, npt.NDArray[np.float64]] = field(default_factory=dict)
    """Sums of all columns of the steps that tell something about a run."""
    undefined: dict[str, tuple[str, int]] = field(default_factory=dict)
    """By metric: the first summary without a score, and how many there are."""

    def note_empty(self, what: str, where: str) -> None:
        first, count = self.empty.get(what, (where, 0))
        self.empty[what] = (first, count + 1)

    def warn(self) -> None:
        """Say which texts were empty: never a crash, never silence."""
        for what, (first, count) in self.empty.items():
            more = f" and {count - 1} more" if count > 1 else ""
            message = f"Empty {what}: {first}{more}; it scores 0 where the metric defines that, else undefined."
            warnings.warn(message, EmptyTextWarning, stacklevel=3)
