"""Docs are under test: a command, setting or metric that they don't name fails the suite, and so does a dead link."""

import re
import runpy
from pathlib import Path

import pytest
from django.core.management import get_commands

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("fixtures/*.md")])
COMMANDS = (ROOT / "docs" / "commands.md").read_text()


def modules(folder: str) -> list[str]:
    return sorted(path.stem for path in (ROOT / folder).glob("*.py") if not path.stem.startswith("_"))


def test_every_command_of_the_site_is_documented():
    commands = {name for name, app in get_commands().items() if app in ("annotation", "deploy")}
    assert len(commands) >= 3
    assert {name for name in commands if f"`{name}" not in COMMANDS} == set()


@pytest.mark.parametrize("room", ["analysis", "scoring"])
def test_every_command_of_the_libraries_is_documented(room):
    section = COMMANDS.split(f"(`python -m {room} …`)")[1].split("\n## ")[0]
    assert {name for name in modules(f"{room}/commands") if f"| `{name.replace('_', '-')}" not in section} == set()


def test_every_make_target_is_documented():
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M)
    missing = {name for name in targets if f"make {name}" not in COMMANDS}
    assert missing <= {"help", "prepare", "clean"}


def test_every_setting_is_documented():
    code = "".join(
        path.read_text() for path in (ROOT / "deploy").glob("*.py") if path.stem.endswith(("settings", "gunicorn"))
    )
    read = set(re.findall(r'(?:env\.\w+|environ\.get)\(\s*"([A-Z_]+)"', code))
    assert {"SECRET_KEY", "DATABASE_URL", "BIND"} <= read
    example = (ROOT / "deploy" / "env.example").read_text()
    assert {name for name in read if not re.search(rf"^{name}=", example, re.M)} == set()


def test_every_metric_is_documented():
    from scoring.registry import known

    pages = "".join(path.read_text() for path in ROOT.glob("docs/metrics/*.md"))
    assert {name for name in known() if f"`{name}`" not in pages} == set()


def test_every_column_is_documented():
    from annotation.tables import judgments, ledger, texts

    lists = [judgments.COLUMNS, ledger.COLUMNS, texts.DOCUMENTS, texts.SUMMARIES, texts.SCUS]
    columns = [column for columns in (*lists, texts.SCORES, texts.ASSIGNMENTS) for column in columns]
    pages = "".join((ROOT / "docs" / name).read_text() for name in ("tables.md", "exports.md"))
    assert {column.name for column in columns if column.in_files and f"`{column.name}`" not in pages} == set()


@pytest.mark.parametrize("page", DOCS, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_link_is_dead(page):
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text())
    dead = [link for link in links if "://" not in link and not (page.parent / link.split("#")[0]).exists()]
    assert dead == []


def test_every_picture_is_made_by_one_command():
    names = runpy.run_path(str(ROOT / "docs" / "screens" / "make.py"))["PAGES"]
    files = {path.name for path in (ROOT / "docs" / "screens").iterdir() if path.suffix in {".png", ".gif"}}
    assert files == {f"{name}-1280-light.png" for name in names} | {"judging.gif"}


def test_every_picture_is_shown():
    pictures = {
        (page.parent / link).resolve() for page in DOCS for link in re.findall(r"!\[.*?\]\((\S+)\)", page.read_text())
    }
    assert {*ROOT.glob("docs/screens/*.png"), *ROOT.glob("docs/screens/*.gif")} <= pictures
