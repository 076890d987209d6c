"""What numbers on a command line may be; a wrong one is answered with a sentence."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

MOST = 1_000_000
"""Resamples that fit into memory and into a day; more of them tell nothing new."""
FEWEST = 39
"""Resamples whose two outermost leave out 1 in 40 on each side: fewer can't bound 95 %."""

CHARTS = (".svg", ".pdf", ".json")
"""What charts are written as."""


def count(text: str) -> int:
    """A whole number that is not negative, such as a seed."""
    try:
        value = int(text)
    except ValueError:
        value = -1
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 0 or more")
    return value


def positive(text: str) -> int:
    """A whole number above zero."""
    if count(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def draws(text: str) -> int:
    """A number of resamples, 0 for none."""
    if count(text) > MOST:
        raise argparse.ArgumentTypeError(f"{text!r} resamples are too many; {MOST:,} are the most")
    return int(text)


def too_few(resamples: int) -> str:
    """What to add to a sentence about an interval from so many resamples."""
    return f" {resamples} can't bound 95 %; 1000 are usual." if resamples < FEWEST else ""


def resamples(text: str) -> int:
    """A number of resamples, at least one."""
    positive(text)
    return draws(text)


def amount(text: str) -> float:
    """A number that is not negative, such as a price or a standard deviation."""
    value = _float(text)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of 0 or more")
    return value


def share(text: str) -> float:
    """A number between 0 and 1, such as a level of significance."""
    value = _float(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number between 0 and 1")
    return value


def chart_file(text: str) -> Path:
    """The name of a file that a chart can be written to."""
    if Path(text).suffix not in CHARTS:
        raise argparse.ArgumentTypeError(f"{text!r} ends in none of {', '.join(CHARTS)}")
    return Path(text)


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
