"""Simulated studies of which the truth is known, and how often each interval that we print covers it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.aggregate import aggregate
from analysis.agreement import agreement
from analysis.compare.systems import compare_systems
from analysis.correlate import correlate, system_means
from analysis.correlate.coefficients import coefficient
from analysis.correlate.resample import draw_weights
from analysis.correlate.score_cube import ScoreCube
from analysis.experiments.pairwise import verdicts

RHO = 0.8
RESAMPLES = 300


@dataclass(frozen=True)
class Row:
    """One interval in one kind of study."""

    interval: str
    estimand: str
    setting: str
    coverage: float
    remark: str = ""
    """Why it may lie outside 93–97 %; the sentence that is shown says so too."""


Simulation = Callable[[np.random.Generator, int], bool]


def share(simulate: Simulation, studies: int, seed: int = 0) -> float:
    """The share of studies whose interval covers."""
    rng = np.random.default_rng(seed)
    return float(np.mean([simulate(rng, number) for number in range(studies)]))


def rows(studies: int) -> Iterator[Row]:
    """Every interval the product prints."""
    yield from _system_rows(studies)
    yield from _lower_rows(studies)
    yield from _human_rows(studies)


# Correlations -----------------------------------------------------------------------------------------------------

POPULATION = {
    "pearson": RHO,
    "spearman": 6 / np.pi * np.arcsin(RHO / 2),
    "kendall": 2 / np.pi * np.arcsin(RHO),
}


def cube_of(
    rng: np.random.Generator, systems: int, documents: int, noise: float, skewed: bool
) -> tuple[ScoreCube, np.ndarray]:
    """A study whose systems' true means (2 × systems) correlate at .8 in the population."""
    true = rng.normal(size=(2, systems)) if not skewed else rng.exponential(size=(2, systems)) - 1
    true[1] = RHO * true[0] + np.sqrt(1 - RHO**2) * true[1]
    cells = rng.normal(size=(2, systems, documents))
    cells[1] = 0.4 * cells[0] + np.sqrt(1 - 0.4**2) * cells[1]
    values = true[:, :, None] + noise * cells
    names = tuple(f"s{i}" for i in range(systems)), tuple(f"d{i}" for i in range(documents))
    return ScoreCube(("h", "m"), *names, ("",) * systems, values, np.full((2, systems), np.nan)), true


def _correlation(
    name: str, systems: int, documents: int, resample: str, noise: float = 2.0, skewed: bool = False
) -> Simulation:
    def simulate(rng: np.random.Generator, number: int) -> bool:
        quiet = 0.0 if resample == "systems" else noise
        cube, true = cube_of(rng, systems, documents, quiet, skewed)
        truth = float(coefficient(name)(true[0], true[1])) if resample == "inputs" else POPULATION[name]
        options = {"ci": RESAMPLES, "resample": resample, "seed": number}
        result = correlate(cube, human="h", coefficient=name, **options)[0]
        return bool(result.low - 1e-9 <= truth <= result.high + 1e-9)

    return simulate


SPEAKS_OF = {
    "systems": "other systems, these documents",
    "inputs": "these systems' true means",
    "both": "other systems' true means",
}
SIX_RANKS = "ranks of six systems take few values: wider than need be"
SKEWED = "systems of a skewed population: r is taken as if scores were normal"


def _system_rows(studies: int) -> Iterator[Row]:
    for name in POPULATION:
        for resample in SPEAKS_OF:
            for systems, documents in ((6, 10), (6, 100), (25, 10), (25, 100)):
                if resample == "systems" and documents == 10:
                    continue  # with these documents given, their number doesn't matter
                remark = SIX_RANKS if name != "pearson" and systems == 6 else ""
                covered = share(_correlation(name, systems, documents, resample), studies)
                yield Row(f"system level, {name}", SPEAKS_OF[resample], f"{systems} × {documents}", covered, remark)
    for systems in (6, 25):
        covered = share(_correlation("pearson", systems, 100, "systems", skewed=True), studies)
        yield Row("system level, pearson", SPEAKS_OF["systems"], f"{systems} × 100, exponential", covered, SKEWED)


def _summary(name: str, systems: int, documents: int, resample: str) -> Simulation:
    """True values come from a study of so many documents (or systems) that chance is gone."""

    def simulate(rng: np.random.Generator, number: int) -> bool:
        cube, true = cube_of(rng, systems, documents, 1.0, False)
        options = {"ci": RESAMPLES, "level": "summary", "coefficient": name, "resample": resample, "seed": number}
        result = correlate(cube, human="h", **options)[0]
        truth = _summary_truth(rng, true, name) if resample == "inputs" else _summary_population(name, systems)
        return bool(result.low <= truth <= result.high)

    return simulate


def _summary_truth(rng: np.random.Generator, true: np.ndarray, name: str) -> float:
    cells = rng.normal(size=(2, 4000, true.shape[1]))
    cells[1] = 0.4 * cells[0] + np.sqrt(1 - 0.4**2) * cells[1]
    values = true[:, None, :] + cells
    return float(coefficient(name)(values[1], values[0]).mean())


def _summary_population(name: str, systems: int) -> float:
    """The mean of per-document correlations over so many systems: r = (.8 + .4) / 2 in each document."""
    r = (RHO + 0.4) / 2
    rng = np.random.default_rng(12345)
    values = rng.normal(size=(2, 40_000, systems))
    values[1] = r * values[0] + np.sqrt(1 - r * r) * values[1]
    return float(coefficient(name)(values[1], values[0]).mean())


FEW_SYSTEMS = "six systems: resamples of so few are too alike"


def _lower_rows(studies: int) -> Iterator[Row]:
    part = max(100, studies // 2)
    for name in ("pearson", "kendall"):
        for systems, documents in ((6, 30), (25, 30), (25, 100)):
            covered = share(_summary(name, systems, documents, "inputs"), part)
            yield Row(f"summary level, {name}", "these systems, other documents", f"{systems} × {documents}", covered)
        for systems, documents in ((6, 30), (25, 100)):
            covered = share(_summary(name, systems, documents, "systems"), part)
            remark = FEW_SYSTEMS if systems < 10 else ""
            yield Row(
                f"summary level, {name}", "other systems, these documents", f"{systems} × {documents}", covered, remark
            )


# Human scores -----------------------------------------------------------------------------------------------------


def _mean(documents: int) -> Simulation:
    def simulate(rng: np.random.Generator, number: int) -> bool:
        cube, true = cube_of(rng, 3, documents, 1.0, False)
        table = system_means(cube, "h", RESAMPLES, number).set_index("system")
        return bool(table.loc["s0", "low"] <= true[0, 0] <= table.loc["s0", "high"])

    return simulate


def _equal_pair(documents: int) -> Simulation:
    def simulate(rng: np.random.Generator, number: int) -> bool:
        return int(verdicts(rng.normal(size=(2, documents)), draw_weights(number, RESAMPLES, documents))[0]) == 0

    return simulate


def crowd(rng: np.random.Generator, documents: int, workers: int, worker_spread: float) -> pd.DataFrame:
    """Ten yes/no units per document, hard and easy documents, three workers each, of whom some say yes more easily."""
    lean, ease = rng.normal(size=workers) * worker_spread, rng.normal(size=documents)
    who = np.stack([rng.choice(workers, 3, replace=False) for _ in range(documents)])
    truth = rng.normal(size=(documents, 10)) + ease[:, None]
    says = truth[:, None, :] + lean[who][:, :, None] + 0.8 * rng.normal(size=(documents, 3, 10)) > 0
    document, place, unit = np.indices(says.shape).reshape(3, -1)
    return pd.DataFrame(
        {
            "doc_id": document.astype("str"),
            "system": "s",
            "unit": unit.astype("str"),
            "worker_id": who[document, place].astype("str"),
            "value": says.ravel().astype(int),
        }
    )


def _alpha(cluster: str, workers: int, worker_spread: float) -> Simulation:
    big = crowd(np.random.default_rng(99), 4000, 9000, worker_spread)
    truth = agreement(big)[0].value

    def simulate(rng: np.random.Generator, number: int) -> bool:
        result = agreement(crowd(rng, 40, workers, worker_spread), ci=RESAMPLES, cluster=cluster, seed=number)[0]
        return bool(result.low <= truth <= result.high)

    return simulate


def _recall(units: int, answers: int, error: float, uneven: bool) -> Simulation:
    """One summary of a study of forty, with workers who err."""

    def simulate(rng: np.random.Generator, number: int) -> bool:
        shares = rng.uniform(0.1, 0.9, 40)
        truth = rng.random((40, units)) < shares[:, None]
        rates = rng.beta(1, 1 / error - 1, (40, answers, 1)) if uneven else np.full((40, answers, 1), error)
        says = truth[:, None, :] ^ (rng.random((40, answers, units)) < rates)
        summary, worker, unit = np.indices(says.shape).reshape(3, -1)
        frame = pd.DataFrame({"doc_id": summary.astype("str"), "system": "s", "unit": unit.astype("str")})
        frame["worker_id"], frame["value"] = worker.astype("str"), says.ravel().astype(int)
        first = aggregate(frame).set_index("doc_id").loc["0"]
        return bool(first["low"] <= shares[0] <= first["high"])

    return simulate


def _rating(answers: int) -> Simulation:
    def simulate(rng: np.random.Generator, number: int) -> bool:
        centre = rng.uniform(2, 4, 40)
        values = np.clip(np.rint(centre[:, None] + rng.normal(size=(40, answers))), 1, 5)
        draws = np.clip(np.rint(centre[0] + rng.normal(size=20_000)), 1, 5)
        summary, worker = np.indices(values.shape).reshape(2, -1)
        frame = pd.DataFrame({"doc_id": summary.astype("str"), "system": "s", "unit": "coherence"})
        frame["worker_id"], frame["value"] = worker.astype("str"), values.ravel()
        first = aggregate(frame.assign(protocol="likert")).set_index("doc_id").loc["0"]
        return bool(first["low"] <= draws.mean() <= first["high"])

    return simulate


def _system_pair(resample: str) -> Simulation:
    """Two systems that differ by .3, judged by workers with habits of their own on documents with theirs."""

    def simulate(rng: np.random.Generator, number: int) -> bool:
        document, system, worker = (axis.ravel() for axis in np.indices((40, 2, 6)))
        by_document, by_worker = rng.normal(size=(40, 2)) * 0.5, rng.normal(size=(6, 2)) * 0.2
        value = 0.3 * system + by_document[document, system] + by_worker[worker, system] + rng.normal(size=480) + 3
        frame = pd.DataFrame({"doc_id": document.astype("str"), "system": system.astype("str"), "unit": "coherence"})
        frame["worker_id"], frame["value"] = worker.astype("str"), value
        pair = compare_systems(
            frame.assign(protocol="likert"), resample=resample, resamples=RESAMPLES, seed=number
        ).pairs[0]
        truth = 0.3 if pair.better == "1" else -0.3
        return bool(pair.low <= truth <= pair.high)

    return simulate


UNITS_ALONE = "units of one document belong together; not the default"
DOCUMENTS_ALONE = "the same workers judge many documents: take doc_id,worker_id"
UNEVEN = "workers err unevenly: wrong votes are more frequent than their mean error tells"


def _human_rows(studies: int) -> Iterator[Row]:
    part = max(100, studies // 2)
    for documents in (10, 100):
        yield Row(
            "a system's mean", "all documents of this kind", f"{documents} documents", share(_mean(documents), studies)
        )
    for documents in (10, 100):
        covered = share(_equal_pair(documents), studies)
        yield Row("verdict on a pair of equal systems", "undecided", f"{documents} documents", covered)
    for cluster, spread, remark in (
        ("unit", 0.0, UNITS_ALONE),
        ("doc_id", 0.0, ""),
        ("doc_id,worker_id", 0.0, ""),
        ("unit", 0.7, UNITS_ALONE),
        ("doc_id", 0.7, DOCUMENTS_ALONE),
        ("doc_id,worker_id", 0.7, ""),
    ):
        setting = f"40 documents, 8 workers{' with habits' if spread else ''}"
        covered = share(_alpha(cluster, 8, spread), part)
        yield Row(
            f"alpha, {cluster}",
            "other documents" + (" and workers" if "w" in cluster else ""),
            setting,
            covered,
            remark,
        )
    for units, answers, uneven in ((10, 3, False), (10, 4, False), (20, 3, False), (10, 3, True)):
        covered = share(_recall(units, answers, 0.15, uneven), studies)
        setting = f"{units} units, {answers} workers who err {'unevenly, ' if uneven else ''}15 %"
        yield Row("recall of a summary", "its true recall, other units", setting, covered, UNEVEN if uneven else "")
    for answers in (3, 5):
        yield Row(
            "rating of a summary", "the mean of all workers", f"{answers} workers", share(_rating(answers), studies)
        )
    for resample in ("documents", "both"):
        covered = share(_system_pair(resample), part)
        remark = "workers with habits are taken as fixed; not the default" if resample == "documents" else ""
        yield Row(
            f"difference of two systems, {resample}", "other documents and workers", "40 × 6 workers", covered, remark
        )
