"""What the documentation shows, works: every marked block of every page is executed (tests/docs/runnable.py)."""

import os
import re
import shlex
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class
from django.db import connection

from analysis.cli import _parser as analysis_parser
from scoring.cli import _parser as scoring_parser
from tests.conftest import SHARED_DATA
from tests.docs.runnable import Failed, Runner, blocks, must_print

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = [page for page in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))] if blocks(page.read_text())]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="module")
def empty_database(django_db_setup, django_db_blocker, tmp_path_factory) -> Path:
    """A migrated database without rows: a copy of the tests' own, since migrating takes seconds."""
    copy = tmp_path_factory.mktemp("database") / "empty.sqlite3"
    with django_db_blocker.unblock():
        connection.ensure_connection()
        target = sqlite3.connect(copy)
        connection.connection.backup(target)
        target.execute("PRAGMA journal_mode=DELETE")  # one file, without a log beside it
        target.close()
        connection.close()
    return copy


@pytest.fixture
def project(tmp_path, empty_database) -> Path:
    """A folder that looks like a clone with `make run` done: the program, the fixtures, a database of its own."""
    clone = tmp_path / "clone"
    clone.mkdir()
    for name, target in ((".venv", Path(sys.prefix)), *((name, ROOT / name) for name in ("manage.py", "fixtures"))):
        (clone / name).symlink_to(target)
    (clone / "database.sqlite3").write_bytes(empty_database.read_bytes())
    if SHARED_DATA.is_dir():
        (tmp_path / "shared").symlink_to(SHARED_DATA.parent)
    return clone


def run(page: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("DJANGO", "COLUMNS"))},
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DEMO": "1",
        "ENV_FILE": os.devnull,
        "SECRET_KEY": "only-for-tests",
        "DATABASE_URL": f"sqlite:///{folder}/database.sqlite3",
        "OMP_NUM_THREADS": "1",
    }
    return subprocess.run(
        [sys.executable, "-m", "tests.docs.runnable", str(page)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def needs_a_project(page: Path) -> bool:
    """Pages of plain Python examples are run in this process; the others look like a terminal in a clone."""
    return any(block.language != "python" or block.kind == "file" for block in blocks(page.read_text()))


@pytest.mark.django_db  # so that there is a database to copy
@pytest.mark.parametrize("page", [page for page in PAGES if needs_a_project(page)], ids=name)
def test_the_blocks_of_a_page_run(page: Path, project: Path):
    if "../shared/data" in "".join(block.text for block in blocks(page.read_text())) and not SHARED_DATA.is_dir():
        pytest.skip(f"needs the shared data in {SHARED_DATA}")
    result = run(page, project)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("page", [page for page in PAGES if not needs_a_project(page)], ids=name)
def test_the_examples_of_a_page_run(page: Path, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runner = Runner()
    for block in blocks(page.read_text()):
        runner.run(block)


def test_the_readme_the_tutorial_and_the_examples_for_extending_are_among_them():
    assert {"README.md", "docs/tutorial.md", "docs/extending.md", "docs/analysts.md"} <= set(map(name, PAGES))


def test_no_command_of_the_tutorial_is_left_out():
    page = (ROOT / "docs" / "tutorial.md").read_text()
    n_blocks = page.count("\n```sh\n") + page.count("\n```python\n")
    assert len([block for block in blocks(page) if block.language in ("sh", "python")]) == n_blocks - 1  # `make run`


def commands_shown() -> list[tuple[str, list[str]]]:
    """(page, words) of every command of ours in a `sh` block, run or not; lines with … or [options] are no commands."""
    commands = []
    for page in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]:
        for block in re.findall(r"^```sh\n(.*?)^```$", page.read_text(), re.M | re.S):
            for line in re.sub(r"\\\n\s*", " ", block).splitlines():
                if re.match(r"(\.venv/bin/)?python (-m (analysis|scoring)|manage\.py) ", line) and "…" not in line:
                    words = shlex.split(re.sub(r" \[--.*?\]|\$\(.*?\)", "", line), comments=True)[1:]
                    commands.append((name(page), words[: words.index("<")] if "<" in words else words))
    return commands


def test_commands_that_are_shown_exist_with_their_options(capsys):
    """Those that need a market, a model or data by licence are not run, but spelled right."""
    faults = []
    for page, words in commands_shown():
        try:
            if words[0] == "-m":
                (analysis_parser(words[2]) if words[1] == "analysis" else scoring_parser()).parse_args(words[2:])
            else:
                app = get_commands()[words[1]]
                load_command_class(app, words[1]).create_parser("manage.py", words[1]).parse_args(words[2:])
        except (SystemExit, Exception) as error:
            faults.append((page, " ".join(words), str(error)))
    assert faults == []
    assert len(commands_shown()) > 60


def test_a_broken_block_fails(tmp_path):
    page = "<!-- runs -->\n```python\nx = 2\n```\n\n<!-- runs -->\n```python\n>>> x + 1\n4\n```\n"
    first, second = blocks(page)
    runner = Runner()
    runner.run(first)
    with pytest.raises(Failed, match=r"Expected:\n.*4\nGot:\n.*3"):
        runner.run(second)
    (shell,) = blocks("<!-- runs -->\n```sh\npython -m analysis nothing\n```\n")
    with pytest.raises(Failed, match="exits 2"):
        runner.run(shell)


def test_a_line_that_was_not_printed_fails():
    must_print("a  b\n…\nd\n", "a b\nc\nd\n")
    with pytest.raises(Failed, match="promises the line 'a b'"):
        must_print("d\na b\n", "a b\nc\nd\n")
