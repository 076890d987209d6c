"""METEOR: aligned words by form, stem and synonym, with a penalty for scattered matches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from analysis.sentence import Sentence
from scoring.base import Family, Readiness, Requirement, library_version
from scoring.explain.explanation import Explanation, Passage, Span, Unit
from scoring.metrics.meteor import wordnet
from scoring.metrics.meteor.alignment import (
    MODULES,
    NLTK,
    RELEASE_1_5,
    Link,
    Meteor,
    align,
    align_in_stages,
    chunks,
    combine,
)
from scoring.options import Option
from scoring.registry import metric
from scoring.texts import TOKEN, Document, Memo, Text, joined, word_tokens
from scoring.texts_english import STOP_WORDS, snowball

_KINDS = ("match", "stem", "synonym")


@metric(
    "meteor",
    title="Words aligned by form, stem and synonym, recall weighted, with a penalty for scattered matches",
    citation="Denkowski and Lavie 2014, Meteor Universal; Banerjee and Lavie 2005, METEOR",
    reference="METEOR 1.5's parameters and alignment without its paraphrase table; variant=nltk: nltk's meteor_score",
    needs=("references", "wordnet"),
    options=(
        Option(
            "variant",
            "1.5",
            "parameters of release 1.5 (no paraphrases), or the 2005 form as nltk computes it",
            choices=("1.5", "nltk"),
        ),
        Option("synonyms", "yes", "use WordNet's synonyms", choices=("yes", "no")),
    ),
)
class MeteorFamily(Family):
    """The best score over the references."""

    def requires(self) -> Sequence[Requirement]:
        return () if self.options["synonyms"] == "no" else (wordnet.requirement(),)

    def ready(self) -> Readiness:
        if self.options["synonyms"] == "no" or wordnet.folder() is not None:
            return Readiness(True)
        missing = Sentence(
            "WordNet is not here; %(command)s, or set WORDNET_DIR to a folder with WordNet's index and data files, or "
            "use %(option)s.",
            {"command": wordnet.COMMAND, "option": "meteor[synonyms=no]"},
        )
        return Readiness(False, missing)

    def versions(self) -> Mapping[str, str]:
        facts = {"paraphrases": "none", "words": "unicode-lc-punctuation", "nltk": library_version("nltk")}
        if self.options["variant"] == "1.5":
            facts |= {"stem": "snowball", "function-words": "english-179-and-marks"}
        if self.options["synonyms"] == "yes" and self.ready().ok:
            facts["wordnet"] = wordnet.require().version
        return facts

    def score(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
        references = [word_tokens(text) for text in document.references]
        rows = []
        for summary in summaries:
            words = word_tokens(summary)
            best = max(self.compare(words, reference)[1].score for reference in references)
            rows.append([best] * len(columns))
        return rows

    def compare(self, summary: Sequence[str], reference: Sequence[str]) -> tuple[tuple[Link, ...], Meteor]:
        """Links and score of one pair of texts."""
        if self.options["variant"] == "nltk":
            links = align_in_stages(summary, reference, self._stages())
            is_content = [True] * max(len(summary), len(reference))
            return links, combine(links, is_content[: len(summary)], is_content[: len(reference)], NLTK)
        links = align(summary, reference, self._match())
        meteor = combine(links, _content(summary), _content(reference), RELEASE_1_5)
        if chunks(links) == 1 and len(links) == len(summary) == len(reference):
            # The release takes no penalty from a summary that is the reference.
            meteor = Meteor(meteor.precision, meteor.recall, meteor.mean, 0.0, 1)
        return links, meteor

    def _match(self) -> Callable[[str, str], int | None]:
        """Which module of release 1.5 matches two words, if any."""
        stem = snowball().__getitem__
        net = wordnet.require() if self.options["synonyms"] == "yes" else None

        def match(summary_word: str, reference_word: str) -> int | None:
            if summary_word == reference_word:
                return 0
            if stem(summary_word) == stem(reference_word):
                return 1
            if net is None or net.synsets[summary_word].isdisjoint(net.synsets[reference_word]):
                return None
            return 2

        return match

    def _stages(self) -> list[Callable[[str, str], bool]]:
        """The modules of nltk; its last one looks up the stems that the one before has left."""
        stem = _porter().__getitem__
        stages: list[Callable[[str, str], bool]] = [str.__eq__, lambda word, target: stem(word) == stem(target)]
        if self.options["synonyms"] == "yes":
            net = wordnet.require()
            stages.append(lambda word, target: stem(target) in net.names[stem(word)])
        return stages

    def explain(self, name: str, document: Document, summary: Text) -> Explanation:
        words = word_tokens(summary)
        comparisons = [(text, *self.compare(words, word_tokens(text))) for text in document.references]
        text, links, best = max(comparisons, key=lambda comparison: comparison[2].score)
        passages = (
            Passage("Summary", joined(summary), _spans(joined(summary), {k.summary: k.module for k in links})),
            Passage("Best reference", joined(text), _spans(joined(text), {k.reference: k.module for k in links})),
        )
        reference = word_tokens(text)
        units = tuple(Unit(f"{words[k.summary]} – {reference[k.reference]}", 1, 1, 1, MODULES[k.module]) for k in links)
        steps = (
            f"{len(links)} words are aligned, in {best.chunks} chunks.",
            f"Precision = {best.precision:.5f}, recall = {best.recall:.5f}, weighted mean = {best.mean:.5f}.",
            f"The penalty for scattering is {best.penalty:.5f}; score = (1 − penalty) · mean = {best.score:.5f}.",
        )
        return Explanation(name, best.score, "", passages, units, steps)


def _content(words: Sequence[str]) -> list[bool]:
    """Which words carry content; the release counts its most frequent words and punctuation as function words."""
    return [word not in STOP_WORDS and not _is_mark(word) for word in words]


def _is_mark(word: str) -> bool:
    return len(word) == 1 and not word.isalnum()


def _spans(text: str, modules: Mapping[int, int]) -> tuple[Span, ...]:
    return tuple(
        Span(token.start(), token.end(), _KINDS[modules[i]])
        for i, token in enumerate(TOKEN.finditer(text))
        if i in modules
    )


@lru_cache(maxsize=1)
def _porter() -> Memo[str, str]:
    from nltk.stem.porter import PorterStemmer

    return Memo(PorterStemmer().stem, limit=200_000)
