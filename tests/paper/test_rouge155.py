"""The Perl program's own scores: 160 cases × 8 counts × 4 option sets × average and best × R, P, F."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from scoring import registry

CASES = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "rouge155" / "cases.jsonl.gz"
OPTIONS = {"plain": "", "stem": "stem", "stop": "stop", "stem+stop": "stem,stop"}
MODES = {"average": "", "best": "best"}

pytestmark = [
    pytest.mark.paper,
    pytest.mark.skipif(not CASES.is_file(), reason=f"the cases of the Perl program are not at {CASES}"),
]


def cases() -> list[dict[str, Any]]:
    with gzip.open(CASES, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("options", OPTIONS)
def test_all_cases_equal_the_perl_program_to_five_decimals(options: str, mode: str) -> None:
    words = ",".join(word for word in (OPTIONS[options], MODES[mode]) if word)
    brackets = f"[{words}]" if words else ""
    compared = 0
    for case in cases():
        for count, (r, p, f) in case["scores"][mode][options].items():
            base = count.replace("rouge-w-1.2", "rouge-w")
            for figure, expected in (("r", r), ("p", p), ("f", f)):
                metric = registry.get(f"{base}-{figure}{brackets}")
                scores = metric.evaluate_example(case["summary"], case["references"])
                assert scores == {metric.name: expected}, f"case {case['id']}"
                compared += 1
    assert compared == 160 * 8 * 3
