"""What can't be meant is refused with one sentence and exit code 2, before anything is computed or written."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pandas as pd
import pytest

from analysis import VERSION
from analysis.cli import main
from analysis.tables.checks import show
from analysis.tables.provenance import versions
from scoring import __version__ as scoring_version

ROOT = Path(__file__).resolve().parents[3]
DEMO = str(ROOT / "fixtures" / "demo" / "judgments.csv")
VALUES = {"h": (1, 2, 3, 4), "m": (2, 1, 4, 3)}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    rows = [(d, f"s{i}", name, value + (d == "e")) for name, values in VALUES.items() for i, value in enumerate(values)
            for d in ("d", "e")]  # fmt: skip
    scores = pd.DataFrame(rows, columns=["doc_id", "system", "metric", "value"])
    scores.to_csv(tmp_path / "scores.csv", index=False)
    scores[scores["metric"] == "h"].to_csv(tmp_path / "human.csv", index=False)
    scores[scores["doc_id"] == "d"].assign(doc_id="*").to_csv(tmp_path / "whole.csv", index=False)
    documents = pd.DataFrame({"doc_id": ["d"], "source": ['["One.", "Two."]'], "references": ['["One."]']})
    documents.to_csv(tmp_path / "documents.csv", index=False)
    (tmp_path / "file").write_text("")
    return {path.stem: str(path) for path in tmp_path.iterdir()} | {"J": DEMO, "out": str(tmp_path / "out")}


HUMAN = "{scores} --human h"
REFUSED = [
    (f"correlate {HUMAN} --ci 10 --seed -1", "whole number of 0 or more"),
    (f"compare {HUMAN} --seed -1", "whole number of 0 or more"),
    (f"pairwise {HUMAN} --seed -1", "whole number of 0 or more"),
    (f"report {HUMAN} --seed -1", "whole number of 0 or more"),
    ("agreement {J} --ci 10 --seed -1", "whole number of 0 or more"),
    ("agreement {J} --ci 99999999999", "1,000,000 are the most"),
    (f"correlate {HUMAN} --ci 99999999999", "1,000,000 are the most"),
    (f"compare {HUMAN} --resamples 99999999999", "1,000,000 are the most"),
    ("sample {scores} --bins 0", "whole number above 0"),
    ("sample {scores} --slices -1", "whole number of 0 or more"),
    ("systems {J} --resamples -5", "whole number of 0 or more"),
    ("systems {J} --resamples 0", "whole number above 0"),
    *((f"systems {{J}} --alpha {alpha}", "between 0 and 1") for alpha in ("0", "2", "-1", "nan")),
    *((f"power {{J}} {option}", "number of 0 or more") for option in ("--fee -3", "--price -1", "--sd-document -1")),
    ("power {J} --systems 0", "whole number above 0"),
    ("filter {J} --rule checks --quota -1", "whole number of 0 or more"),
    ("filter {J} --rule checks --price -1", "number of 0 or more"),
    ("filter {J} --rule checks --out {out} --dropped {out}", "name the same file"),
    ("filter {J} --rule checks[max_failed=nan]", "needs a finite number"),
    ("filter {J} --rule time[z=nan]", "needs a finite number"),
    ("filter {J} --rule checks[minimum=1.5]", "needs a whole number"),
    ("correlate {human} --human h", "no metric beside h"),
    ("topk {human} --human h", "no metric beside h"),
    ("dimensions {human} --dimensions h", "no metric beside the dimensions"),
    ("sample {whole}", "whole systems only"),
    ("dimensions {scores} --dimensions h --table scores --lowest zzz", "zzz"),
    ("agreement {J} --cluster zzz", "no column 'zzz'"),
    ("generate {documents} --fitness math:sqrt --out {out}", "can't be called with sentences and references"),
    ("generate {documents} --fitness math:pi --out {out}", "not a function"),
    (f"correlate {HUMAN} --plot {{file}}/c.svg", "can't be written"),
    (f"report {HUMAN} --out {{file}}/r", "can't be written"),
    ("power --sd-document 0.1 --sd-worker 0.1 --chart {file}/c.svg", "can't be written"),
    (f"correlate {HUMAN} --plot {{out}}.png", "ends in none of .svg, .pdf, .json"),
]


@pytest.mark.parametrize(("command", "sentence"), REFUSED)
def test_what_cant_be_meant_is_refused(capsys, files: dict[str, str], command: str, sentence: str) -> None:
    code = main([word.format(**files) for word in command.split()])
    output = capsys.readouterr()
    assert (code, output.out) == (2, "")
    assert sentence in output.err
    assert output.err.count("\n") == 1
    assert not Path(files["out"]).exists()


def test_an_unwritable_folder_is_refused_before_the_report_is_computed(capsys, files, monkeypatch) -> None:
    monkeypatch.setattr("analysis.commands.report.build_report", lambda *_, **__: pytest.fail("computed"))
    assert main(["report", files["scores"], "--human", "h", "--out", f"{files['file']}/r"]) == 2


@pytest.mark.parametrize(
    ("command", "work"),
    [
        (f"correlate {HUMAN} --ci 100000 --plot /proc/none/c.svg", "correlate._correlate"),
        (f"compare {HUMAN} --plot /proc/none/c.svg", "compare.compare"),
        ("aggregate {J} --scheme mace --out /proc/none/h.csv", "aggregate.aggregate"),
        ("filter {J} --rule checks --dropped /proc/none/d.csv", "filter.preview"),
    ],
)
def test_a_place_that_cant_be_written_is_refused_before_the_work(
    capsys, files: dict[str, str], monkeypatch, command: str, work: str
) -> None:
    monkeypatch.setattr(f"analysis.commands.{work}", lambda *_, **__: pytest.fail("computed"))
    assert main([word.format(**files) for word in command.split()]) == 2
    assert "can't be written" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        "aggregate {mine} --out {mine}",
        "filter {mine} --rule checks --out {mine}",
        "filter {mine} --rule checks --dropped {link}",
        "sample {scores} --out {scores}",
        "generate {documents} --fitness math:hypot --out {documents}",
    ],
)
def test_no_file_is_written_over_what_is_read(capsys, files: dict[str, str], tmp_path: Path, command: str) -> None:
    judgments, link = tmp_path / "mine.csv", tmp_path / "link.csv"
    judgments.write_bytes(Path(DEMO).read_bytes())
    link.symlink_to(judgments)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert main([word.format(**files, mine=judgments, link=link) for word in command.split()]) == 2
    assert "a file to write that is also read" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("scale", ["1,1", "5,1", "1,nan"])
def test_a_scale_goes_from_low_to_high(capsys, tmp_path: Path, scale: str) -> None:
    rows = [("d", "s", unit, worker, 3) for unit in ("coverage", "quality") for worker in ("a", "b")]
    frame = pd.DataFrame(rows, columns=["doc_id", "system", "unit", "worker_id", "value"])
    frame.to_csv(tmp_path / "j.csv", index=False)
    command = ["aggregate", str(tmp_path / "j.csv"), "--combine", "coverage,quality", "--quality-range", scale]
    assert main(command) == 2
    assert "goes from low to high" in capsys.readouterr().err


def test_the_version_is_the_same_everywhere() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert VERSION == scoring_version == versions()["pyramidion"] == version


def test_numbers_in_sentences_are_plain() -> None:
    assert show(pd.Series([float("inf")]).to_numpy()[0]) == "inf"
