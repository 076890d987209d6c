"""The house stays one that a newcomer can see: narrow folders, rooms that know only what is below them, plain names."""

import ast
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
ROOMS = ("analysis", "annotation", "deploy", "scoring")
OURS = (*ROOMS, "tests", "benchmarks", "fixtures")
WIDEST = 22
DJANGOS = {"locale", "management", "migrations", "static", "templates", "templatetags"}
# fmt: off
EMPTY_NAMES = {
    "one", "ones", "found", "given", "part", "parts", "thing", "things", "kept", "made", "told", "mine", "ours",
    "theirs", "known", "done", "other", "others", "shown", "held", "wanted", "whole", "there", "again", "what",
    "own", "seen", "asked", "chosen", "more", "wrong", "left", "most", "same", "rest", "how", "right", "by",
    "judged", "good", "counted", "taken", "listed", "sent", "after", "who", "where", "some", "used", "here",
    "matched", "named", "changed", "caught", "both", "lost", "least", "about", "standing", "said", "need", "half",
    "bad", "which", "drawn", "marked", "every", "filled", "written", "near", "back", "odd", "gone", "answered",
    "usual", "fresh", "alone", "later",
}
# fmt: on


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [Path(line) for line in listed.splitlines()]


def test_every_folder_can_be_taken_in_at_a_glance():
    entries = defaultdict(set)
    for path in tracked():
        for parent, child in zip(path.parents, [path, *path.parents], strict=False):
            entries[parent].add(child.name)
    ours = {folder: names for folder, names in entries.items() if folder.parts and folder.parts[0] in OURS}
    ours = {folder: names for folder, names in ours.items() if folder.name != "migrations"}  # Django adds there
    assert len(ours) > 50
    assert {str(folder): len(names) for folder, names in ours.items() if len(names - DJANGOS) > WIDEST} == {}


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("room", "planted"),
    [
        ("annotation/common/clock.py", "annotation.judging.leases"),
        ("annotation/crowds/pay/approve.py", "annotation.crowds.console.views"),
        ("annotation/studies/batches.py", "annotation.crowds.base"),
        ("annotation/marketplace/ids.py", "annotation.models"),
        ("analysis/tables/keys.py", "analysis.report.build"),
        ("scoring/texts.py", "scoring.metrics.bleu"),
    ],
)
def test_an_import_against_the_layers_is_refused(tmp_path, room, planted):
    for name in ROOMS:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("*.html", "*.js", "__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    assert lint(tmp_path).returncode == 0
    path = tmp_path / room
    path.write_text(f"{path.read_text(encoding='utf-8')}\nimport {planted}\n", encoding="utf-8")
    result = lint(tmp_path)
    assert result.returncode == 1
    assert room.removesuffix(".py").replace("/", ".") in result.stdout


def bound_names(tree: ast.AST) -> list[str]:
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
        elif isinstance(node, ast.arg):
            names.append(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append(node.name)
    return names


def test_names_say_what_they_hold():
    paths = [path for path in tracked() if path.suffix == ".py" and "migrations" not in path.parts]
    names = [name for path in paths for name in bound_names(ast.parse((ROOT / path).read_text(encoding="utf-8")))]
    empty = [name for name in names if name in EMPTY_NAMES]
    assert len(names) > 30_000
    assert len(empty) / len(names) < 0.02


def test_no_line_of_a_template_is_too_long_to_read():
    paths = [ROOT / path for path in tracked() if path.suffix == ".html"]
    lines = [(path, line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(lines) > 3_000
    assert [(str(path), line) for path, line in lines if len(line) > 160] == []


def test_every_path_of_the_architecture_page_exists():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    paths = re.findall(r"`([\w./-]+/[\w./-]*)`", page)
    assert len(paths) > 60
    assert [path for path in paths if not (ROOT / path).exists()] == []
