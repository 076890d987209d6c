"""Line-aligned model outputs: `out.txt` beside its own `ref.txt`, matched to a study's documents by the references.

Both files may be in any order and any tokenisation. A line is matched if its reference is exactly a document's; if
not, if it has the same letters and digits; if not, by the overlap of words, when it is large and no other document
comes near. Nothing is guessed: what is ambiguous, doubled or unlike everything is reported and left out.
"""

import html
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil

from annotation.common.errors import Refused
from annotation.common.text import plain
from annotation.models import Reference, Study

THRESHOLD = 0.8
"""Least overlap (Dice) of the words of two references that are taken for the same."""
MARGIN = 0.1
"""By how much the best document must be ahead of the next."""

TAGS = re.compile(r"</?(?:t|s|q|p|sent|s_s|start|stop)>|\[(?:cls|sep|x_sep)\]|<n>", re.IGNORECASE)
BRACKETS = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}"}
WORDS = re.compile(r"[^\W_]+")
SENTENCES = re.compile(r"<t>(.*?)</t>|<s>(.*?)</s>", re.DOTALL)
BREAKS = re.compile(r"<q>|<n>|\[X_SEP\]|<S_SEP>", re.IGNORECASE)


@dataclass(frozen=True)
class Match:
    """One line that belongs to one document."""

    line: int
    doc_id: str
    method: str  # exact, normalised, fuzzy
    overlap: float


@dataclass
class Alignment:
    """What the two files hold for a study, line numbers from 1."""

    matches: list[Match] = field(default_factory=list)
    ambiguous: dict[int, list[tuple[str, float]]] = field(default_factory=dict)
    unmatched: dict[int, tuple[str, float] | None] = field(default_factory=dict)  # the nearest document, if any
    repeated: dict[str, list[int]] = field(default_factory=dict)  # the same output again: one is used
    conflicts: dict[str, list[int]] = field(default_factory=dict)  # different outputs: none is used
    missing: list[str] = field(default_factory=list)  # documents without an output

    def counts(self) -> dict[str, int]:
        by_method = Counter(match.method for match in self.matches)
        return {
            **{method: by_method[method] for method in ("exact", "normalised", "fuzzy")},
            "ambiguous": len(self.ambiguous),
            "unmatched": len(self.unmatched),
            "repeated": sum(len(lines) - 1 for lines in self.repeated.values()),
            "conflicting": sum(len(lines) for lines in self.conflicts.values()),
            "documents without output": len(self.missing),
        }


def align(study: Study, references: Sequence[str], outputs: Sequence[str], threshold: float = THRESHOLD) -> Alignment:
    """Match every line to at most one document of the study."""
    if len(references) != len(outputs):
        raise Refused(
            f"The references have {len(references)} lines and the outputs {len(outputs)}: they can't be paired, and "
            "nothing was imported. Check that no summary holds a line break."
        )
    index = _ReferenceIndex(study)
    alignment = Alignment()
    lines: dict[str, list[Match]] = defaultdict(list)
    for number, text in enumerate(references, start=1):
        match = index.find(number, text, threshold, alignment)
        if match:
            lines[match.doc_id].append(match)
    for doc, matches in lines.items():
        _take(doc, matches, outputs, alignment)
    matched_docs = {match.doc_id for match in alignment.matches}
    alignment.missing = sorted(doc for doc in index.documents if doc not in matched_docs)
    alignment.matches.sort(key=lambda match: match.line)
    return alignment


def _take(doc: str, matches: list[Match], outputs: Sequence[str], alignment: Alignment) -> None:
    """A document's line; of several only if they all hold the same output."""
    texts = {squeezed(outputs[match.line - 1]) for match in matches}
    if len(texts) > 1:
        alignment.conflicts[doc] = [match.line for match in matches]
        return
    alignment.matches.append(max(matches, key=lambda match: match.overlap))
    if len(matches) > 1:
        alignment.repeated[doc] = [match.line for match in matches]


class _ReferenceIndex:
    """The study's references, to be found by their text, their letters, or their words."""

    def __init__(self, study: Study) -> None:
        self.exact: dict[str, set[str]] = defaultdict(set)
        self.letters: dict[str, set[str]] = defaultdict(set)
        self.bags: list[tuple[str, Counter[str], int]] = []
        self.holders: dict[str, list[int]] = defaultdict(list)  # word -> places in bags
        self.documents = set(study.documents.values_list("doc_id", flat=True))
        rows = Reference.objects.filter(document__study=study).order_by("document_id", "index")
        for doc, text in rows.values_list("document__doc_id", "text").iterator():
            self._add(doc, plain(text))

    def _add(self, doc: str, text: str) -> None:
        words = words_of(text)
        self.exact[squeezed(text)].add(doc)
        self.letters["".join(words)].add(doc)
        bag = Counter(words)
        for word in bag:
            self.holders[word].append(len(self.bags))
        self.bags.append((doc, bag, len(words)))

    def find(self, number: int, text: str, threshold: float, alignment: Alignment) -> Match | None:
        words = words_of(text)
        for method, docs in (
            ("exact", self.exact.get(squeezed(text))),
            ("normalised", self.letters.get("".join(words))),
        ):
            if words and docs:
                if len(docs) == 1:
                    return Match(number, next(iter(docs)), method, 1.0)
                alignment.ambiguous[number] = [(doc, 1.0) for doc in sorted(docs)]
                return None
        candidates = self._candidates(words, threshold - MARGIN)
        if not candidates or candidates[0][1] < threshold:
            alignment.unmatched[number] = candidates[0] if candidates else None
            return None
        close = [(doc, overlap) for doc, overlap in candidates if overlap > candidates[0][1] - MARGIN]
        if len(close) > 1:
            alignment.ambiguous[number] = close[:5]
            return None
        return Match(number, candidates[0][0], "fuzzy", candidates[0][1])

    def _candidates(self, words: list[str], threshold: float) -> list[tuple[str, float]]:
        """Documents whose words overlap by at least this much, nearest first.

        An overlap of d needs at least d/(2-d) of this text's words, so that one of its rarest words, one more than may
        be missing, is in every such reference: only references with one of those are looked at.
        """
        if not words:
            return []
        bag, size = Counter(words), len(words)
        by_rarity = sorted(bag.elements(), key=lambda word: len(self.holders.get(word, ())))
        prefix = by_rarity[: size - ceil(size * threshold / (2 - threshold)) + 1]
        places = {place for word in set(prefix) for place in self.holders.get(word, ())}
        best: dict[str, float] = {}
        for place in places:
            doc, doc_bag, length = self.bags[place]
            overlap = 2 * sum((bag & doc_bag).values()) / (size + length)
            if overlap >= threshold:
                best[doc] = max(overlap, best.get(doc, 0.0))
        return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))


def squeezed(text: str) -> str:
    """Without sentence tags and with single spaces."""
    return " ".join(TAGS.sub(" ", text).split())


def words_of(text: str) -> list[str]:
    """Letters and digits in runs, in lower case; brackets, entities, tags and accents' encodings don't matter."""
    text = TAGS.sub(" ", html.unescape(text)).casefold()
    for name, sign in BRACKETS.items():
        text = text.replace(name, sign)
    return WORDS.findall(unicodedata.normalize("NFKC", text))


def sentences_of(text: str) -> str | list[str]:
    """An output's sentences where tags tell them (<t> … </t>, <q>); otherwise the text as it is."""
    tagged = [(in_t or in_s).strip() for in_t, in_s in SENTENCES.findall(text) if in_t or in_s]
    if tagged and not SENTENCES.sub("", text).strip():
        return [sentence for sentence in tagged if sentence]
    sentences = [sentence.strip() for sentence in BREAKS.split(text)]
    return [sentence for sentence in sentences if sentence] if len(sentences) > 1 else text.strip()


def report_lines(alignment: Alignment, max_lines: int = 20) -> Iterable[str]:
    """The alignment for people: counts first, then every line that needs a look (at most so many of a kind)."""
    for name, count in alignment.counts().items():
        yield f"{count:>10,} {name}"
    kinds = {
        "Ambiguous": [
            f"line {n}: {', '.join(f'{d} ({o:.2f})' for d, o in candidates)}"
            for n, candidates in alignment.ambiguous.items()
        ],
        "No match": [f"line {n}: nearest {_nearest(candidate)}" for n, candidate in alignment.unmatched.items()],
        "Fuzzy": [f"line {m.line}: {m.doc_id} ({m.overlap:.2f})" for m in alignment.matches if m.method == "fuzzy"],
        "Repeated": [f"{doc}: lines {', '.join(map(str, lines))}" for doc, lines in alignment.repeated.items()],
        "Conflict": [f"{doc}: lines {', '.join(map(str, lines))} differ" for doc, lines in alignment.conflicts.items()],
    }
    for name, sentences in kinds.items():
        yield from (f"{name}: {sentence}" for sentence in sentences[:max_lines])
        if len(sentences) > max_lines:
            yield f"{name}: {len(sentences) - max_lines:,} more"


def _nearest(candidate: tuple[str, float] | None) -> str:
    return f"{candidate[0]} ({candidate[1]:.2f})" if candidate else "nothing"
