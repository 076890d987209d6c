"""A metric that was learned from human scores: a regression over any metrics, trained by `fit`."""

from __future__ import annotations

from scoring.learned.composite import OPTION, Composite
from scoring.registry import metric

FIT = (
    "python -m scoring fit --summaries S --documents D --scores H --human NAME --metrics rouge-1-r,rouge-2-r,js-2 "
    "--out model.json"
)


@metric(
    "learned",
    title="A regression over metrics, trained on a study's human scores",
    citation="Peyrard et al. 2017, Learning to Score System Summaries for Better Content Selection Evaluation",
    reference="none: the model's file says what it was trained on and how it did on unseen documents",
    needs=("references", "a trained model"),
    options=(OPTION,),
)
class Learned(Composite):
    """Ridge regression; its file is a list of weights."""

    kinds = ("learned", "s3-pyr", "s3-resp")
    command = FIT
