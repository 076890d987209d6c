"""Alignment of words and phrases as release 1.5 of METEOR makes it, with everything that decides which of equals wins.

Two habits of the release matter for its digits and are kept: the search goes along the reference, and the distance of a
match is added to the path that did not take it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from scoring.metrics.meteor.alignment import BEAM, Link
from scoring.metrics.meteor.paraphrases import LONGEST

EXACT, STEM, SYNONYM, PARAPHRASE = range(4)
Find = Callable[[str], tuple[str, ...]]


def align_release(
    summary: Sequence[str],
    reference: Sequence[str],
    stem: Callable[[str], str],
    synsets: Callable[[str], frozenset[str]] | None,
    paraphrases: Find,
    beam: int = BEAM,
) -> tuple[Link, ...]:
    """The links of the release; without `synsets` there are no synonym matches."""
    links = list(_exact(summary, reference))
    if summary != reference:
        links += _stems(summary, reference, stem)
        links += _synonyms(summary, reference, synsets) if synsets is not None else ()
        links += _paraphrases(summary, reference, paraphrases)
    return _resolve(_by_reference(links, len(reference)), _certain(links), beam)


def _exact(summary: Sequence[str], reference: Sequence[str]) -> Iterator[Link]:
    for j, target in enumerate(reference):
        yield from (Link(i, j, EXACT) for i, word in enumerate(summary) if word == target)


def _stems(summary: Sequence[str], reference: Sequence[str], stem: Callable[[str], str]) -> Iterator[Link]:
    stems = [stem(word) for word in summary]
    for j, target in enumerate(reference):
        target_stem = stem(target)
        for i, word in enumerate(summary):
            if stems[i] == target_stem and word != target:
                yield Link(i, j, STEM)


def _synonyms(
    summary: Sequence[str], reference: Sequence[str], synsets: Callable[[str], frozenset[str]]
) -> Iterator[Link]:
    of_summary = [synsets(word) for word in summary]
    for j, target in enumerate(reference):
        of_target = synsets(target)
        for i, word in enumerate(summary):
            if word != target and not of_target.isdisjoint(of_summary[i]):
                yield Link(i, j, SYNONYM)


def _paraphrases(summary: Sequence[str], reference: Sequence[str], find: Find) -> Iterator[Link]:
    """Phrases of the reference with a paraphrase in the summary, then the other way; what both find counts twice."""
    for j, length, i, other_length in _phrase_pairs(reference, summary, find):
        yield Link(i, j, PARAPHRASE, other_length, length)
    for i, length, j, other_length in _phrase_pairs(summary, reference, find):
        yield Link(i, j, PARAPHRASE, length, other_length)


def _phrase_pairs(words: Sequence[str], others: Sequence[str], find: Find) -> Iterator[tuple[int, int, int, int]]:
    """Place and length of each phrase, place and length of its paraphrase among the other words."""
    places: dict[str, list[int]] = {}
    for start, _, phrase in _phrases(others):
        places.setdefault(phrase, []).append(start)
    for start, length, phrase in _phrases(words):
        for paraphrase in find(phrase):
            if paraphrase in places:
                other_length = paraphrase.count(" ") + 1
                yield from ((start, length, place, other_length) for place in places[paraphrase])


def _phrases(words: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    for start in range(len(words)):
        for length in range(1, min(LONGEST, len(words) - start) + 1):
            yield start, length, " ".join(words[start : start + length])


def _by_reference(links: Sequence[Link], size: int) -> list[list[Link]]:
    options: list[list[Link]] = [[] for _ in range(size)]
    for link in links:
        options[link.reference].append(link)
    return options


def _certain(links: Sequence[Link]) -> dict[int, Link]:
    """Links whose words no other link touches, by their place in the reference."""
    in_summary: dict[int, int] = {}
    in_reference: dict[int, int] = {}
    for link in links:
        for i in link.summary_words:
            in_summary[i] = in_summary.get(i, 0) + 1
        for j in link.reference_words:
            in_reference[j] = in_reference.get(j, 0) + 1
    return {
        link.reference: link
        for link in links
        if all(in_summary[i] == 1 for i in link.summary_words)
        and all(in_reference[j] == 1 for j in link.reference_words)
    }


_Node = tuple[Link, "_Node"] | None


@dataclass(slots=True)
class _Path:
    """A partial alignment."""

    words: int = 0
    """Words covered on both sides; two words of a looser match count as one."""
    chunks: int = 0
    distance: int = 0
    next: int = 0
    """The reference's first word that it hasn't decided on."""
    end: int = -1
    """Where the summary's side of the last link ends, if the word before is linked."""
    summary_bits: int = 0
    reference_bits: int = 0
    node: _Node = None

    def rank(self) -> tuple[int, int, int]:
        return -self.words, self.chunks, self.distance

    def take(self, link: Link) -> None:
        weight = 2 if link.module == EXACT else 1
        self.words += link.summary_length * weight // 2 + link.reference_length * weight // 2
        self.chunks += self.end not in (-1, link.summary)
        self.next = link.reference + link.reference_length
        self.end = link.summary + link.summary_length
        self.node = (link, self.node)

    def leave_out(self) -> None:
        self.close()
        self.next += 1

    def close(self) -> None:
        self.chunks += self.end != -1
        self.end = -1


def _resolve(options: Sequence[Sequence[Link]], certain: dict[int, Link], beam: int) -> tuple[Link, ...]:
    start = _Path()
    for link in certain.values():
        start.summary_bits |= _bits(link.summary, link.summary_length)
        start.reference_bits |= _bits(link.reference, link.reference_length)
    paths = [start]
    for j, links in enumerate(options):
        paths.sort(key=_Path.rank)
        paths = [grown for path in paths[:beam] for grown in _grow(path, j, links, certain)]
    paths = sorted(paths, key=_Path.rank)[:beam]
    for path in paths:
        path.close()
    node = min(paths, key=_Path.rank).node
    chosen = []
    while node is not None:
        chosen.append(node[0])
        node = node[1]
    return tuple(sorted(chosen, key=lambda link: link.summary))


def _grow(path: _Path, j: int, links: Sequence[Link], certain: dict[int, Link]) -> Iterator[_Path]:
    """What becomes of a path at a word of the reference; the path itself goes on without a link for it."""
    if path.reference_bits >> j & 1:
        if j >= path.next:
            path.distance += abs(j - certain[j].summary)
            path.take(certain[j])
        yield path
        return
    for link in links:
        summary_bits = _bits(link.summary, link.summary_length)
        reference_bits = _bits(link.reference, link.reference_length)
        if not (path.summary_bits & summary_bits or path.reference_bits & reference_bits):
            grown = _Path(
                path.words, path.chunks, path.distance, path.next, path.end,
                path.summary_bits | summary_bits, path.reference_bits | reference_bits, path.node,
            )  # fmt: skip
            grown.take(link)
            path.distance += abs(j - link.summary)
            yield grown
    path.leave_out()
    yield path


def _bits(start: int, length: int) -> int:
    return ((1 << length) - 1) << start
