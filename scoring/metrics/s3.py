"""S3: the regression of Peyrard et al. over ROUGE, ROUGE-WE and Jensen–Shannon, trained on any study's human scores."""

from __future__ import annotations

from collections.abc import Callable

from scoring.base import Family
from scoring.learned.composite import OPTION, Composite
from scoring.registry import metric

FEATURES = (
    "rouge-1-r[stem]",
    "rouge-1-f[stem]",
    "rouge-2-r[stem]",
    "rouge-2-f[stem]",
    "rouge-l-r[stem]",
    "rouge-l-f[stem]",
    "rouge-we-1-r",
    "rouge-we-1-f",
    "rouge-we-2-r",
    "rouge-we-2-f",
    "js-1",
    "js-2",
)
CITATION = "Peyrard et al. 2017, Learning to Score System Summaries for Better Content Selection Evaluation"
REFERENCE = "none: the published regressors were trained on TAC data that can't be shipped"
_TRAIN = "python -m scoring train-s3 --summaries S --documents D --scores H --human NAME --as {} --out model.json"


def _s3(name: str, foretells: str) -> Callable[[type[Family]], type[Family]]:
    return metric(
        name,
        title=f"Regression over ROUGE, ROUGE-WE and Jensen–Shannon that foretells {foretells}",
        citation=CITATION,
        reference=REFERENCE,
        needs=("references", "word vectors", "a trained model"),
        options=(OPTION,),
    )


@_s3("s3-pyr", "pyramid scores")
class S3Pyramid(Composite):
    """Trained on pyramid scores or their kin (LitePyramid recall)."""

    kinds = ("s3-pyr",)
    command = _TRAIN.format("s3-pyr")


@_s3("s3-resp", "responsiveness")
class S3Responsiveness(Composite):
    """Trained on responsiveness or another overall judgment."""

    kinds = ("s3-resp",)
    command = _TRAIN.format("s3-resp")
