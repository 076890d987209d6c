"""A learned metric as a file: a plain list of weights in JSON, with what it was trained on and how well it did."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.tables import write_atomically
from scoring.errors import ScoringError

FORMAT = 1
SETTING = "SCORING_MODELS"
"""A folder with model files that can be named without their path."""

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Ingredient:
    """One metric of the regression. Its values are brought to mean 0 and deviation 1 before they are weighed."""

    metric: str
    signature: str | None
    """How its scores were made in training; None when they came from a table and no metric here has that name."""
    mean: float
    scale: float
    weight: float


@dataclass(frozen=True)
class Model:
    """A regression over metrics."""

    name: str
    kind: str
    """learned, s3-pyr or s3-resp."""
    human: str
    """The human measure that it foretells."""
    intercept: float
    ingredients: tuple[Ingredient, ...]
    penalty: float
    seed: int
    training: Mapping[str, Any]
    """Hash, sizes and what was left out of the training data."""
    cross_validation: Mapping[str, Any] = field(default_factory=dict)
    """What it was worth on documents that it hadn't seen."""

    def predict(self, values: Values) -> Values:
        """One score per row of ingredient values; undefined where an ingredient is."""
        weights = np.array([ingredient.weight for ingredient in self.ingredients])
        means = np.array([ingredient.mean for ingredient in self.ingredients])
        scales = np.array([ingredient.scale for ingredient in self.ingredients])
        # Rows are added up one by one, so that a score doesn't depend on which others are computed with it.
        scores: Values = self.intercept + ((values - means) / scales * weights).sum(axis=1)
        return scores

    @property
    def fingerprint(self) -> str:
        """Name and content, without the figures of the cross-validation."""
        facts = asdict(self) | {"cross_validation": None}
        content = json.dumps(facts, sort_keys=True, ensure_ascii=False)
        return f"{self.name}-{sha256(content.encode()).hexdigest()[:12]}"


def write_model(model: Model, path: Path) -> None:
    """Numbers are written so that they read back to the last bit."""
    content = json.dumps({"format": FORMAT, **asdict(model)}, indent=1, ensure_ascii=False, allow_nan=False)
    write_atomically(path, f"{content}\n".encode())


def read_model(path: Path) -> Model:
    """The model in a file, read again when the file has changed."""
    try:
        state = path.stat()
    except OSError as error:
        raise ScoringError(f"there is no model file {path}") from error
    return _read(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=32)
def _read(path: Path, _size: int, _time: int) -> Model:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.pop("format") != FORMAT:
            raise ScoringError(f"{path} was written by another version of this program; train the model again")
        ingredients = tuple(Ingredient(**fields) for fields in content.pop("ingredients"))
        model = Model(ingredients=ingredients, **content)
        model.predict(np.zeros((1, len(ingredients))))
    except ScoringError:
        raise
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ScoringError(f"{path} is not a model that `fit` or `train-s3` has written ({error})") from error
    return model


def find_model(name: str) -> Path:
    """The file that a path or a name stands for; names are looked up in the folder of the setting."""
    folder = os.environ.get(SETTING) or None
    if Path(name).is_file() or folder is None or "/" in name:
        return Path(name)
    beside = Path(folder) / f"{name}.json"
    if beside.is_file():
        return beside
    for path in sorted(Path(folder).glob("*.json")):
        try:
            if read_model(path).name == name:
                return path
        except ScoringError:
            continue
    return beside
