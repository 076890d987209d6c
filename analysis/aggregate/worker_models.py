"""Models of workers who err: Dawid–Skene, one-coin, MACE, and votes weighted by skill.

All see the answers through one sparse table, (worker, answer) × task, so an iteration is two sparse products. They
start from the vote shares and use no random numbers: neither the order of the rows nor the names of workers or
labels can change what comes out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse, special

from analysis.agreement.counts import Floats, Ints
from analysis.tables import AnalysisError

SMALLEST = 1e-10
"""Probabilities stay above this, so that one answer never rules a label out for good."""


@dataclass(frozen=True)
class Answers:
    """Who said what about which task, as numbers."""

    task: Ints
    worker: Ints
    label: Ints
    tasks: list[object]
    workers: list[object]
    labels: list[object]
    table: sparse.csr_matrix
    """(worker × label) rows by task columns: 1 where the worker gave the task the label."""

    @property
    def votes(self) -> Floats:
        """How often each task got each label."""
        shape = (len(self.tasks), len(self.labels))
        counts = np.bincount(self.task * shape[1] + self.label, minlength=shape[0] * shape[1])
        return counts.reshape(shape).astype(np.float64)


@dataclass(frozen=True)
class ModelResult:
    """What a model believes."""

    posterior: Floats
    """Tasks × labels."""
    skill: Floats
    """For each worker how far to trust it, between 0 and 1."""
    tasks: list[object]
    workers: list[object]
    labels: list[object]
    iterations: int
    prior: Floats | None = None
    errors: Floats | None = None
    """Dawid–Skene: workers × answers × true labels."""

    def label(self) -> list[object]:
        """The most probable label of each task; of equally probable ones the smallest."""
        best = self.posterior.max(axis=1, keepdims=True)
        return [self.labels[i] for i in np.argmax(self.posterior >= best - 1e-12, axis=1)]


def answers(task: pd.Series, worker: pd.Series, label: pd.Series) -> Answers:
    """Number tasks, workers and labels in sorted order."""
    tasks, task_names = pd.factorize(task, sort=True)
    workers, worker_names = pd.factorize(worker, sort=True)
    labels, label_names = pd.factorize(label, sort=True)
    rows = workers * len(label_names) + labels
    shape = (len(worker_names) * len(label_names), len(task_names))
    table = sparse.csr_matrix((np.ones(len(rows)), (rows, tasks)), shape=shape)
    return Answers(tasks, workers, labels, list(task_names), list(worker_names), list(label_names), table)


def fit(model: str, data: Answers, iterations: int = 500, tolerance: float = 1e-7) -> ModelResult:
    """Fit a model by name."""
    if model not in MODELS:
        raise AnalysisError(f"There is no model {model!r}; there are {', '.join(MODELS)}.")
    return MODELS[model](data, iterations, tolerance)


def _start(data: Answers) -> Floats:
    votes = data.votes
    return np.asarray(votes / votes.sum(axis=1, keepdims=True), dtype=np.float64)


def _posterior(data: Answers, log_chance: Floats, log_prior: Floats) -> Floats:
    """From log P(answer | true label) per (worker, answer) to the belief about each task."""
    posterior = data.table.T @ log_chance + log_prior
    posterior -= posterior.max(axis=1, keepdims=True)
    np.exp(posterior, out=posterior)
    posterior /= posterior.sum(axis=1, keepdims=True)
    return np.asarray(posterior, dtype=np.float64)


def dawid_skene(data: Answers, iterations: int = 500, tolerance: float = 1e-7) -> ModelResult:
    """Each worker has its own table of P(answer | true label); expectation maximisation (Dawid and Skene 1979)."""
    n_labels = len(data.labels)
    posterior, n_iterations = _start(data), 0
    for n_iterations in range(1, iterations + 1):  # noqa: B007
        errors, prior = _confusions(data, posterior), np.maximum(posterior.mean(axis=0), SMALLEST)
        before = posterior
        posterior = _posterior(data, np.log(errors).reshape(-1, n_labels), np.log(prior))
        if np.abs(posterior - before).max() < tolerance:
            break
    errors, prior = _confusions(data, posterior), posterior.mean(axis=0)
    skill = np.einsum("wtt,t->w", errors, prior)
    return ModelResult(posterior, skill, data.tasks, data.workers, data.labels, n_iterations, prior, errors)


def _confusions(data: Answers, posterior: Floats) -> Floats:
    n_labels = len(data.labels)
    counts = np.maximum((data.table @ posterior).reshape(-1, n_labels, n_labels), SMALLEST)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True), dtype=np.float64)


def one_coin(data: Answers, iterations: int = 500, tolerance: float = 1e-7) -> ModelResult:
    """Each worker is right with one probability, and wrong answers are equally likely (Zhang et al. 2014)."""
    n_labels = len(data.labels)
    n_answers = np.bincount(data.worker, minlength=len(data.workers)).astype(np.float64)
    posterior, n_iterations, is_true_label = _start(data), 0, np.eye(n_labels, dtype=bool)
    skill = np.zeros(len(n_answers))
    for n_iterations in range(1, iterations + 1):  # noqa: B007
        answer_counts = (data.table @ posterior).reshape(-1, n_labels, n_labels)
        skill = np.clip(np.einsum("wtt->w", answer_counts) / n_answers, SMALLEST, 1 - SMALLEST)
        error_chance = (1 - skill) / max(n_labels - 1, 1)
        chance = np.where(is_true_label, skill[:, None, None], error_chance[:, None, None])
        prior = np.maximum(posterior.mean(axis=0), SMALLEST)
        before = posterior
        posterior = _posterior(data, np.log(chance).reshape(-1, n_labels), np.log(prior))
        if np.abs(posterior - before).max() < tolerance:
            break
    return ModelResult(posterior, skill, data.tasks, data.workers, data.labels, n_iterations)


def mace(data: Answers, iterations: int = 500, tolerance: float = 1e-7) -> ModelResult:
    """A worker either knows the label or answers by habit (Hovy et al. 2013), variational Bayes.

    Priors as in crowd-kit: Beta(0.5, 0.5) on knowing, Dirichlet(10) on the habit. The start is even instead of
    random, so there is nothing to restart.
    """
    n_workers, n_labels = len(data.workers), len(data.labels)
    spam, know = np.full(n_workers, 0.5), np.full(n_workers, 0.5)
    habit = np.full((n_workers, n_labels), 1 / n_labels)
    is_true_label = np.eye(n_labels, dtype=bool)
    flat = np.zeros(n_labels)
    posterior, n_iterations = _start(data), 0
    for n_iterations in range(1, iterations + 1):
        guess = (spam[:, None] * habit)[:, :, None]
        chance = guess + know[:, None, None] * is_true_label
        before = posterior
        posterior = _posterior(data, np.log(chance).reshape(-1, n_labels), flat)
        counts = (data.table @ posterior).reshape(-1, n_labels, n_labels)
        guessed = (counts * guess / chance).sum(axis=2)
        known_answers = np.einsum("waa->w", counts * (know[:, None, None] * is_true_label) / chance)
        total = special.digamma(guessed.sum(axis=1) + known_answers + 1.0)
        spam = np.exp(special.digamma(guessed.sum(axis=1) + 0.5) - total)
        know = np.exp(special.digamma(known_answers + 0.5) - total)
        habit_total = special.digamma(guessed.sum(axis=1) + 10.0 * n_labels)
        habit = np.exp(special.digamma(guessed + 10.0) - habit_total[:, None])
        if n_iterations > 1 and np.abs(posterior - before).max() < tolerance:
            break
    return ModelResult(posterior, know, data.tasks, data.workers, data.labels, n_iterations)


def agreement_with(data: Answers, labels: Ints) -> Floats:
    """For each worker the share of answers that equal the chosen label."""
    n_agreeing = np.bincount(data.worker, weights=labels[data.task] == data.label, minlength=len(data.workers))
    return np.asarray(n_agreeing / np.bincount(data.worker, minlength=len(data.workers)), dtype=np.float64)


def _weighted_votes(data: Answers, skill: Floats) -> Floats:
    n_labels = len(data.labels)
    votes = np.asarray(data.table.T @ np.kron(skill[:, None], np.eye(n_labels)))
    total = votes.sum(axis=1, keepdims=True)
    return np.asarray(np.where(total > 0, votes / np.where(total > 0, total, 1), 1 / n_labels))


def _best(votes: Floats) -> Ints:
    best: Ints = np.argmax(votes >= votes.max(axis=1, keepdims=True) - 1e-12, axis=1)
    return best


def wawa(data: Answers, iterations: int = 1, tolerance: float = 0) -> ModelResult:
    """Vote again, each worker weighing as much as it agrees with the majority."""
    skill = agreement_with(data, _best(data.votes))
    return ModelResult(_weighted_votes(data, skill), skill, data.tasks, data.workers, data.labels, 1)


def zbs(data: Answers, iterations: int = 500, tolerance: float = 1e-7) -> ModelResult:
    """Weighted votes and skills in turn until the labels stand still (zero-based skill)."""
    skill, n_iterations = np.ones(len(data.workers)), 0
    for n_iterations in range(1, iterations + 1):  # noqa: B007
        before = skill
        skill = agreement_with(data, _best(_weighted_votes(data, skill)))
        if np.abs(skill - before).max() <= tolerance:
            break
    return ModelResult(_weighted_votes(data, skill), skill, data.tasks, data.workers, data.labels, n_iterations)


MODELS: dict[str, Callable[[Answers, int, float], ModelResult]] = {
    "dawid-skene": dawid_skene,
    "one-coin": one_coin,
    "mace": mace,
    "wawa": wawa,
    "zbs": zbs,
}
