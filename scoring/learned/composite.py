"""Scores that are made of other scores: a learned regression over metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from analysis.sentence import Sentence
from scoring import registry
from scoring.base import VERSION, Family, Metric, Readiness, Requirement
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
    command: ClassVar[str]
    """The command that trains a model."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._ingredients: tuple[Metric, ...] | None = None
        self._model: Model | None = None

    @property
    def model(self) -> Model:
        return self._model or read_model(find_model(self._model_name()))

    def ingredients(self) -> tuple[Metric, ...]:
        if self._ingredients is None:
            return tuple(registry.get(ingredient.metric) for ingredient in self.model.ingredients)
        return self._ingredients

    @property
    def needs(self) -> tuple[str, ...]:
        """What its ingredients need; without a model, what such metrics usually need."""
        if not self.ready().ok:
            return self.description.needs
        return tuple(dict.fromkeys(name for metric in self.ingredients() for name in metric.needs))

    def requires(self) -> Sequence[Requirement]:
        """The trained model, and all that its ingredients need."""
        if not self._model_name():
            brings = f"{self.command}, then model=FILE or the setting {SETTING}"
            return (Requirement("trained model", False, 0, brings),)
        try:
            path = find_model(self._model_name())
            requirements = [requirement for metric in self.ingredients() for requirement in metric.family.requires()]
        except ScoringError:
            return (Requirement(f"trained model {self._model_name()}", False, 0, self.command),)
        model_file = Requirement(f"trained model {path.name}", True, path.stat().st_size, self.command)
        return (model_file, *dict.fromkeys(requirements))

    def ready(self) -> Readiness:
        if not self._model_name():
            missing = Sentence(
                "it has to be trained: %(command)s, then name the file with model=….", {"command": self.command}
            )
            return Readiness(False, missing)
        try:
            model = self.model
            if not model.ingredients:
                raise ScoringError(f"the model {model.name} has no ingredients")
            if model.kind not in self.kinds:
                raise ScoringError(f"the model {model.name} is a {model.kind} model, not {' or '.join(self.kinds)}")
            for ingredient in model.ingredients:
                _check(ingredient.metric, ingredient.signature)
        except ScoringError as error:
            return Readiness(False, f"{str(error).rstrip('.')}; {self.command} makes a new model.")
        return Readiness(True)

    def combine(self, values: npt.NDArray[np.float64], columns: Sequence[str]) -> npt.NDArray[np.float64]:
        return np.column_stack([self.model.predict(values)] * len(columns))

    def score(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
        """For one document outside a run: the ingredients of one family are computed together."""
        ingredients = self.ingredients()
        values = np.empty((len(summaries), len(ingredients)))
        for family in {id(metric.family): metric.family for metric in ingredients}.values():
            places = [number for number, metric in enumerate(ingredients) if metric.family is family]
            names = family.columns(list(dict.fromkeys(ingredients[number].base for number in places)))
            table = np.array(family.score(document, summaries, names)).reshape(len(summaries), len(names))
            values[:, places] = table[:, [names.index(ingredients[number].base) for number in places]]
        rows: list[list[float]] = self.combine(values, columns).tolist()
        return rows

    def fit_corpus(self, documents: Iterable[Document]) -> Composite:
        """Outside a run: ingredients that must see all documents see them."""
        corpus = list(documents)
        return self.with_ingredients({metric.name: metric.family.fit_corpus(corpus) for metric in self.ingredients()})

    def fit_summaries(self, summaries: Iterable[Text]) -> Composite:
        texts = list(summaries)
        return self.with_ingredients({metric.name: metric.family.fit_summaries(texts) for metric in self.ingredients()})

    def with_ingredients(self, families: Mapping[str, Family]) -> Composite:
        fitted = type(self)(self.options)
        fitted._model = self.model
        fitted._ingredients = tuple(Metric(metric.base, families[metric.name]) for metric in self.ingredients())
        return fitted

    def signature(self, name: str) -> str:
        """The model by its content, the training data, and the signature of every ingredient."""
        if not self.ready().ok:
            return f"{name}|model:none|version:{VERSION}"
        model = self.model
        signatures = " + ".join(f"({metric.signature})" for metric in self.ingredients())
        facts = [
            f"model:{model.fingerprint}",
            f"human:{model.human}",
            f"trained:{model.training['hash']}",
            f"of:{signatures}",
        ]
        return "|".join([name, *facts, f"version:{VERSION}"])

    def explain(self, name: str, document: Document, summary: Text) -> Explanation:
        """What each ingredient adds, largest first."""
        model = self.model
        values = [metric.family.score(document, [summary], [metric.base])[0][0] for metric in self.ingredients()]
        added = [
            (ingredient.weight * (value - ingredient.mean) / ingredient.scale, ingredient.metric, value)
            for ingredient, value in zip(model.ingredients, values, strict=True)
        ]
        steps = [f"An average summary of the training data has {model.intercept:.5f} {model.human}."]
        for gain, metric, value in sorted(added, key=lambda row: -abs(row[0])):
            steps.append(f"{metric} = {value:.5f} adds {gain:+.5f}.")
        passages = [Passage("Summary", in_lines(summary))]
        passages += [Passage(f"Reference {i}", in_lines(text)) for i, text in enumerate(document.references, start=1)]
        return Explanation(name, 0.0, "", tuple(passages), (), tuple(steps))

    def __getstate__(self) -> dict[str, object]:
        # Another process need not have the same setting: it gets the file that the name means here.
        name = self._model_name()
        return {**self.__dict__, "options": {**self.options, "model": str(find_model(name)) if name else ""}}

    def _model_name(self) -> str:
        """What the option names, or a model of its own name in the folder of models."""
        if self.options["model"]:
            return self.options["model"]
        paths = [find_model(kind) for kind in self.kinds if kind in self.description.names]
        return next((str(path) for path in paths if path.is_file()), "")


def _check(metric: str, signature: str | None) -> None:
    """Refuse an ingredient that can't be computed here as it was in training."""
    if signature is None:
        raise ScoringError(f"its ingredient {metric} came from a table and cannot be computed")
    current = registry.get(metric)
    current.require_ready()
    if current.signature != signature:
        raise ScoringError(f"its ingredient {metric} was {signature} in training and is {current.signature} here")
