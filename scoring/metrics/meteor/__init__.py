"""METEOR: aligned words by form, stem and synonym, with a penalty for scattered matches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from analysis.sentence import Sentence
from scoring.base import Family, Need, Readiness, library_version
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

    def requires(self) -> Sequence[Need]:
        return () if self.options["synonyms"] == "no" else (wordnet.need(),)

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
            ours = word_tokens(summary)
            best = max(self.compare(ours, theirs)[1].score for theirs in references)
            rows.append([best] * len(columns))
        return rows

    def compare(self, summary: Sequence[str], reference: Sequence[str]) -> tuple[tuple[Link, ...], Meteor]:
        """Links and score of one pair of texts."""
        if self.options["variant"] == "nltk":
            links = align_in_stages(summary, reference, self._stages())
            same = [True] * max(len(summary), len(reference))
            return links, combine(links, same[: len(summary)], same[: len(reference)], NLTK)
        links = align(summary, reference, self._match())
        found = combine(links, _content(summary), _content(reference), RELEASE_1_5)
        if chunks(links) == 1 and len(links) == len(summary) == len(reference):
            # The release takes no penalty from a summary that is the reference.
            found = Meteor(found.precision, found.recall, found.mean, 0.0, 1)
        return links, found

    def _match(self) -> Callable[[str, str], int | None]:
        """Which module of release 1.5 matches two words, if any."""
        stem = snowball().__getitem__
        net = wordnet.require() if self.options["synonyms"] == "yes" else None

        def match(ours: str, theirs: str) -> int | None:
            if ours == theirs:
                return 0
            if stem(ours) == stem(theirs):
                return 1
            if net is None or net.synsets[ours].isdisjoint(net.synsets[theirs]):
                return None
            return 2

        return match

    def _stages(self) -> list[Callable[[str, str], bool]]:
        """The modules of nltk; its last one looks up the stems that the one before has left."""
        stem = _porter().__getitem__
        stages: list[Callable[[str, str], bool]] = [str.__eq__, lambda ours, theirs: stem(ours) == stem(theirs)]
        if self.options["synonyms"] == "yes":
            net = wordnet.require()
            stages.append(lambda ours, theirs: stem(theirs) in net.names[stem(ours)])
        return stages

    def explain(self, name: str, document: Document, summary: Text) -> Explanation:
        ours = word_tokens(summary)
        found = [(text, *self.compare(ours, word_tokens(text))) for text in document.references]
        text, links, best = max(found, key=lambda one: one[2].score)
        passages = (
            Passage("Summary", joined(summary), _spans(joined(summary), {k.summary: k.module for k in links})),
            Passage("Best reference", joined(text), _spans(joined(text), {k.reference: k.module for k in links})),
        )
        theirs = word_tokens(text)
        units = tuple(Unit(f"{ours[k.summary]} – {theirs[k.reference]}", 1, 1, 1, MODULES[k.module]) for k in links)
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


def _spans(shown: str, modules: Mapping[int, int]) -> tuple[Span, ...]:
    return tuple(
        Span(found.start(), found.end(), _KINDS[modules[i]])
        for i, found in enumerate(TOKEN.finditer(shown))
        if i in modules
    )


@lru_cache(maxsize=1)
def _porter() -> Memo[str, str]:
    from nltk.stem.porter import PorterStemmer

    return Memo(PorterStemmer().stem, limit=200_000)
