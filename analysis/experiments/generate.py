"""Summaries over the whole scoring range of a metric, by genetic search (Peyrard 2019, algorithm 1).

Extractive summaries of a document are bred with the metric as fitness: parents exchange sentences, children swap
some at random, the fitter half lives on. What is kept at the end runs from random to near the best, for every
generation contributes. LexRank gives the baseline that the top must better.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from analysis.correlate.coefficients import Floats, UnknownName
from analysis.tables import AnalysisError, write_atomically

Fitness = Callable[[Sequence[str]], float]
"""Sentences of a summary in, a score out: higher is better."""
ENGINES = ("local", "ray")
BASELINE = "lexrank"


@dataclass(frozen=True)
class Bred:
    """One summary of the search."""

    sentences: tuple[int, ...]
    """Positions in the document, rising."""
    fitness: float
    generation: int


@dataclass(frozen=True)
class Search:
    """How to search."""

    words: int = 100
    """Longest summary, in words."""
    population: int = 100
    generations: int = 20
    keep: int = 400
    """Summaries to keep, spread evenly over the fitness found."""
    mutation: float = 0.2
    seed: int = 0


def breed(document: Sequence[str], fitness: Fitness, search: Search) -> list[Bred]:
    """Search one document; equal selections of sentences are kept once."""
    lengths = np.array([len(sentence.split()) for sentence in document])
    if not len(document) or lengths.min() > search.words:
        raise AnalysisError(f"No sentence of the document fits into {search.words} words.")
    rng = np.random.default_rng(search.seed)
    archive: dict[tuple[int, ...], Bred] = {}

    def score(selection: tuple[int, ...], generation: int) -> Bred:
        if selection not in archive:
            value = float(fitness([document[i] for i in selection]))
            archive[selection] = Bred(selection, value, generation)
        return archive[selection]

    people = [score(_fill((), lengths, search.words, rng), 0) for _ in range(search.population)]
    for generation in range(1, search.generations + 1):
        people = sorted(people, key=lambda bred: (-bred.fitness, bred.sentences))[: max(2, search.population // 2)]
        children = [_child(people, lengths, search, rng) for _ in range(search.population - len(people))]
        people += [score(child, generation) for child in children]
    return _spread(list(archive.values()), search.keep)


def _fill(start: tuple[int, ...], lengths: np.ndarray, words: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Random sentences added until none fits any more."""
    selection = set(start)
    room = words - int(lengths[list(selection)].sum()) if selection else words
    for place in rng.permutation(len(lengths)).tolist():
        if place not in selection and lengths[place] <= room:
            selection.add(place)
            room -= int(lengths[place])
    return tuple(sorted(selection))


def _child(people: Sequence[Bred], lengths: np.ndarray, search: Search, rng: np.random.Generator) -> tuple[int, ...]:
    """Sentences of two parents, some of them lost, filled up."""
    mother, father = (people[int(rng.integers(len(people)))] for _ in range(2))
    pool = sorted({*mother.sentences, *father.sentences})
    inherited: list[int] = []
    room = search.words
    for place in rng.permutation(pool).tolist():
        if lengths[place] <= room and rng.random() >= search.mutation:
            inherited.append(place)
            room -= int(lengths[place])
    return _fill(tuple(inherited), lengths, search.words, rng)


def _spread(candidates: list[Bred], keep: int) -> list[Bred]:
    ranked = sorted(candidates, key=lambda candidate: (-candidate.fitness, candidate.sentences))
    if len(ranked) <= keep:
        return ranked
    places = np.unique(np.linspace(0, len(ranked) - 1, keep).round().astype(int))
    return [ranked[i] for i in places]


def lexrank(document: Sequence[str], words: int = 100, threshold: float = 0.1, damping: float = 0.85) -> list[int]:
    """The baseline of Erkan and Radev (2004): central sentences of the graph of similar sentences, up to a length."""
    scores = _centrality(_similarity(document), threshold, damping)
    selection: list[int] = []
    room = words
    for place in sorted(range(len(document)), key=lambda i: (-round(float(scores[i]), 12), i)):
        length = len(document[place].split())
        if length <= room:
            selection.append(place)
            room -= length
    return sorted(selection)


def _similarity(document: Sequence[str]) -> Floats:
    """Cosine of tf-idf vectors, idf over the sentences of the document."""
    bags = [Counter(word.strip(".,;:!?\"'()").lower() for word in sentence.split()) for sentence in document]
    vocabulary = sorted({word for bag in bags for word in bag if word})
    column = {word: i for i, word in enumerate(vocabulary)}
    counts = np.zeros((len(bags), len(vocabulary)))
    for row, bag in enumerate(bags):
        for word, count in bag.items():
            if word:
                counts[row, column[word]] = count
    weighted = counts * np.log(len(bags) / np.maximum((counts > 0).sum(axis=0), 1) + 1e-12)
    norms = np.sqrt((weighted**2).sum(axis=1, keepdims=True))
    unit = np.divide(weighted, norms, out=np.zeros_like(weighted), where=norms > 0)
    return np.asarray(unit @ unit.T)


def _centrality(similarity: Floats, threshold: float, damping: float) -> Floats:
    graph = (similarity > threshold).astype(float)
    np.fill_diagonal(graph, 1)
    step = graph / graph.sum(axis=1, keepdims=True)
    rank = np.full(len(graph), 1 / len(graph))
    for _ in range(100):
        new_rank = (1 - damping) / len(graph) + damping * (step.T @ rank)
        if np.abs(new_rank - rank).max() < 1e-10:
            break
        rank = new_rank
    return np.asarray(rank)


@dataclass(frozen=True)
class Job:
    """One document to search with one metric."""

    doc_id: str
    sentences: tuple[str, ...]
    metric: str
    fitness: Fitness
    search: Search


def run_job(job: Job) -> dict[str, object]:
    """The summaries of one job as plain data, the baseline among them."""
    candidates = breed(job.sentences, job.fitness, job.search)
    base = lexrank(job.sentences, job.search.words)
    rows = [
        {
            "system": f"{job.metric}-{place:04d}",
            "summary": [job.sentences[i] for i in candidate.sentences],
            "fitness": candidate.fitness if math.isfinite(candidate.fitness) else None,
            "generation": candidate.generation,
        }
        for place, candidate in enumerate(candidates)
    ]
    rows.append({"system": BASELINE, "summary": [job.sentences[i] for i in base], "fitness": None, "generation": -1})
    return {"doc_id": job.doc_id, "metric": job.metric, "rows": rows}


def generate(jobs: Iterable[Job], folder: str | Path, *, workers: int = 1, engine: str = "local") -> Iterator[Path]:
    """Run jobs and write one file for each; those already there are left as they are, so a stopped run goes on."""
    if engine not in ENGINES:
        raise UnknownName("engine", engine, ENGINES)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = {path: job for job in jobs if not (path := _path(folder, job)).exists()}
    for path, result in zip(paths, _results(list(paths.values()), workers, engine), strict=True):
        write_atomically(path, (json.dumps(result, ensure_ascii=False) + "\n").encode())
        yield path


def _path(folder: Path, job: Job) -> Path:
    safe = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in f"{job.doc_id}--{job.metric}")
    return folder / f"{safe}--{job.search.seed}.json"


def _on_ray(jobs: list[Job], workers: int) -> Iterator[dict[str, object]]:
    """On the cluster that RAY_ADDRESS names, or on this machine alone; lost nodes' jobs run again elsewhere."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    address = os.environ.get("RAY_ADDRESS")
    if not address or address.startswith("127.0.0.1"):
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")  # no address that others can reach
    import ray

    paths = [str(Path(__file__).resolve().parents[2]), os.environ.get("PYTHONPATH", "")]
    variables = {"PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    local_options: dict[str, Any] = (
        {} if address else {"num_cpus": workers, "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    )
    started = not ray.is_initialized()
    if started:
        ray.init(address=address, log_to_driver=False, runtime_env={"env_vars": variables}, **local_options)
    try:
        task = ray.remote(num_cpus=1, max_retries=10)(run_job)
        yield from (ray.get(handle) for handle in [task.remote(job) for job in jobs])
    finally:
        if started:
            ray.shutdown()


def _results(jobs: list[Job], workers: int, engine: str) -> Iterator[dict[str, object]]:
    if engine == "ray":
        yield from _on_ray(jobs, workers)
    elif workers > 1 and len(jobs) > 1:
        from concurrent.futures import ProcessPoolExecutor

        with ProcessPoolExecutor(workers) as pool:
            yield from pool.map(run_job, jobs)
    else:
        yield from map(run_job, jobs)


def collect(folder: str | Path) -> list[dict[str, object]]:
    """All generated summaries as rows of a summaries table; equal texts of a document are kept once."""
    rows, seen_keys = [], set()
    for path in sorted(Path(folder).glob("*.json")):
        result = json.loads(path.read_text())
        for row in result["rows"]:
            key = (result["doc_id"], tuple(row["summary"]))
            if key not in seen_keys or (row["system"] == BASELINE and (result["doc_id"], BASELINE) not in seen_keys):
                rows.append({"doc_id": result["doc_id"], **row})
            seen_keys |= {key, (result["doc_id"], row["system"])}
    return rows
