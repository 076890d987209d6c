"""Scores that are made of other scores: a learned regression over metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from analysis.sentence import Sentence
from scoring import registry
from scoring.base import VERSION, Family, Metric, Need, Readiness
from scoring.errors import ScoringError
from scoring.explain.explanation import Explanation, Passage
from scoring.learned.model_file import SETTING, Model, find_model, read_model
from scoring.options import Option, Options
from scoring.texts import Document, Text, in_lines

OPTION = Option(
    "model",
    "",
    f"the file of the trained model, or the name of one in the folder that the setting {SETTING} names",
    keyed=False,
)


class Composite(Family):
    """A family whose one score is a weighted sum of other families' scores."""

    reports = True
    kinds: ClassVar[tuple[str, ...]]
    """The kinds of model that it can take."""
    how: ClassVar[str]
    """The command that trains a model."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._parts: tuple[Metric, ...] | None = None
        self._model: Model | None = None

    @property
    def model(self) -> Model:
        return self._model or read_model(find_model(self._named()))

    def ingredients(self) -> tuple[Metric, ...]:
        if self._parts is None:
            return tuple(registry.get(one.metric) for one in self.model.ingredients)
        return self._parts

    @property
    def needs(self) -> tuple[str, ...]:
        """What its ingredients need; without a model, what such metrics usually need."""
        if not self.ready().ok:
            return self.description.needs
        return tuple(dict.fromkeys(need for part in self.ingredients() for need in part.needs))

    def requires(self) -> Sequence[Need]:
        """The trained model, and all that its ingredients need."""
        if not self._named():
            return (Need("trained model", False, 0, f"{self.how}, then model=FILE or the setting {SETTING}"),)
        try:
            path = find_model(self._named())
            parts = [need for part in self.ingredients() for need in part.family.requires()]
        except ScoringError:
            return (Need(f"trained model {self._named()}", False, 0, self.how),)
        return (Need(f"trained model {path.name}", True, path.stat().st_size, self.how), *dict.fromkeys(parts))

    def ready(self) -> Readiness:
        if not self._named():
            missing = Sentence(
                "it has to be trained: %(command)s, then name the file with model=….", {"command": self.how}
            )
            return Readiness(False, missing)
        try:
            model = self.model
            if not model.ingredients:
                raise ScoringError(f"the model {model.name} has no ingredients")
            if model.kind not in self.kinds:
                raise ScoringError(f"the model {model.name} is a {model.kind} model, not {' or '.join(self.kinds)}")
            for one in model.ingredients:
                _check(one.metric, one.signature)
        except ScoringError as error:
            return Readiness(False, f"{str(error).rstrip('.')}; {self.how} makes a new model.")
        return Readiness(True)

    def combine(self, values: npt.NDArray[np.float64], columns: Sequence[str]) -> npt.NDArray[np.float64]:
        return np.column_stack([self.model.predict(values)] * len(columns))

    def score(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
        """For one document outside a run: the ingredients of one family are computed together."""
        parts = self.ingredients()
        values = np.empty((len(summaries), len(parts)))
        for family in {id(part.family): part.family for part in parts}.values():
            mine = [number for number, part in enumerate(parts) if part.family is family]
            wanted = family.columns(list(dict.fromkeys(parts[number].base for number in mine)))
            table = np.array(family.score(document, summaries, wanted)).reshape(len(summaries), len(wanted))
            values[:, mine] = table[:, [wanted.index(parts[number].base) for number in mine]]
        rows: list[list[float]] = self.combine(values, columns).tolist()
        return rows

    def fit_corpus(self, documents: Iterable[Document]) -> Composite:
        """Outside a run: ingredients that must see all documents see them."""
        found = list(documents)
        return self.with_ingredients({part.name: part.family.fit_corpus(found) for part in self.ingredients()})

    def fit_summaries(self, summaries: Iterable[Text]) -> Composite:
        found = list(summaries)
        return self.with_ingredients({part.name: part.family.fit_summaries(found) for part in self.ingredients()})

    def with_ingredients(self, families: Mapping[str, Family]) -> Composite:
        made = type(self)(self.options)
        made._model = self.model
        made._parts = tuple(Metric(part.base, families[part.name]) for part in self.ingredients())
        return made

    def signature(self, name: str) -> str:
        """The model by its content, the training data, and the signature of every ingredient."""
        if not self.ready().ok:
            return f"{name}|model:none|version:{VERSION}"
        model = self.model
        parts = " + ".join(f"({part.signature})" for part in self.ingredients())
        facts = [
            f"model:{model.fingerprint}",
            f"human:{model.human}",
            f"trained:{model.training['hash']}",
            f"of:{parts}",
        ]
        return "|".join([name, *facts, f"version:{VERSION}"])

    def explain(self, name: str, document: Document, summary: Text) -> Explanation:
        """What each ingredient adds, largest first."""
        model = self.model
        values = [part.family.score(document, [summary], [part.base])[0][0] for part in self.ingredients()]
        added = [
            (one.weight * (value - one.mean) / one.scale, one.metric, value)
            for one, value in zip(model.ingredients, values, strict=True)
        ]
        steps = [f"An average summary of the training data has {model.intercept:.5f} {model.human}."]
        for gain, metric, value in sorted(added, key=lambda row: -abs(row[0])):
            steps.append(f"{metric} = {value:.5f} adds {gain:+.5f}.")
        passages = [Passage("Summary", in_lines(summary))]
        passages += [Passage(f"Reference {i}", in_lines(text)) for i, text in enumerate(document.references, start=1)]
        return Explanation(name, 0.0, "", tuple(passages), (), tuple(steps))

    def __getstate__(self) -> dict[str, object]:
        # Another process need not have the same setting: it gets the file that the name means here.
        named = self._named()
        return {**self.__dict__, "options": {**self.options, "model": str(find_model(named)) if named else ""}}

    def _named(self) -> str:
        """What the option names, or a model of its own name in the folder of models."""
        if self.options["model"]:
            return self.options["model"]
        own = [find_model(kind) for kind in self.kinds if kind in self.description.names]
        return next((str(path) for path in own if path.is_file()), "")


def _check(metric: str, signature: str | None) -> None:
    """Refuse an ingredient that can't be computed here as it was in training."""
    if signature is None:
        raise ScoringError(f"its ingredient {metric} came from a table and cannot be computed")
    one = registry.get(metric)
    one.require_ready()
    if one.signature != signature:
        raise ScoringError(f"its ingredient {metric} was {signature} in training and is {one.signature} here")
