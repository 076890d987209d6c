"""Alignment of two sentences' words, as METEOR makes it, and the score that follows from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

MODULES = ("exact", "stem", "synonym")
BEAM = 40
"""Partial alignments that are kept per word, as in the 1.5 release."""


@dataclass(frozen=True, slots=True)
class Link:
    """One word of the summary aligned with one word of the reference."""

    summary: int
    reference: int
    module: int
    """Index into `MODULES`."""


@dataclass(frozen=True)
class Parameters:
    """Weights of a METEOR variant."""

    alpha: float
    beta: float
    gamma: float
    delta: float
    """Weight of content words against function words; 0.5 treats all words alike."""
    weights: tuple[float, float, float]
    """Of exact, stem and synonym matches."""


RELEASE_1_5 = Parameters(0.85, 0.2, 0.6, 0.75, (1.0, 0.6, 0.8))
NLTK = Parameters(0.9, 3.0, 0.5, 0.5, (1.0, 1.0, 1.0))


@dataclass(frozen=True, slots=True)
class _Path:
    """A partial alignment of the summary's words so far."""

    links: tuple[Link, ...] = ()
    used: int = 0
    """Bits of the reference's words that are taken."""
    chunks: int = 0
    distance: int = 0
    modules: int = 0

    @property
    def rank(self) -> tuple[int, int, int, int]:
        """More matches, then fewer chunks, then words nearer to each other, then the stricter modules."""
        return (-len(self.links), self.chunks, self.distance, self.modules)

    def add(self, link: Link) -> _Path:
        last = self.links[-1] if self.links else None
        goes_on = last is not None and (last.summary + 1, last.reference + 1) == (link.summary, link.reference)
        return _Path(
            (*self.links, link),
            self.used | 1 << link.reference,
            self.chunks + (not goes_on),
            self.distance + abs(link.summary - link.reference),
            self.modules + link.module,
        )


def align(
    summary: Sequence[str], reference: Sequence[str], match: Callable[[str, str], int | None], beam: int = BEAM
) -> tuple[Link, ...]:
    """One-to-one links with the most words covered, then the fewest chunks, then the least distance (beam search)."""
    options = _options(summary, reference, match)
    paths = [_Path()]
    for place, links in enumerate(options):
        grown: dict[tuple[int, int], _Path] = {}
        for path in paths:
            steps = [path, *(path.add(link) for link in links if not path.used >> link.reference & 1)]
            for step in steps:
                # Two paths with the same words taken and the same last link have the same futures.
                last = step.links[-1] if step.links and step.links[-1].summary == place else None
                key = (step.used, last.reference if last else -1)
                if key not in grown or step.rank < grown[key].rank:
                    grown[key] = step
        paths = sorted(grown.values(), key=lambda one: one.rank)[:beam]
    return paths[0].links


def _options(
    summary: Sequence[str], reference: Sequence[str], match: Callable[[str, str], int | None]
) -> list[list[Link]]:
    known: dict[str, list[tuple[int, int]]] = {}
    for word in dict.fromkeys(summary):
        found = ((j, match(word, other)) for j, other in enumerate(reference))
        known[word] = [(j, module) for j, module in found if module is not None]
    return [[Link(i, j, module) for j, module in known[word]] for i, word in enumerate(summary)]


def align_in_stages(
    summary: Sequence[str], reference: Sequence[str], stages: Sequence[Callable[[str, str], bool]]
) -> tuple[Link, ...]:
    """Links as nltk makes them: one module after the other, each from the last words backwards."""
    ours, theirs = list(range(len(summary))), list(range(len(reference)))
    links: list[Link] = []
    for module, match in enumerate(stages):
        for i in reversed(ours[:]):
            j = next((j for j in reversed(theirs) if match(summary[i], reference[j])), None)
            if j is not None:
                links.append(Link(i, j, module))
                ours.remove(i)
                theirs.remove(j)
    return tuple(sorted(links, key=lambda link: link.summary))


def chunks(links: Sequence[Link]) -> int:
    """Stretches that stand in both texts in the same order without a gap."""
    pairs = {(link.summary, link.reference) for link in links}
    return sum((i - 1, j - 1) not in pairs for i, j in pairs)


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
    ours = sum(_weight(content, delta) for content in summary)
    theirs = sum(_weight(content, delta) for content in reference)
    if not links:
        return Meteor(0.0, 0.0, 0.0, 0.0, 0)
    precision = sum(parameters.weights[k.module] * _weight(summary[k.summary], delta) for k in links) / ours
    recall = sum(parameters.weights[k.module] * _weight(reference[k.reference], delta) for k in links) / theirs
    mean = precision * recall / (parameters.alpha * precision + (1 - parameters.alpha) * recall)
    count = chunks(links)
    return Meteor(precision, recall, mean, parameters.gamma * (count / len(links)) ** parameters.beta, count)


def _weight(content: bool, delta: float) -> float:
    return delta if content else 1 - delta
