"""METEOR: aligned words by form, stem and synonym, with a penalty for scattered matches."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from analysis.sentence import Sentence
from scoring.base import Family, Readiness, Requirement, library_version
from scoring.explain.explanation import Explanation, Passage, Span, Unit
from scoring.metrics.meteor import release, wordnet
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
from scoring.metrics.meteor.release_alignment import align_release
from scoring.options import Option
from scoring.registry import metric
from scoring.texts import TOKEN, Document, Memo, Text, joined, word_tokens
from scoring.texts_english import STOP_WORDS, snowball

_KINDS = ("match", "stem", "synonym", "paraphrase")


@metric(
    "meteor",
    title="Words aligned by form, stem, synonym and paraphrase, recall weighted, with a penalty for scattered matches",
    citation="Denkowski and Lavie 2014, Meteor Universal; Banerjee and Lavie 2005, METEOR",
    reference="METEOR 1.5 (-l en -norm) with its tables, else its parameters without paraphrases; variant=nltk: nltk's",
    needs=("references", "wordnet"),
    options=(
        Option(
            "variant",
            "1.5",
            "parameters of release 1.5, or the 2005 form as nltk computes it",
            choices=("1.5", "nltk"),
        ),
        Option("synonyms", "yes", "use synonyms", choices=("yes", "no")),
        Option(
            "tables",
            "auto",
            "release: the release's lists and paraphrases; own: ours, without paraphrases; auto: the first if here",
            choices=("auto", "release", "own"),
            keyed=False,  # the signature names the words, lists and paraphrases that were used
        ),
    ),
)
class MeteorFamily(Family):
    """The best score over the references."""

    libraries = ("nltk",)
    reports = True

    def warnings(self, sums: Mapping[str, float], count: int) -> Sequence[str]:
        """Which METEOR it was, where the name alone doesn't say: `auto` without the release's tables."""
        if self.is_release or self.options["variant"] == "nltk" or self.options["tables"] == "own":
            return ()
        return (
            Sentence(
                "meteor was scored without METEOR 1.5's word lists and paraphrases, which are not here: it is our own "
                "variant (paraphrases:none in its signature). %(command)s brings them; %(option)s refuses without.",
                {"command": release.COMMAND, "option": "meteor[tables=release]"},
            ),
        )

    @property
    def is_release(self) -> bool:
        """Whether words, lists and paraphrases are those of release 1.5."""
        if self.options["variant"] == "nltk" or self.options["tables"] == "own":
            return False
        return self.options["tables"] == "release" or release.folder() is not None

    @property
    def needs(self) -> tuple[str, ...]:
        return ("references",) if self.is_release else self.description.needs

    def requires(self) -> Sequence[Requirement]:
        needs = [release.requirement()] if self.options["variant"] == "1.5" and self.options["tables"] != "own" else []
        if self.options["synonyms"] == "yes" and not self.is_release:
            needs.append(wordnet.requirement())
        return needs

    def ready(self) -> Readiness:
        if self.is_release:
            return Readiness(True) if release.folder() is not None else Readiness(False, _no_release())
        if self.options["synonyms"] == "no" or wordnet.folder() is not None:
            return Readiness(True)
        missing = Sentence(
            "WordNet is not here; %(command)s, or set WORDNET_DIR to a folder with WordNet's index and data files, or "
            "use %(option)s.",
            {"command": wordnet.COMMAND, "option": "meteor[synonyms=no]"},
        )
        return Readiness(False, missing)

    def versions(self) -> Mapping[str, str]:
        if self.is_release:
            return {"paraphrases": "1.5", "words": "1.5-norm", "stem": "snowball", "function-words": "1.5"}
        facts = {"paraphrases": "none", "words": "unicode-lc-punctuation", "nltk": library_version("nltk")}
        if self.options["variant"] == "1.5":
            facts |= {"stem": "snowball", "function-words": "english-179-and-marks"}
        if self.options["synonyms"] == "yes" and self.ready().ok:
            facts["wordnet"] = wordnet.require().version
        return facts

    def score(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
        references = [self.words(text) for text in document.references]
        rows = []
        for summary in summaries:
            words = self.words(summary)
            best = max(self.compare(words, reference)[1].score for reference in references)
            rows.append([best] * len(columns))
        return rows

    def words(self, text: Text) -> tuple[str, ...]:
        """The words of a text as this variant finds them."""
        return release.require().tokens(text) if self.is_release else word_tokens(text)

    def compare(self, summary: Sequence[str], reference: Sequence[str]) -> tuple[tuple[Link, ...], Meteor]:
        """Links and score of one pair of texts."""
        if self.options["variant"] == "nltk":
            links = align_in_stages(summary, reference, self._stages())
            is_content = [True] * max(len(summary), len(reference))
            return links, combine(links, is_content[: len(summary)], is_content[: len(reference)], NLTK)
        links = self._align(summary, reference)
        meteor = combine(links, self._content(summary), self._content(reference), RELEASE_1_5)
        if chunks(links) == 1 and _covers(links, summary, reference):
            # The release takes no penalty from a summary that is the reference.
            meteor = Meteor(meteor.precision, meteor.recall, meteor.mean, 0.0, 1)
        return links, meteor

    def _align(self, summary: Sequence[str], reference: Sequence[str]) -> tuple[Link, ...]:
        if not self.is_release:
            return align(summary, reference, self._match())
        data = release.require()
        synsets = data.synsets.__getitem__ if self.options["synonyms"] == "yes" else None
        return align_release(
            summary, reference, snowball().__getitem__, synsets, data.paraphrases.of_phrase.__getitem__
        )

    def _content(self, words: Sequence[str]) -> list[bool]:
        """Which words carry content; the release counts its most frequent words and marks as function words."""
        if self.is_release:
            function_words = release.require().function_words
            return [word not in function_words for word in words]
        return [word not in STOP_WORDS and not _is_mark(word) for word in words]

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
        words = self.words(summary)
        comparisons = [(text, *self.compare(words, self.words(text))) for text in document.references]
        text, links, best = max(comparisons, key=lambda comparison: comparison[2].score)
        reference = self.words(text)
        passages = (
            self._passage("Summary", summary, {i: k.module for k in links for i in k.summary_words}),
            self._passage("Best reference", text, {j: k.module for k in links for j in k.reference_words}),
        )
        units = tuple(_unit(k, words, reference) for k in links)
        steps = (
            f"{sum(k.summary_length for k in links)} words are aligned, in {best.chunks} chunks.",
            f"Precision = {best.precision:.5f}, recall = {best.recall:.5f}, weighted mean = {best.mean:.5f}.",
            f"The penalty for scattering is {best.penalty:.5f}; score = (1 − penalty) · mean = {best.score:.5f}.",
        )
        return Explanation(name, best.score, "", passages, units, steps)

    def _passage(self, title: str, text: Text, modules: Mapping[int, int]) -> Passage:
        """The text with its matches; words that the release has normalised are shown as it sees them."""
        shown = " ".join(self.words(text)) if self.is_release else joined(text)
        tokens = re.finditer(r"\S+", shown) if self.is_release else TOKEN.finditer(shown)
        spans = tuple(
            Span(token.start(), token.end(), _KINDS[modules[i]]) for i, token in enumerate(tokens) if i in modules
        )
        return Passage(title, shown, spans)


def _no_release() -> Sentence:
    return Sentence(
        "METEOR 1.5's word lists and paraphrases are not here; %(command)s, or set METEOR_DIR to a folder with "
        "meteor-1.5.jar and data/paraphrase-en.gz, or use %(option)s.",
        {"command": release.COMMAND, "option": "meteor[tables=own]"},
    )


def _unit(link: Link, summary: Sequence[str], reference: Sequence[str]) -> Unit:
    phrase = " ".join(summary[i] for i in link.summary_words)
    target = " ".join(reference[j] for j in link.reference_words)
    return Unit(f"{phrase} – {target}", 1, 1, 1, MODULES[link.module])


def _covers(links: Sequence[Link], summary: Sequence[str], reference: Sequence[str]) -> bool:
    """Whether every word of both texts is aligned."""
    return sum(k.summary_length for k in links) == len(summary) and sum(k.reference_length for k in links) == len(
        reference
    )


def _is_mark(word: str) -> bool:
    return len(word) == 1 and not word.isalnum()


@lru_cache(maxsize=1)
def _porter() -> Memo[str, str]:
    from nltk.stem.porter import PorterStemmer

    return Memo(PorterStemmer().stem, limit=200_000)
