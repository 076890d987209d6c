"""The house keeps its rules: who imports whom, what stays small, what must not load at start."""

import ast
import json
import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
EXTRAS = {"ray", "spacy", "pygamma_agreement", "pyannote"}
HEAVY = ("torch", "transformers", "ray", "altair", "numpy", "pandas", "scipy", "pyarrow", "botocore", "nltk")


def test_the_import_rules_of_the_design_hold():
    lint = Path(sys.executable).with_name("lint-imports")
    result = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout
    assert "0 broken" in result.stdout


def test_the_web_process_starts_without_heavy_libraries():
    code = (
        "import json, sys, deploy.wsgi; from django.urls import get_resolver; get_resolver().url_patterns; "
        f"print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={"DEMO": "1"}, capture_output=True, text=True, check=True
    )
    assert json.loads(result.stdout) == []


def test_what_the_rooms_import_is_chosen_and_pinned():
    """What is only there because something else needs it may go with any upgrade. Ray, spaCy and gamma are extras."""
    imported = {
        name.partition(".")[0]
        for room in ("analysis", "annotation", "deploy", "scoring")
        for path in (ROOT / room).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in _imports(node)
    }
    files = [ROOT / f"requirements-{part}.txt" for part in ("start", "site", "models")]
    our_choices = [file.read_text(encoding="utf-8").partition("# What those need")[0] for file in files]
    pinned = {_plain(line) for text in our_choices for line in text.splitlines() if "==" in line}
    owners = packages_distributions()
    assert {
        name for name in imported - EXTRAS if name in owners and pinned.isdisjoint(map(_plain, owners[name]))
    } == set()
    assert {"torch", "django", "boto3", "lxml"} <= imported


def _imports(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []


def _plain(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[=\[]", requirement)[0]).lower()


def test_templates_are_laid_out_and_have_no_long_lines():
    result = subprocess.run(
        [Path(sys.executable).with_name("djangofmt"), "--check", "annotation"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    lines = {
        f"{path.name}:{number}": line
        for path in (ROOT / "annotation").rglob("templates/**/*.html")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    }
    assert [place for place, line in lines.items() if len(line) > 160] == []
    assert len(lines) > 5000


def test_no_migration_is_missing(db):
    from django.core.management import call_command

    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_nothing_but_the_design_stands_at_the_top():
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    tops = {line.split("/")[0] for line in files if line}
    assert tops <= {
        *("annotation", "analysis", "scoring", "fixtures", "tests", "deploy", "benchmarks", "docs", ".ci"),
        *("manage.py", "requirements.txt", "requirements-dev.txt", "requirements-cluster.txt", "Makefile"),
        *("requirements-start.txt", "requirements-site.txt", "requirements-models.txt"),
        *("pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", ".gitignore"),
    }
