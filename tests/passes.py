"""Runs every pass of the test suite and says at the end what failed: `python -m tests.passes [NAME …]`.

A pass that fails doesn't keep the others from running. A pass that can't run here says what brings what it lacks; with
CI set that is a failure. Everything behind `--` goes to pytest: `python -m tests.passes site -- -x tests/deploy`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.postgres import find

HERE = Path(__file__).resolve().parent
NO_POSTGRES = (
    "no PostgreSQL answers on 127.0.0.1:5432; as root tests/prepare.sh installs and starts one, "
    "and POSTGRES_URL names another"
)
NOTHING_COLLECTED = 5  # pytest's exit code


@dataclass(frozen=True)
class Pass:
    """One run of pytest."""

    title: str
    words: Sequence[str]
    """What pytest is told beside the options all passes share."""
    environment: dict[str, str] = field(default_factory=dict)
    missing: str = ""
    """Why it can't run here, and what would change that."""


@dataclass(frozen=True)
class Outcome:
    """What came of a pass."""

    title: str
    code: int = 0
    n_tests: int = 0
    failed: tuple[str, ...] = ()
    """Every test that failed, by its path and name."""
    skipped: tuple[str, ...] = ()
    """The reason of every test that was skipped."""
    missing: str = ""


def site() -> Pass:
    return Pass("the site and the libraries, on SQLite", ["-m", "not postgres or sqlite"])


def marketplace() -> Pass:
    paths = ["tests/marketplace", "tests/contract"]
    return Pass(
        "the marketplace, on SQLite", ["--ds=tests.marketplace_settings", "-m", "not postgres or sqlite", *paths]
    )


def site_postgres() -> Pass:
    return _on_postgres("the site, on PostgreSQL", [], [file for file in _marked() if not _is_market(file)])


def marketplace_postgres() -> Pass:
    files = [file for file in _marked() if _is_market(file)]
    return _on_postgres("the marketplace, on PostgreSQL", ["--ds=tests.marketplace_settings"], files)


def attack() -> Pass:
    """One deployment behind its proxy, so in one process."""
    return Pass("the deployment, as strangers attack it", ["-n", "0", "tests/attack"])


def quick() -> Pass:
    """What a Python may break: arithmetic, judging, tables in and out, earlier files, pages, the package."""
    rooms = ["analysis", "annotation/judging", "annotation/results", "annotation/transfer", "deploy/test_package.py"]
    rooms += [
        "promised/test_files.py",
        "promised/test_fixtures.py",
        "scoring/metrics/test_rouge.py",
        "scoring/metrics/test_statistics.py",
    ]
    words = ["-m", "(not postgres or sqlite) and not needs"]
    return Pass("the quick pass, without models", [*words, *(f"tests/{room}" for room in rooms)])


def _on_postgres(title: str, words: list[str], files: list[str]) -> Pass:
    address = find()
    if address is None:
        return Pass(title, [], missing=NO_POSTGRES)
    environment = {"DATABASE_URL": address, "MARKETPLACE_DATABASE_URL": address}
    return Pass(title, ["-m", "postgres", "--create-db", *words, *files], environment)


def _marked() -> list[str]:
    """Only files that name the mark: collecting all the others takes longer than running these."""
    return [str(file) for file in sorted(HERE.rglob("test_*.py")) if "mark.postgres" in file.read_text("utf-8")]


def _is_market(file: str) -> bool:
    return Path(file).relative_to(HERE).parts[0] in {"marketplace", "contract"}


PASSES: dict[str, Callable[[], Pass]] = {
    "site": site,
    "marketplace": marketplace,
    "site-postgres": site_postgres,
    "marketplace-postgres": marketplace_postgres,
    "attack": attack,
    "quick": quick,
}
WHOLE = [name for name in PASSES if name != "quick"]
"""What `make test` runs."""


def run(test_pass: Pass, words: Sequence[str]) -> Outcome:
    """Run one pass; what pytest prints is seen as it comes."""
    print(f"== Tests of {test_pass.title}", flush=True)
    if test_pass.missing:
        print(f"Skipped: {test_pass.missing}.", flush=True)
        return Outcome(test_pass.title, 1 if os.environ.get("CI") else 0, missing=test_pass.missing)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        workers = os.environ.get("WORKERS", "4")
        command = [sys.executable, "-m", "pytest", "-n", workers, f"--junitxml={report}", *test_pass.words, *words]
        code = subprocess.run(command, env={**os.environ, **test_pass.environment}, check=False).returncode
        return _outcome(test_pass.title, code, report)


def _outcome(title: str, code: int, report: Path) -> Outcome:
    if not report.exists():
        return Outcome(title, code or 1)
    cases = list(ElementTree.parse(report).iter("testcase"))
    failed = tuple(_name(case) for case in cases if case.find("failure") is not None or case.find("error") is not None)
    skipped = tuple(reason.get("message", "") for case in cases if (reason := case.find("skipped")) is not None)
    return Outcome(title, 0 if code == NOTHING_COLLECTED else code, len(cases), failed, skipped)


def _name(case: ElementTree.Element) -> str:
    """As pytest takes it again, as far as the report has it."""
    place, name = case.get("classname", ""), case.get("name", "")
    return f"{place.replace('.', '/')}.py::{name}" if place else f"{name.replace('.', '/')}.py"


def summary(outcomes: Sequence[Outcome], seconds: float) -> list[str]:
    """What was skipped and what would change that, what failed, and one closing line that counts."""
    reasons = Counter(reason for outcome in outcomes for reason in outcome.skipped)
    lines = [f"skipped {count}: {reason}" for reason, count in reasons.most_common()]
    lines += [f"skipped, all tests of {outcome.title}: {outcome.missing}" for outcome in outcomes if outcome.missing]
    lines += [f"FAILED {name} ({outcome.title})" for outcome in outcomes for name in outcome.failed]
    lines += [
        f"FAILED {o.title}: pytest ended with exit code {o.code}, see above"
        for o in outcomes
        if o.code and not o.failed
    ]
    n_tests, n_failed = sum(o.n_tests for o in outcomes), sum(len(o.failed) for o in outcomes)
    n_skipped = sum(reasons.values())
    minutes = f"{int(seconds // 60)} min {int(seconds % 60)} s"
    counts = f"{n_tests - n_failed - n_skipped} tests passed, {n_failed} failed, {n_skipped} were skipped"
    passed = sum(not outcome.code and not outcome.missing for outcome in outcomes)
    return [*lines, f"== {counts}; {passed} of {len(outcomes)} passes are green ({minutes})"]


def main(arguments: Sequence[str]) -> int:
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    names, words = arguments[:cut], arguments[cut + 1 :]
    unknown = [name for name in names if name not in PASSES]
    if unknown:
        print(f"There is no pass {', '.join(unknown)}; there are {', '.join(PASSES)}.", file=sys.stderr)
        return 2
    start, outcomes = time.monotonic(), []
    for name in names or WHOLE:
        outcomes.append(run(PASSES[name](), words))
    print("\n".join(summary(outcomes, time.monotonic() - start)), flush=True)
    return max(outcome.code for outcome in outcomes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
