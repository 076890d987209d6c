"""Mathet's gamma (Mathet, Widlöcher and Métivier 2015): spans with their categories, aligned and then compared.

The package pygamma-agreement works it out; it is no part of what an installation brings.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np
import pandas as pd

from analysis.agreement.result import Watch, unwatched
from analysis.bootstrap import percentile_limits
from analysis.errors.marks import Marks
from analysis.errors.places import PlaceAgreement, shared
from analysis.lazy import absent
from analysis.tables import AnalysisError

GAMMA = "spans and categories"
SAMPLES = 30  # random texts behind the expected disorder of each summary, the package's own number


def gamma(marks: Marks, *, ci: int = 1000, seed: int = 0, watch: Watch = unwatched) -> PlaceAgreement:
    """The mean gamma of the summaries that two people looked at and somebody marked; an interval redraws documents."""
    if absent(["pygamma_agreement"]):
        raise AnalysisError("Gamma comes from the package pygamma-agreement; pip install pygamma-agreement brings it.")
    summaries = [(key[0], people, errors) for key, people, errors in shared(marks) if len(errors)]
    if not summaries:
        raise AnalysisError("No summary that two people looked at has a marked place; gamma is undefined.")
    with _quietly(seed):
        places: Iterable[int] = watch(range(len(summaries)), len(summaries))
        values = np.array([_of_summary(*summaries[place][1:]) for place in places])
    documents = pd.factorize(np.array([document for document, *_ in summaries], dtype=object))[0]
    n = int(documents.max()) + 1
    sums, sizes = np.bincount(documents, weights=values, minlength=n), np.bincount(documents, minlength=n)
    low = high = np.nan
    if ci and n > 1:
        draws = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=ci)
        low, high = percentile_limits((draws @ sums) / (draws @ sizes), n=n)
    n_characters = int(sum(people["characters"].max() for _, people, _errors in summaries))
    return PlaceAgreement(GAMMA, "gamma", float(values.mean()), low, high, len(summaries), n_characters)


def _of_summary(people: pd.DataFrame, errors: pd.DataFrame) -> float:
    from pyannote.core import Segment
    from pygamma_agreement import CombinedCategoricalDissimilarity, Continuum

    continuum = Continuum()
    for worker in people["worker_id"]:
        continuum.add_annotator(str(worker))
    for row in errors.itertuples():
        continuum.add(str(row.worker_id), Segment(float(str(row.start)), float(str(row.end))), str(row.category))
    return float(continuum.compute_gamma(CombinedCategoricalDissimilarity(), n_samples=SAMPLES).gamma)


@contextmanager
def _quietly(seed: int) -> Iterator[None]:
    """The package draws from numpy's common generator, and warns of a solver that it can do without."""
    state = np.random.get_state()
    np.random.seed(seed)
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
        np.random.set_state(state)
