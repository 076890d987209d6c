"""The command line: every command answers in a table, in JSON, and wrong arguments with one sentence."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from analysis.cli import main, names, progress, table_text
from analysis.tables import read_table

JUDGMENTS = """doc_id,system,group,unit,worker_id,value,is_check
1,a,abs,scu1,w1,1,0
1,a,abs,scu1,w2,1,0
1,a,abs,scu2,w1,0,0
1,a,abs,scu2,w2,1,0
1,b,ext,scu1,w1,0,0
1,b,ext,scu1,w2,0,0
1,b,ext,scu2,w1,1,0
1,b,ext,scu2,w2,1,0
1,a,abs,blank,w1,0,1
1,a,abs,blank,w2,0,1
"""


@pytest.fixture
def judgments(tmp_path: Path) -> str:
    path = tmp_path / "judgments.csv"
    path.write_text(JUDGMENTS)
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def rows(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict]:
    code, out, _ = run(capsys, *arguments, "--json")
    assert code == 0
    return json.loads(out)


def test_the_stable_names_are_there() -> None:
    commands = set(names())
    assert {"filter", "agreement", "aggregate", "systems", "power", "sample"} <= commands
    assert not any(name.startswith("-") for name in commands)


def test_agreement_has_the_promised_fields(capsys, judgments: str) -> None:
    (row,) = rows(capsys, "agreement", judgments)
    assert list(row)[:7] == ["coefficient", "level", "value", "n_units", "n_undefined", "low", "high"]
    # 4 units, one of them 1-0: D_o = 2/8; 5 ones and 3 zeros: D_e = 2 * 5 * 3 / (8 * 7); alpha = 1 - 0.25 * 56/30
    assert row["value"] == pytest.approx(1 - 0.25 * 56 / 30)
    assert (row["coefficient"], row["level"], row["n_units"], row["low"]) == ("alpha", "nominal", 4, None)


def test_by_adds_the_group(capsys, judgments: str) -> None:
    groups = rows(capsys, "agreement", judgments, "--by", "system")
    assert [row["group"] for row in groups] == ["a", "b"]
    assert groups[1]["value"] == 1


def test_checks_stay_out_unless_told(capsys, judgments: str) -> None:
    (row,) = rows(capsys, "agreement", judgments, "--include-checks")
    assert row["n_units"] == 5


def test_where_may_be_repeated(capsys, judgments: str) -> None:
    (row,) = rows(capsys, "agreement", judgments, "--where", "system=a", "--where", "unit=scu1", "--where", "unit=scu2")
    assert row["n_units"] == 2


def test_a_table_for_people_has_an_en_dash_for_what_is_undefined(capsys, judgments: str) -> None:
    code, out, err = run(capsys, "agreement", judgments, "--where", "unit=scu1", "--where", "system=b")
    assert (code, err) == (0, "")
    assert out.splitlines()[1].split() == ["alpha", "nominal", "–", "1", "1", "–", "–"]
    assert "All answers are equal (0)" in out


def test_an_interval_from_too_few_resamples_says_so(capsys, judgments: str, tmp_path: Path) -> None:
    scores = tmp_path / "scores.csv"
    cells = [f"d{d},s{s},{m},{d * s + (m == 'h') * s}" for d in range(4) for s in range(4) for m in "hm"]
    scores.write_text("\n".join(["doc_id,system,metric,value", *cells]))
    for command in (["agreement", judgments], ["correlate", str(scores), "--human", "h", "--level", "summary"]):
        # 1 in 40 is 2.5 %: the lowest of 39 resamples is the least that may bound it.
        assert "38 can't bound 95 %; 1000 are usual." in "".join(run(capsys, *command, "--ci", "38")[1:])
        assert "can't bound" not in "".join(run(capsys, *command, "--ci", "39")[1:])


def test_notes_go_to_the_error_stream_with_json(capsys, judgments: str) -> None:
    _, out, err = run(capsys, "agreement", judgments, "--json")
    json.loads(out)
    assert "Pooled over all units." in err


def test_filter_agreement_aggregate_in_a_row(capsys, judgments: str, tmp_path: Path) -> None:
    kept_path, dropped, human = (str(tmp_path / name) for name in ("kept.csv", "dropped.parquet", "human.jsonl"))
    decisions = rows(
        capsys,
        "filter",
        judgments,
        "--rule",
        "worker-agreement[minimum=1,threshold=-2]",
        "--out",
        kept_path,
        "--dropped",
        dropped,
    )
    assert decisions == []
    assert len(read_table(kept_path, "judgments")) == 8
    assert len(read_table(dropped, "judgments")) == 0
    scores = rows(capsys, "aggregate", kept_path, "--out", human)
    assert {(row["system"], row["metric"], row["value"]) for row in scores} == {
        ("a", "litepyramid_recall", 0.5),
        ("b", "litepyramid_recall", 0.5),
    }
    assert read_table(human, "scores")["group"].tolist() == ["abs", "ext"]
    record = json.loads(Path(f"{human}.provenance.json").read_text())
    assert record["command"] == "aggregate"
    assert len(record["inputs"]["kept.csv"]) == 64


def test_the_same_command_writes_the_same_bytes(capsys, judgments: str, tmp_path: Path) -> None:
    contents = []
    for name in ("one.csv.gz", "two.csv.gz"):
        run(capsys, "aggregate", judgments, "--out", str(tmp_path / name))
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "The following arguments are required: COMMAND"),
        (["agree"], "invalid choice: 'agree' (choose from"),
        (["agreement"], "The following arguments are required: JUDGMENTS"),
        (["agreement", "nowhere.csv"], "nowhere.csv: found no such file"),
        (["agreement", "J", "--level", "cardinal"], "invalid choice: 'cardinal'"),
        (["agreement", "J", "--where", "colour=red"], "has no column 'colour' for --where; it has doc_id, system"),
        (["agreement", "J", "--where", "system"], "has no '='"),
        (["agreement", "J", "--where", "system=z"], "No row of judgments.csv has system=z; system holds a, b"),
        (["agreement", "J", "--by", "dimension"], "no column 'dimension'"),
        (["agreement", "J", "--per", "topic"], "no column 'topic'"),
        (["agreement", "J", "--ci", "many"], "'many' is not a whole number of 0 or more"),
        (["agreement", "J", "--where", "worker_id=w1"], "All judgments come from one worker (w1)"),
        (["filter", "J", "--rule", "luck"], "There is no rule 'luck'"),
        (["filter", "J", "--rule", "worker-agreement[threshold=2,minimum=1]"], "would drop everybody (2 workers)"),
        (["aggregate", "J", "--out", "x.xlsx"], "a name ending in .xlsx"),
        (["systems", "J", "--unit", "style"], "no dimension 'style'"),
        (["power"], "Give a pilot's judgments"),
        (["sample", "J"], "a column metric in a scores table"),
    ],
)
def test_a_wrong_argument_exits_2_with_one_sentence(
    capsys, judgments: str, arguments: list[str], sentence: str
) -> None:
    code, out, err = run(capsys, *[judgments if argument == "J" else argument for argument in arguments])
    assert (code, out) == (2, "")
    assert sentence in err
    assert "Traceback" not in err


def test_a_reader_that_leaves_early_is_no_error(judgments: str) -> None:
    command = f"{shlex.quote(sys.executable)} -m analysis aggregate {shlex.quote(judgments)} | head -1"
    process = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, cwd=Path(__file__).parents[3], check=True
    )
    assert "doc_id" in process.stdout
    assert process.stderr == ""


def test_ctrl_c_while_the_libraries_load_shows_no_traceback(judgments: str) -> None:
    # Python tells of every module that it has loaded: pandas comes long after numpy.
    command = [sys.executable, "-X", "importtime", "-m", "analysis", "agreement", judgments, "--ci", "100000"]
    with subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
        # Started in the background of a script, this test has Ctrl-C ignored, and so would its child.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stderr is not None
        assert any("numpy" in line for line in process.stderr)
        process.send_signal(signal.SIGINT)
        remaining = process.stderr.read()
    assert process.returncode == -signal.SIGINT
    assert "Traceback" not in remaining
    assert "analysis.cli" not in remaining  # it ended on the way


def test_help_names_every_command(capsys) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--help"])
    assert stopped.value.code == 0
    out = capsys.readouterr().out
    assert all(name in out for name in names())


def test_numbers_stand_to_the_right_and_words_to_the_left() -> None:
    text = table_text([{"name": "x", "value": 1.0}, {"name": "longer", "value": None}], ["name", "value"])
    assert text.splitlines() == ["name       value", "x       1.000000", "longer         –"]


def test_scores_may_stand_in_several_files(tmp_path, capsys):
    rows = [(f"d{d}", f"s{s}", s + d / 10) for d in range(3) for s in range(4)]
    for metric in ("human", "metric"):
        lines = [f"{doc},{system},{metric},{value}" for doc, system, value in rows]
        (tmp_path / f"{metric}.csv").write_text("\n".join(["doc_id,system,metric,value", *lines]))
    files = [str(tmp_path / "human.csv"), str(tmp_path / "metric.csv")]
    assert main(["correlate", *files, "--human", "human", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["value"] == pytest.approx(1)
    assert main(["correlate", *files, files[1], "--human", "human"]) == 2  # the same rows twice
    assert "s0" in capsys.readouterr().err


def test_progress_says_nothing_about_quick_work_and_plain_lines_about_slow(capsys, monkeypatch) -> None:
    assert list(progress(range(5), 5, "steps")) == [0, 1, 2, 3, 4]
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("analysis.cli.EVERY", 0.0)
    assert list(progress(range(3), 3, "steps")) == [0, 1, 2]
    assert capsys.readouterr().err == "steps: 1 of 3\nsteps: 2 of 3\n"
