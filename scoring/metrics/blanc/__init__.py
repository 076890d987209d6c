"""BLANC: how much a summary helps a language model to fill gaps in the document."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

from scoring.base import library_version
from scoring.metrics.blanc.masking import Sentence, Tuning, accuracy, read_sentences, tune
from scoring.models.head_family import LONG, MASKED, HeadFamily
from scoring.options import Option
from scoring.registry import metric
from scoring.texts import Document, Text, sentences


def _positive(value: str) -> None:
    if not value.isdecimal() or int(value) < 1:
        raise ValueError("give a whole number from 1 on")


@metric(
    "blanc-help",
    "blanc-tune",
    title="How many more masked words of the document a language model fills in with the summary than without",
    citation="Vasilyev et al. 2020, Fill in the BLANC: Human-free quality estimation of document summaries",
    reference="the authors' package blanc, measure relative; sentences by pysbd",
    needs=("source", "masked language model"),
    options=(
        Option("model", "bert-base-uncased", "a masked language model: a folder or a name of the hub that is here"),
        Option("gap", "6", "every so many tokens one is masked (the authors' later advice is 2)", check=_positive),
        Option("epochs", "10", "blanc-tune: passes over the summary", check=_positive),
        Option("rate", "5e-5", "blanc-tune: the learning rate at the start; it falls to 0", check=float),
        Option("seed", "1", "blanc-tune: draws the masks", check=_positive),
    ),
    hidden=(LONG,),
)
class Blanc(HeadFamily):
    """(words that only the help got right − those that only the model without it did) / all masked words."""

    head = MASKED

    def versions(self) -> Mapping[str, str]:
        return {**super().versions(), "lengths": "4-2-never", "pysbd": library_version("pysbd")}

    def score(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
        model = self.loaded
        sentences = read_sentences(model, _sentences(document.source or ""), int(self.options["gap"]))
        baselines: dict[int, list[bool]] = {}
        rows = []
        for summary in summaries:
            tokens = [token for text in _sentences(summary) for token in model.tokenizer.tokenize(text)]
            scores = {LONG: float(any(sentence.is_cut(tokens) for sentence in sentences))}
            if "blanc-help" in columns:
                scores["blanc-help"] = self._help(sentences, tokens, baselines)
            if "blanc-tune" in columns:
                scores["blanc-tune"] = self._tune(sentences, tokens, baselines)
            rows.append([scores[column] for column in columns])
        return rows

    def _help(self, sentences: Sequence[Sentence], tokens: Sequence[str], baselines: dict[int, list[bool]]) -> float:
        """The summary in front of each sentence, against as many full stops."""
        if len(tokens) not in baselines:  # full stops depend on the length of a summary only
            baselines[len(tokens)] = accuracy(self.loaded, sentences, ["."] * len(tokens))
        return _gain(baselines[len(tokens)], accuracy(self.loaded, sentences, tokens))

    def _tune(self, sentences: Sequence[Sentence], tokens: Sequence[str], baselines: dict[int, list[bool]]) -> float:
        """A copy of the model that was tuned on the summary, against the model itself."""
        if 0 not in baselines:
            baselines[0] = accuracy(self.loaded, sentences, [])
        settings = Tuning(int(self.options["epochs"]), float(self.options["rate"]), int(self.options["seed"]))
        tuned = tune(self.loaded, tokens, settings)
        return _gain(baselines[0], baselines[0] if tuned is None else accuracy(self.loaded, sentences, [], tuned))


def _gain(without_help: Sequence[bool], with_help: Sequence[bool]) -> float:
    """Undefined where the document has no word to mask."""
    if not without_help:
        return float("nan")
    pairs = list(zip(without_help, with_help, strict=True))
    return (pairs.count((False, True)) - pairs.count((True, False))) / len(pairs)


def _sentences(text: Text) -> list[str]:
    clean = unicodedata.normalize("NFKD", text) if isinstance(text, str) else text
    return [unicodedata.normalize("NFKD", sentence) for sentence in sentences(clean)]
