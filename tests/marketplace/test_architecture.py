"""The marketplace stands apart: of ours it knows only what knows no table (annotation.common)."""

import ast
import re
from pathlib import Path

ROOM = Path(__file__).resolve().parents[2] / "annotation" / "marketplace"
OPEN = {"common", "marketplace"}
FORBIDDEN = ("analysis", "scoring", "deploy", "tests", "boto3")


def imported(path: Path) -> set[str]:
    """Absolute names of the modules that a file imports."""
    module_path = path.relative_to(ROOM.parents[1]).with_suffix("").parts
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = list(module_path[: len(module_path) - node.level]) if node.level else []
            names.add(".".join([*base, *([node.module] if node.module else [])]))
    return names


def test_it_imports_nothing_else_of_ours():
    files = list(ROOM.rglob("*.py"))
    assert len(files) > 40
    for path in files:
        for name in imported(path):
            assert name.split(".")[0] not in FORBIDDEN, f"{path} imports {name}"
            assert not name.startswith("annotation") or name.split(".")[1] in OPEN, f"{path}: {name}"


def test_its_settings_name_nothing_else_of_ours():
    files = [ROOM.parents[1] / "deploy" / name for name in ("base_settings.py", "marketplace_settings.py")]
    assert {room for path in files for room in re.findall(r"\bannotation\.(\w+)", path.read_text())} == OPEN


def test_modules_stay_small():
    long = {path.name: n for path in ROOM.rglob("*.py") if (n := len(path.read_text().splitlines())) > 320}
    assert {name for name in long if not name.startswith("0")} == set()


def test_no_migration_is_missing(db):
    from django.core.management import call_command

    call_command("makemigrations", check=True, dry_run=True, verbosity=0)
