"""What people import: `from analysis import …`, with examples in the docstrings that run."""

from __future__ import annotations

import doctest
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import analysis

ROOT = Path(__file__).resolve().parents[2]
ENTRIES = {
    "agreement": "agreement",
    "aggregate": "aggregate",
    "compare": "compare",
    "correlate": "correlate",
    "filters": "apply_rules",
    "report": "build_report",
}


@pytest.mark.parametrize(
    "module",
    ["analysis", "analysis.agreement", "analysis.aggregate", "analysis.compare", "analysis.correlate",
     "analysis.report.build", "analysis.experiments.accuracy", "analysis.models.meta", "analysis.models.partial",
     "analysis.models.mixed"],
)  # fmt: skip
def test_the_examples_in_the_docstrings_run(module: str) -> None:
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted >= 4
    assert result.failed == 0


@pytest.mark.parametrize("name", ENTRIES)
def test_a_package_is_called_like_its_function_and_still_is_the_package(name: str) -> None:
    package = importlib.import_module(f"analysis.{name}")
    assert getattr(analysis, name) is package
    assert package.entry is getattr(package, ENTRIES[name])
    assert callable(package)
    with pytest.raises(TypeError, match="positional argument"):
        package()


def test_everything_promised_at_the_top_is_there() -> None:
    for name in analysis.__all__:
        assert getattr(analysis, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'correlation'"):
        _ = analysis.correlation


def test_the_top_is_light() -> None:
    code = "import sys, analysis; print([name for name in ('pandas', 'scipy', 'altair') if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
