"""Alignment of two sentences' words, as METEOR makes it, and the score that follows from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter

MODULES = ("exact", "stem", "synonym", "paraphrase")
BEAM = 40
"""Partial alignments that are kept per word, as in the 1.5 release."""


@dataclass(frozen=True, slots=True)
class Link:
    """A word of the summary aligned with a word of the reference, or a phrase with a phrase."""

    summary: int
    reference: int
    module: int
    """Index into `MODULES`."""
    summary_length: int = 1
    reference_length: int = 1

    @property
    def summary_words(self) -> range:
        return range(self.summary, self.summary + self.summary_length)

    @property
    def reference_words(self) -> range:
        return range(self.reference, self.reference + self.reference_length)


@dataclass(frozen=True)
class Parameters:
    """Weights of a METEOR variant."""

    alpha: float
    beta: float
    gamma: float
    delta: float
    """Weight of content words against function words; 0.5 treats all words alike."""
    weights: tuple[float, float, float, float]
    """Of the matches by each of the `MODULES`."""


RELEASE_1_5 = Parameters(0.85, 0.2, 0.6, 0.75, (1.0, 0.6, 0.8, 0.6))
NLTK = Parameters(0.9, 3.0, 0.5, 0.5, (1.0, 1.0, 1.0, 1.0))


_Node = tuple[Link, "_Node"] | None
"""Links of a partial alignment, the last one first."""
_Path = tuple[int, int, int, int, int, int, _Node]
"""A partial alignment: what it is ranked by (minus its links, chunks, distance, modules), the bits of the reference's
words that are taken, the reference's word that the last word was linked with (-2: none), and the links."""


def align(
    summary: Sequence[str], reference: Sequence[str], match: Callable[[str, str], int | None], beam: int = BEAM
) -> tuple[Link, ...]:
    """One-to-one links with the most words covered, then the fewest chunks, then the least distance (beam search).

    Where these are equal, stricter modules win.
    """
    paths: list[_Path] = [(0, 0, 0, 0, 0, -2, None)]
    for links in _options(summary, reference, match):
        if links:
            paths = sorted(_grow(paths, links), key=itemgetter(0, 1, 2, 3))[:beam]
        else:
            paths = [(*path[:5], -2, path[6]) for path in paths]
    chosen_links: list[Link] = []
    node = paths[0][6]
    while node is not None:
        chosen_links.append(node[0])
        node = node[1]
    return tuple(reversed(chosen_links))


def _grow(paths: Sequence[_Path], links: Sequence[Link]) -> Iterable[_Path]:
    """Every path with the next word left out or linked; of those with the same future the best is kept."""
    grown: dict[tuple[int, int], _Path] = {}
    for count, chunks, distance, modules, taken_bits, last, node in paths:
        steps: list[_Path] = [(count, chunks, distance, modules, taken_bits, -2, node)]
        for link in links:
            place = link.reference
            if not taken_bits >> place & 1:
                step: _Path = (
                    count - 1,
                    chunks + (last + 1 != place),
                    distance + abs(link.summary - place),
                    modules + link.module,
                    taken_bits | 1 << place,
                    place,
                    (link, node),
                )
                steps.append(step)
        for path in steps:
            key = (path[4], path[5])
            best = grown.get(key)
            if best is None or path[:4] < best[:4]:
                grown[key] = path
    return grown.values()


def _options(
    summary: Sequence[str], reference: Sequence[str], match: Callable[[str, str], int | None]
) -> list[list[Link]]:
    matches: dict[str, list[tuple[int, int]]] = {}
    for word in dict.fromkeys(summary):
        modules = ((j, match(word, reference_word)) for j, reference_word in enumerate(reference))
        matches[word] = [(j, module) for j, module in modules if module is not None]
    return [[Link(i, j, module) for j, module in matches[word]] for i, word in enumerate(summary)]


def align_in_stages(
    summary: Sequence[str], reference: Sequence[str], stages: Sequence[Callable[[str, str], bool]]
) -> tuple[Link, ...]:
    """Links as nltk makes them: one module after the other, each from the last words backwards."""
    free_summary, free_reference = list(range(len(summary))), list(range(len(reference)))
    links: list[Link] = []
    for module, match in enumerate(stages):
        for i in reversed(free_summary[:]):
            j = next((j for j in reversed(free_reference) if match(summary[i], reference[j])), None)
            if j is not None:
                links.append(Link(i, j, module))
                free_summary.remove(i)
                free_reference.remove(j)
    return tuple(sorted(links, key=lambda link: link.summary))


def chunks(links: Sequence[Link]) -> int:
    """Stretches that stand in both texts in the same order without a gap."""
    ends = {(k.summary + k.summary_length, k.reference + k.reference_length) for k in links}
    return sum((link.summary, link.reference) not in ends for link in links)


@dataclass(frozen=True)
class Meteor:
    """The parts of a METEOR score."""

    precision: float
    recall: float
    mean: float
    penalty: float
    chunks: int

    @property
    def score(self) -> float:
        return (1 - self.penalty) * self.mean


def combine(
    links: Sequence[Link],
    summary: Sequence[bool],
    reference: Sequence[bool],
    parameters: Parameters,
) -> Meteor:
    """From links to the score; `summary` and `reference` say for each word whether it is a content word."""
    delta = parameters.delta
    summary_base = sum(_weight(content, delta) for content in summary)
    reference_base = sum(_weight(content, delta) for content in reference)
    if not links:
        return Meteor(0.0, 0.0, 0.0, 0.0, 0)
    weights = parameters.weights
    precision = sum(weights[k.module] * _weight(summary[i], delta) for k in links for i in k.summary_words)
    recall = sum(weights[k.module] * _weight(reference[j], delta) for k in links for j in k.reference_words)
    precision, recall = precision / summary_base, recall / reference_base
    mean = precision * recall / (parameters.alpha * precision + (1 - parameters.alpha) * recall)
    count = chunks(links)
    matches = sum(k.summary_length + k.reference_length for k in links) / 2
    return Meteor(precision, recall, mean, parameters.gamma * (count / matches) ** parameters.beta, count)


def _weight(content: bool, delta: float) -> float:
    return delta if content else 1 - delta
