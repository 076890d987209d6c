"""The libraries come in parts: which are here, how far an installation is, and a sentence for all that can go wrong."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from annotation.common import libraries

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(libraries, "HOME", tmp_path)
    return tmp_path


def pretend(monkeypatch, home: Path, script: str) -> None:
    """An installer that says and does this, in place of uv or pip; one pin is missing."""
    monkeypatch.setattr(libraries, "pins", lambda part: ["django==5.0", "no-such-library==1.0"])
    monkeypatch.setattr(libraries, "command", lambda *files: ["sh", "-c", script, "installer", *files])


def test_every_pin_stands_in_one_part_and_all_parts_make_the_whole():
    parts = {part: libraries.pins(part) for part in libraries.PARTS}
    names = [pin.partition("==")[0].lower() for part in parts.values() for pin in part]
    assert len(names) == len(set(names))
    assert not [pin for part in parts.values() for pin in part if not re.fullmatch(r"[\w.-]+(\[\w+\])?==[\w.]+", pin)]
    includes = (ROOT / "requirements.txt").read_text().split("\n-r ")[1:]
    assert [line.strip() for line in includes] == [f"requirements-{part}.txt" for part in ("start", "site", "models")]
    heavy = ("torch", "transformers", "ray", "sentence-transformers", "POT")
    light = [*parts["start"], *parts["site"]]
    assert not [pin for pin in light if pin.partition("==")[0] in heavy]


def test_a_part_is_ready_when_every_pin_is_met(monkeypatch):
    assert libraries.state("start").ready
    monkeypatch.setattr(libraries, "pins", lambda part: ["Django==1.0", "no-such-library==1.0"])
    assert libraries.missing("start") == ["Django==1.0", "no-such-library==1.0"]


def test_progress_is_seen_while_it_is_being_installed(home, monkeypatch):
    pretend(monkeypatch, home, "echo Collecting django; echo Collecting no-such-library")
    states = []
    libraries.bring("models", lambda n, total: states.append((n, total, libraries.state("models").coming)))
    assert states == [(1, 2, True), (2, 2, True)]
    assert not libraries.state("models").coming


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("OSError: [Errno 28] No space left on device", "the disk is full; make room and start again"),
        ("NewConnectionError: Temporary failure in name resolution", "the network did not answer; start again when"),
        ("ERROR: No matching distribution found for x==1", "a library has no build for this Python"),
        ("error: externally-managed-environment", "make an environment (python -m venv)"),
        ("ERROR: something new.", "something new; "),
    ],
)
def test_what_goes_wrong_is_one_sentence_and_stays_to_be_read(home, monkeypatch, output, sentence):
    pretend(monkeypatch, home, f"echo '{output}'; exit 1")
    with pytest.raises(libraries.NotInstalled, match="The libraries for the metrics with models are not installed: "):
        libraries.bring("models")
    state = libraries.state("models")
    assert sentence in state.problem
    assert (state.coming, state.n_missing) == (False, 2)
    pretend(monkeypatch, home, "exit 0")
    libraries.bring("models")  # again: it goes on
    assert libraries.state("models").problem == ""


def test_a_disk_that_is_full_for_our_own_notes_is_the_same_sentence(home, monkeypatch):
    (home / "install.log").symlink_to("/dev/full")
    pretend(monkeypatch, home, "echo Collecting django")
    with pytest.raises(libraries.NotInstalled, match="are not installed: the disk is full; make room and start again"):
        libraries.bring("models")


def test_uv_is_taken_where_it_is_here_and_pip_otherwise(monkeypatch):
    monkeypatch.setattr(libraries.shutil, "which", lambda name: f"/opt/{name}")
    assert libraries.command("pins.txt", "limits.txt") == [
        "/opt/uv",
        "pip",
        "install",
        "--python",
        sys.executable,
        "--constraint",
        "limits.txt",
        "--requirement",
        "pins.txt",
    ]
    monkeypatch.setattr(libraries.shutil, "which", lambda name: None)
    words = libraries.command("pins.txt", "limits.txt")
    assert words[:4] == [sys.executable, "-m", "pip", "install"]
    assert words[-4:] == ["--constraint", "limits.txt", "--requirement", "pins.txt"]


def test_what_a_part_brings_along_keeps_to_the_pins_of_all_parts(home, monkeypatch):
    """A tool of the tests must not bring another transformers than the metrics are pinned to."""
    monkeypatch.setattr(libraries, "missing", lambda part: ["x==1"])
    monkeypatch.setattr(libraries, "command", lambda *files: ["sh", "-c", f'cp "$@" {home}', "installer", *files])
    libraries.bring("dev")
    contents = sorted((file.read_text().split("\n")[:-1] for file in home.glob("*.txt")), key=len)
    pins = {part: libraries.pins(part) for part in libraries.PARTS}
    assert contents[0] == pins["dev"]
    assert "psycopg==3.3.8" in contents[1]  # a limit names no extras
    assert len(contents[1]) == sum(map(len, pins.values()))


def test_it_needs_nothing_but_python():
    code = "import sys, annotation.common.libraries; print({name.split('.')[0] for name in sys.modules})"
    result = subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "django" not in result.stdout


def test_a_part_that_is_none_is_answered_with_those_that_are(capsys):
    assert libraries.main(["everything"]) == 2
    assert "start, site, models, cluster, dev" in capsys.readouterr().out
