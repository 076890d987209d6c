"""Runs the code blocks of one documentation page, in order, in the folder it is started in.

    python -m tests.docs.runnable PAGE.md

A block counts when the line before it is a comment:

    <!-- runs -->            a `sh` or `python` block that is executed
    <!-- file: a/b.py -->    a block that is that file: it is written, and modules and templates are found there
    <!-- prints -->          lines that the block before has printed, in this order; a lone … stands for any

Lines `python -m …` and `python manage.py …` run in this one process, through the same entry points, because starting
an interpreter and importing pandas for each would take most of the suite's time. Everything else goes to `sh`.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import re
import runpy
import shlex
import subprocess
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import django
from django.template import engines

MARKED = re.compile(r"^<!-- (runs|prints|file: (\S+)) -->\n+(`{3,})(\w*)\n(.*?)^\3$", re.M | re.S)
PYTHON = re.compile(r"^(?:\.venv/bin/)?python ")
SHELL_WORDS = re.compile(r"[|<>;&$`*]")


class Failed(AssertionError):
    """A block did not do what the page says."""


@dataclass(frozen=True)
class Block:
    kind: str
    language: str
    text: str
    line: int
    path: str = ""


def blocks(page: str) -> list[Block]:
    """The marked blocks of a page."""
    return [
        Block(match[1].split(":")[0], match[4], match[5], page.count("\n", 0, match.start(5)) + 1, match[2] or "")
        for match in MARKED.finditer(page)
    ]


class Runner:
    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "__page__"}
        self.printed = ""

    def run(self, block: Block) -> None:
        if block.kind == "prints":
            must_print(block.text, self.printed)
        elif block.kind == "file":
            save(Path(block.path), block.text)
        else:
            with capturing() as output:
                try:
                    self.python(block) if block.language == "python" else shell(block.text)
                except BaseException as error:
                    raise Failed(f"{output.getvalue()[-3000:]}\n{_told(error)}") from error
            self.printed = output.getvalue()

    def python(self, block: Block) -> None:
        if ">>> " not in block.text:
            exec(compile(block.text, f"line {block.line}", "exec"), self.names)
            return
        test = doctest.DocTestParser().get_doctest(block.text, self.names, "the page", None, block.line)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        if runner.run(test, out=sys.stdout.write, clear_globs=False).failed:
            raise Failed("an example does not give what the page says")
        self.names.update(test.globs)


def _told(error: BaseException) -> str:
    return str(error) if isinstance(error, Failed) else "".join(traceback.format_exception(error))[-3000:]


@contextlib.contextmanager
def capturing() -> Iterator[io.StringIO]:
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        yield output


def must_print(expected: str, printed: str) -> None:
    """Every line has been printed, in this order; how columns are padded doesn't matter."""
    printed_lines = iter([" ".join(line.split()) for line in printed.splitlines()])
    for line in expected.splitlines():
        promised = " ".join(line.split())
        if promised not in ("", "…") and promised not in printed_lines:
            raise Failed(f"the page promises the line {promised!r}, but this was printed:\n{printed[-3000:]}")


def shell(text: str) -> None:
    commands = [text] if "<<" in text else re.sub(r"\\\n\s*", " ", text).splitlines()
    for command in commands:
        words = shlex.split(command, comments=True) if "<<" not in command else []
        if PYTHON.match(command) and words and not any(map(SHELL_WORDS.search, words)):
            run_in_process(words[1:], command)
        elif words or "<<" in command:
            result = subprocess.run(["sh", "-eu", "-c", command], capture_output=True, text=True, check=False)
            sys.stdout.write(result.stdout + result.stderr)
            if result.returncode:
                raise Failed(f"$ {command}\nexits {result.returncode}")


def run_in_process(words: list[str], command: str) -> None:
    """`python -m module …` or `python script …`, in this process."""
    before, code = sys.argv, 0
    sys.argv = words[1:] if words[0] == "-m" else words
    try:
        if words[0] == "-m":
            runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(words[0], run_name="__main__")
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.argv = before
    if code:
        raise Failed(f"$ {command}\nexits {code}")


def save(path: Path, text: str) -> None:
    """A file that the page shows in full. Its package also looks here, as if it lay in the project."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    package = ".".join(path.parent.parts)
    if "annotation" in path.parts:
        django.setup()
    if path.suffix == ".py" and package:
        importlib.import_module(package).__path__.append(str(path.parent.absolute()))
    elif "templates" in path.parts:
        folder = Path(*path.parts[: path.parts.index("templates") + 1]).absolute()
        engines["django"].engine.dirs.append(folder)


def main(page: Path) -> None:
    runner = Runner()
    for block in blocks(page.read_text(encoding="utf-8")):
        try:
            runner.run(block)
        except Failed as failure:
            sys.exit(f"{page.name}, line {block.line}:\n{failure}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
