"""One person in a pilot and in the main batch: a stated rule decides which answers count."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from analysis.aggregate import aggregate
from analysis.agreement import agreement
from analysis.cli import main
from analysis.tables import AnalysisError, check_table, read_table, write_table
from analysis.tables.batches import choose_batches
from tests.analysis.support import table

COLUMNS = "doc_id system unit worker_id value batch round submitted_at"
PILOT, MAIN, SECOND = "2026-01-01T10:00:00+00:00", "2026-02-01T10:00:00+00:00", "2026-03-01T10:00:00+00:00"


def judgments() -> pd.DataFrame:
    """Ann says no in the pilot and yes in the main batch; Bob and Cy judge in the main batch alone."""
    answers = [("u1", "ann", 0, "pilot", PILOT), ("u1", "ann", 1, "main", MAIN), ("u2", "ann", 0, "pilot", PILOT)]
    answers += [("u1", "bob", 1, "main", MAIN), ("u1", "cy", 0, "main", MAIN), ("u2", "bob", 0, "main", MAIN)]
    return table([("d", "s", unit, who, value, batch, 1, at) for unit, who, value, batch, at in answers], COLUMNS)


def answers(frame: pd.DataFrame) -> set[tuple[str, str, float]]:
    return {(str(row.worker_id), str(row.unit), float(row.value)) for row in frame.itertuples()}


def test_by_default_the_answers_of_the_latest_batch_count() -> None:
    # u1: ann yes (main), bob yes, cy no -> present. With the pilot's answer the votes would be even.
    (score,) = aggregate(judgments())["value"]
    assert score == 0.5  # u1 present, u2 not present
    assert agreement(judgments())[0].n_judgments == 5


def test_what_is_set_aside_keeps_its_reason() -> None:
    choice = choose_batches(judgments())
    assert answers(choice.set_aside) == {("ann", "u1", 0)}
    assert choice.set_aside["rule"].tolist() == ["batches"]
    assert choice.set_aside["reason"].tolist() == ["The worker judged this again in a later batch."]
    assert choice.sentence.endswith("(set aside: 1; workers: 1; batches in order: pilot, main).")


def test_separate_raters_are_named_by_their_batch() -> None:
    choice = choose_batches(judgments(), "separate")
    assert set(choice.judgments["worker_id"]) == {"ann [pilot]", "ann [main]", "bob", "cy"}
    assert len(choice.judgments) == 6
    assert choice.workers == {"ann [pilot]": "ann", "ann [main]": "ann"}
    assert "a rater of its own (workers: 1; batches: pilot, main)" in choice.sentence
    assert agreement(choice.judgments)[0].n_workers == 4


@pytest.mark.parametrize("names", [["pilot"], "pilot", ["pilot,main"], ["pilot", "main"]])
def test_batches_can_be_chosen_by_name(names) -> None:
    choice = choose_batches(judgments(), names)
    only_pilot = {("ann", "u1", 0.0), ("ann", "u2", 0.0)}
    everything = answers(choose_batches(judgments()).judgments)
    assert answers(choice.judgments) == (everything if "main" in str(names) else only_pilot)
    assert choice.sentence.startswith("Only these batches count: pilot")


def test_a_second_round_revises_its_batch_and_is_no_rater_of_its_own() -> None:
    second = table([("d", "s", "u1", "ann", 0, "main again", 2, SECOND)], COLUMNS)
    both = pd.concat([judgments(), second], ignore_index=True)
    assert answers(choose_batches(both).set_aside) == {("ann", "u1", 0)}  # the pilot's; both rounds of main stay
    (score,) = aggregate(both)["value"]
    assert score == 0  # ann no (second round), bob yes, cy no
    separate = choose_batches(both, "separate").judgments
    assert set(separate["worker_id"]) == {"ann [pilot]", "ann [main]", "bob", "cy"}
    by_round = {result.group: result.n_judgments for result in agreement(both, by="round")}
    assert by_round == {"1": 5, "2": 1}


def test_a_main_batch_after_the_pilots_second_round_is_the_latest() -> None:
    rows = [("u1", 0, "pilot", 1, PILOT), ("u1", 0, "pilot again", 2, MAIN), ("u1", 1, "main", 1, SECOND)]
    frame = table([("d", "s", unit, "ann", value, name, n, at) for unit, value, name, n, at in rows], COLUMNS)
    assert answers(choose_batches(frame).judgments) == {("ann", "u1", 1)}


def test_without_times_nobody_guesses_which_batch_is_the_latest() -> None:
    frame = judgments().drop(columns="submitted_at")
    with pytest.raises(AnalysisError, match=r"says which is the last; choose some by name \(--batches"):
        aggregate(frame)
    in_order = choose_batches(frame, order=["pilot", "main"])
    assert answers(in_order.judgments) == answers(choose_batches(judgments()).judgments)


def test_twice_in_one_batch_is_still_an_error() -> None:
    twice = pd.concat([judgments(), judgments().tail(1)], ignore_index=True)
    with pytest.raises(AnalysisError, match="more than once"):
        aggregate(twice)


def test_an_unknown_batch_is_answered_with_the_known_ones() -> None:
    with pytest.raises(AnalysisError, match="no batch 'plot'; there are main, pilot"):
        choose_batches(judgments(), "plot")
    with pytest.raises(AnalysisError, match="no column 'batch'"):
        choose_batches(judgments().drop(columns="batch"), "pilot")


def test_rows_that_differ_by_batch_alone_are_no_duplicates() -> None:
    frame = judgments().drop(columns="submitted_at").head(2).assign(value=1)
    assert check_table(frame, "judgments")["batch"].tolist() == ["pilot", "main"]


@pytest.mark.parametrize("command", ["agreement", "aggregate", "systems", "power", "filter", "report"])
@pytest.mark.parametrize("rule", ["latest", "separate", "main", "pilot,main"])
def test_every_command_that_reads_judgments_knows_the_rule(command, rule, tmp_path, capsys) -> None:
    path = tmp_path / "judgments.csv"
    write_table(_study(), path, "judgments")
    options = {
        "filter": ["--rule", "time"],
        "report": ["--ci", "10", "--human", "litepyramid_recall", "--out", str(tmp_path / "out")],
        "systems": ["--resamples", "20"],
    }
    target = str(tmp_path) if command == "report" else str(path)
    assert main([command, target, *options.get(command, []), "--batches", rule]) == 0, capsys.readouterr().err


def _study() -> pd.DataFrame:
    rows = [
        (f"d{doc}", f"s{system}", f"u{unit}", worker, (doc + system + unit + len(worker)) % 2, batch, 1, at)
        for doc in range(4)
        for system in range(3)
        for unit in range(3)
        for worker, batch, at in (("ann", "pilot", PILOT), ("ann", "main", MAIN), ("bobby", "main", MAIN))
    ]
    return table(rows, COLUMNS).assign(seconds=5.0)


def test_the_rule_stands_in_provenance_and_in_the_dropped_rows(tmp_path) -> None:
    path, human, dropped = (tmp_path / f"{name}.csv" for name in ("judgments", "human", "dropped"))
    write_table(_study(), path, "judgments")
    assert main(["aggregate", str(path), "--out", str(human), "--batches", "main"]) == 0
    record = json.loads((tmp_path / "human.csv.provenance.json").read_text())
    assert record["options"]["batches"] == "main"
    assert main(["filter", str(path), "--rule", "time", "--dropped", str(dropped)]) == 0
    rows = read_table(dropped, "judgments")
    assert set(rows["rule"]) == {"batches"}
    assert set(rows["batch"]) == {"pilot"}
