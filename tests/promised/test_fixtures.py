"""The demo study holds what its README promises, and its simulated crowd can be made anew to the byte."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from statistics import mean, median
from typing import Any

import pytest

from fixtures.simulate import COLUMNS, CROWD, allocate, difficulty
from fixtures.variants import SEED, SYSTEMS, is_present, read_statements, read_stories

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "fixtures" / "demo"
GROUPS = {
    "lead": "ext",
    "extract": "ext",
    "abstract": "abs",
    "brief": "abs",
    "echo": "abs",
    "invent": "abs",
}
PLANTED = {"demo-worker-04", "demo-worker-09", "demo-worker-13"}

Rows = list[dict[str, str]]
Documents = dict[str, dict[str, Any]]  # by document
Summaries = dict[tuple[str, str], dict[str, Any]]  # by document and system
Cell = tuple[str, str, str]  # document, system, unit
Answers = dict[Cell, int]
Votes = dict[Cell, list[int]]


def read_jsonl(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DEMO / name).read_text(encoding="utf-8").splitlines()]


def read_csv(name: str) -> Rows:
    with (DEMO / name).open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


@pytest.fixture(scope="module")
def documents() -> Documents:
    return {row["doc_id"]: row for row in read_jsonl("documents.jsonl")}


@pytest.fixture(scope="module")
def summaries() -> Summaries:
    return {(row["doc_id"], row["system"]): row for row in read_jsonl("summaries.jsonl")}


@pytest.fixture(scope="module")
def scus() -> Rows:
    return read_csv("scus.csv")


@pytest.fixture(scope="module")
def truth() -> Answers:
    return {(row["doc_id"], row["system"], row["scu_id"]): int(row["present"]) for row in read_csv("truth.csv")}


@pytest.fixture(scope="module")
def judgments() -> Rows:
    return read_csv("judgments.csv")


@pytest.fixture(scope="module")
def votes(judgments: Rows) -> Votes:
    """The crowd's answers to each real unit of each summary."""
    answers: Votes = defaultdict(list)
    for row in judgments:
        if row["is_check"] == "0":
            answers[row["doc_id"], row["system"], row["unit"]].append(int(row["value"]))
    return answers


def recall(present: Answers, systems: Iterable[str] = GROUPS) -> dict[str, float]:
    """Mean over the documents of the share of units that are present, for each system."""
    cells: dict[tuple[str, str], list[int]] = defaultdict(list)
    for (doc_id, system, _), value in present.items():
        cells[system, doc_id].append(value)
    return {name: mean(mean(v) for (system, _), v in cells.items() if system == name) for name in systems}


def majority(votes: Votes) -> Answers:
    """A strict majority makes a unit present; a tie does not."""
    return {cell: int(2 * sum(values) > len(values)) for cell, values in votes.items()}


def dissent(judgments: Rows, votes: Votes) -> dict[str, float]:
    """Each worker's share of answers against a strict majority, ties left out."""
    against: dict[str, list[bool]] = defaultdict(list)
    for row in judgments:
        values = votes.get((row["doc_id"], row["system"], row["unit"]), [])
        if row["is_check"] == "0" and 2 * sum(values) != len(values):
            against[row["worker_id"]].append(int(row["value"]) != int(2 * sum(values) > len(values)))
    return {worker: mean(dissents) for worker, dissents in against.items()}


# The texts


def test_there_are_twelve_documents_of_250_to_500_words(documents: Documents) -> None:
    assert len(documents) == len(read_jsonl("documents.jsonl")) == 12
    for doc_id, row in documents.items():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)+", doc_id)
        assert 250 <= len(" ".join(row["source"]).split()) <= 500, doc_id


def test_each_document_has_one_reference_of_three_or_four_sentences(
    documents: Documents,
) -> None:
    for doc_id, row in documents.items():
        assert len(row["references"]) == 1, doc_id
        assert len(row["references"][0]) in (3, 4), doc_id


def test_every_system_summarises_every_document(documents: Documents, summaries: Summaries) -> None:
    assert set(summaries) == {(doc_id, system) for doc_id in documents for system in GROUPS}
    assert len(read_jsonl("summaries.jsonl")) == 72
    assert all(row["group"] == GROUPS[system] for (_, system), row in summaries.items())


def test_lead_and_extract_are_sentences_of_the_source(documents: Documents, summaries: Summaries) -> None:
    for doc_id, row in documents.items():
        source = row["source"]
        assert summaries[doc_id, "lead"]["summary"] == source[:3]
        places = [source.index(sentence) for sentence in summaries[doc_id, "extract"]["summary"]]
        assert places == sorted(set(places)), f"{doc_id}: in the order of the source, each sentence once"
        assert 3 <= len(places) <= 5


def test_abstractive_summaries_copy_no_sentence(documents: Documents, summaries: Summaries) -> None:
    for (doc_id, system), row in summaries.items():
        if GROUPS[system] == "abs":
            copied = {*documents[doc_id]["source"], *documents[doc_id]["references"][0]} & set(row["summary"])
            assert not copied, (doc_id, system)


def test_brief_is_one_sentence_and_echo_repeats_itself(
    summaries: Summaries,
) -> None:
    def distinct(row: dict[str, Any]) -> float:
        tokens = re.findall(r"\w+", " ".join(row["summary"]).lower())
        return len(set(tokens)) / len(tokens)

    for (doc_id, system), row in summaries.items():
        if system == "brief":
            assert len(row["summary"]) == 1
            assert len(row["summary"][0].split()) <= 20
        if system == "echo":
            assert distinct(row) < 0.65 < distinct(summaries[doc_id, "abstract"])


def test_no_two_texts_are_the_same(documents: Documents, summaries: Summaries, scus: Rows) -> None:
    texts = [" ".join(row["source"]) for row in documents.values()]
    texts += [" ".join(row["references"][0]) for row in documents.values()]
    texts += [" ".join(row["summary"]) for row in summaries.values()]
    texts += [row["text"] for row in scus]
    assert [text for text, count in Counter(texts).items() if count > 1] == []


def test_texts_are_clean(documents: Documents, summaries: Summaries) -> None:
    sentences = [sentence for row in summaries.values() for sentence in row["summary"]]
    for row in documents.values():
        sentences += row["source"] + row["references"][0]
    for sentence in sentences:
        assert sentence == " ".join(sentence.split())
        assert re.search(r"[.!?”]$", sentence), sentence
        assert sentence.count("“") == sentence.count("”"), sentence
        assert "'" not in sentence, f"typographic apostrophes only: {sentence}"
        assert '"' not in sentence, f"typographic quotation marks only: {sentence}"


# The units and the truth


def test_each_document_has_8_to_12_real_units_and_one_check(documents: Documents, scus: Rows) -> None:
    for doc_id in documents:
        units = [row for row in scus if row["doc_id"] == doc_id]
        assert [row["scu_id"] for row in units] == [f"scu{n:02d}" for n in range(1, len(units) + 1)]
        assert 8 <= sum(row["is_check"] == "0" for row in units) <= 12
        assert sum(row["is_check"] == "1" for row in units) == 1
        assert all(len(row["text"].split()) <= 12 for row in units)


def test_spans_cut_whole_words_out_of_the_reference(documents: Documents, scus: Rows) -> None:
    for row in scus:
        if row["is_check"] == "1":
            continue
        reference = " ".join(documents[row["doc_id"]]["references"][int(row["reference_index"])])
        start, end = int(row["start"]), int(row["end"])
        assert 0 <= start < end <= len(reference)
        assert re.fullmatch(r"\w.*\w", reference[start:end]), row
        assert not reference[:start][-1:].isalnum(), row
        assert not reference[end:][:1].isalnum(), row


def test_a_real_unit_shares_a_word_with_its_span(documents: Documents, scus: Rows) -> None:
    for row in scus:
        if row["is_check"] == "0":
            reference = " ".join(documents[row["doc_id"]]["references"][0])
            span = reference[int(row["start"]) : int(row["end"])]
            words = set(re.findall(r"\w+", row["text"].lower()))
            assert words & set(re.findall(r"\w+", span.lower())), (row["text"], span)


def test_check_units_come_from_elsewhere_and_look_like_the_rest(documents: Documents, scus: Rows) -> None:
    checks = [row for row in scus if row["is_check"] == "1"]
    real = {row["text"] for row in scus if row["is_check"] == "0"}
    for row in checks:
        assert (row["expected"], row["start"], row["end"]) == ("0", "", "")
        words = {word for word in re.findall(r"\w+", row["text"].lower()) if len(word) > 3}
        homes = {
            doc_id: len(words & set(re.findall(r"\w+", " ".join(document["source"]).lower())))
            for doc_id, document in documents.items()
        }
        assert max(homes, key=lambda doc_id: homes[doc_id]) != row["doc_id"], row["text"]
        assert row["text"] not in real
    # Were the check always the third or the last, its id would give it away.
    assert len({row["scu_id"] for row in checks}) >= 8


def test_real_units_weigh_one_and_expect_nothing(scus: Rows) -> None:
    assert {row["weight"] for row in scus} == {"1"}
    assert {row["expected"] for row in scus if row["is_check"] == "0"} == {""}


def test_the_truth_is_complete(documents: Documents, scus: Rows, truth: Answers) -> None:
    cells = {(row["doc_id"], system, row["scu_id"]) for row in scus if row["is_check"] == "0" for system in GROUPS}
    assert set(truth) == cells
    assert len(read_csv("truth.csv")) == len(cells)
    assert set(truth.values()) == {0, 1}


# The crowd


def test_simulate_reproduces_the_committed_judgments(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fixtures.simulate", "--seed", "7", "--out", str(tmp_path)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert (tmp_path / "judgments.csv").read_bytes() == (DEMO / "judgments.csv").read_bytes()
    assert "3,360 judgments" in result.stdout
    assert "(seed 7)" in result.stdout


def test_another_seed_gives_another_crowd(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fixtures.simulate", "--seed", "8", "--out", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    assert (tmp_path / "judgments.csv").read_bytes() != (DEMO / "judgments.csv").read_bytes()


def test_a_folder_that_cannot_be_written_is_answered_with_a_sentence(tmp_path: Path) -> None:
    blocked = tmp_path / "a-file"
    blocked.write_text("in the way")
    command = [sys.executable, "-m", "fixtures.simulate", "--out", str(blocked / "folder")]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr.startswith("The demo judgments could not be simulated: ")
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("seed", [1, 7, 20])
def test_allocation_is_balanced_for_any_seed(seed: int, summaries: Summaries) -> None:
    assignments = allocate(list(summaries), seed)
    per_worker = Counter(assignment.worker.worker_id for assignment in assignments)
    pairs = {(a.doc_id, a.system, a.worker.worker_id) for a in assignments}
    # 72 summaries x 4 workers = 288 assignments; 288 / 14 = 20.6, so everyone has 20 or 21.
    assert len(assignments) == len(pairs) == 288
    assert set(per_worker.values()) == {20, 21}
    assert set(Counter((a.doc_id, a.system) for a in assignments).values()) == {4}


def test_each_assignment_answers_every_unit_once(judgments: Rows, scus: Rows) -> None:
    assert tuple(judgments[0]) == COLUMNS
    units = defaultdict(set)
    for row in scus:
        units[row["doc_id"]].add(row["scu_id"])
    assignments: dict[str, Rows] = defaultdict(list)
    for row in judgments:
        assignments[row["assignment_id"]].append(row)
    assert len(assignments) == 288
    for rows in assignments.values():
        assert len({(r["doc_id"], r["system"], r["worker_id"], r["submitted_at"]) for r in rows}) == 1
        assert {r["unit"] for r in rows} == units[rows[0]["doc_id"]]
        assert [int(r["position"]) for r in rows] == list(range(1, len(units[rows[0]["doc_id"]]) + 1))


def test_judgments_carry_plausible_values(judgments: Rows) -> None:
    assert {(row["protocol"], row["role"], row["round"]) for row in judgments} == {("litepyramid", "crowd", "1")}
    assert {row["value"] for row in judgments} == {"0", "1"}
    assert {row["worker_id"] for row in judgments} == {worker.worker_id for worker in CROWD}
    for row in judgments:
        assert 0 < float(row["seconds"]) < 120
        assert datetime.strptime(row["submitted_at"], "%Y-%m-%dT%H:%M:%SZ").year == 2026


def test_a_worker_submits_one_assignment_at_a_time(judgments: Rows) -> None:
    """No one hands in two pieces of work closer together than the second of them took."""
    work: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in judgments:
        work[row["worker_id"]][row["submitted_at"]].append(float(row["seconds"]))
    for submits in work.values():
        times = sorted(submits)
        for start, end in pairwise(times):
            gap = datetime.fromisoformat(end) - datetime.fromisoformat(start)
            assert gap.total_seconds() >= sum(submits[end])


def test_planted_workers_dissent_most(judgments: Rows, votes: Votes) -> None:
    shares = dissent(judgments, votes)
    assert set(sorted(shares, key=lambda worker: shares[worker])[-3:]) == PLANTED
    assert min(shares[worker] for worker in PLANTED) > 0.25
    assert max(share for worker, share in shares.items() if worker not in PLANTED) < 0.10


def test_planted_workers_fail_checks_and_are_fast(judgments: Rows) -> None:
    failed: Counter[str] = Counter()
    seconds: dict[str, list[float]] = defaultdict(list)
    for row in judgments:
        failed[row["worker_id"]] += int(row["is_check"] == "1" and row["value"] != "0")
        seconds[row["worker_id"]].append(float(row["seconds"]))
    assert failed["demo-worker-04"] == 20  # all of its assignments: it always says present
    for worker, times in seconds.items():
        if worker in PLANTED:
            assert failed[worker] >= 10
            assert median(times) < 3
        else:
            assert failed[worker] <= 1
            assert median(times) > 5


def test_careful_workers_err_about_as_often_as_they_are_set_to(judgments: Rows, truth: Answers) -> None:
    errors: dict[str, list[bool]] = defaultdict(list)
    for row in judgments:
        if row["is_check"] == "0":
            cell = (row["doc_id"], row["system"], row["unit"])
            errors[row["worker_id"]].append(int(row["value"]) != truth[cell])
    for worker in CROWD:
        if worker.habit == "careful":
            # About 220 answers each: 2.5 standard errors at 10 % are 5 points.
            assert abs(mean(errors[worker.worker_id]) - worker.error_rate) < 0.05


def test_wording_that_misleads_makes_errors_likelier() -> None:
    unit = "The ferry crosses Lake Orrin."  # content words: ferry, crosses, lake, orrin
    assert difficulty(unit, "The ferry on Lake Orrin will stop.", answer=0) > 1  # 3 words of 4
    assert difficulty(unit, "A boat goes over the water.", answer=0) < 1
    assert difficulty(unit, "A boat goes over the water.", answer=1) > 1
    assert difficulty(unit, "The Lake Orrin ferry sails.", answer=1) < 1


def test_the_systems_come_out_in_order(truth: Answers, votes: Votes) -> None:
    for scores in (recall(truth), recall(majority(votes))):
        best, worst = {"abstract", "extract"}, {"brief", "invent", "echo"}
        ranked = sorted(scores, key=lambda system: scores[system])
        assert set(ranked[-2:]) == best
        assert ranked[-3] == "lead"
        assert set(ranked[:3]) == worst
        assert ranked[0] == "echo"
        assert min(scores[system] for system in best) > 2 * max(scores[system] for system in worst)


def test_the_majority_is_mostly_right(truth: Answers, votes: Votes) -> None:
    decided = majority(votes)
    slips = [cell for cell in truth if decided[cell] != truth[cell]]
    ties = [cell for cell in slips if 2 * sum(votes[cell]) == len(votes[cell])]
    # As the README says: right on 734 of 768, and 28 of the 34 slips are ties.
    assert (len(truth), len(slips), len(ties)) == (768, 34, 28)


# The systems made by edits


def test_the_sentences_that_state_a_unit_give_the_truth_of_the_written_systems(truth: Answers) -> None:
    statements = read_statements()
    for story in read_stories():
        for system in GROUPS:
            codes = SYSTEMS[system][1](story, SEED)
            assert [story.text(code) for code in codes] == story.written[system]
            for (doc_id, unit), stated in statements.items():
                if doc_id == story.doc_id:
                    assert is_present(codes, stated) == truth[doc_id, system, unit], (doc_id, system, unit)


def test_no_two_systems_give_the_same_summary_of_a_story() -> None:
    for story in read_stories():
        texts = [tuple(edit(story, SEED)) for _group, edit in SYSTEMS.values()]
        assert len(set(texts)) == len(texts) == 28


def test_the_studies_of_the_site_are_the_same_bytes_each_time(tmp_path: Path) -> None:
    for name in ("first", "second"):
        command = [sys.executable, "-m", "fixtures.variants", "--out", str(tmp_path / name)]
        subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    tables = sorted((tmp_path / "first").rglob("*.*"))
    assert len(tables) == 10
    for table in tables:
        assert table.read_bytes() == (tmp_path / "second" / table.relative_to(tmp_path / "first")).read_bytes()
    with (tmp_path / "first" / "wide" / "truth.csv").open(encoding="utf-8", newline="") as handle:
        present = {(row["doc_id"], row["system"], row["scu_id"]): int(row["present"]) for row in csv.DictReader(handle)}
    text = (ROOT / "fixtures" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[a-z\d-]+`(?:, `[a-z\d-]+`)*) \| \w+ \| .* \| ([\d., ]+) \|$", text, re.MULTILINE)
    stated: dict[str, str] = {}
    for names, shares in rows:
        stated.update(zip(names.replace("`", "").split(", "), shares.split(", "), strict=True))
    edited = set(SYSTEMS) - set(GROUPS)
    by_truth = recall(present, edited)
    assert {name: stated.get(name) for name in edited} == {name: f"{by_truth[name]:.3f}" for name in edited}


# The README


def test_the_readme_states_the_recall_of_each_system(truth: Answers, votes: Votes) -> None:
    text = (ROOT / "fixtures" / "README.md").read_text(encoding="utf-8")
    by_truth, by_crowd = recall(truth), recall(majority(votes))
    for system, group in GROUPS.items():
        row = re.search(rf"^\| `{system}` \| {group} \| .* \| ([\d.]+) \| ([\d.]+) \|$", text, re.MULTILINE)
        assert row is not None, system
        assert row.groups() == (f"{by_truth[system]:.3f}", f"{by_crowd[system]:.3f}")


def test_the_readme_names_the_planted_workers_and_the_licence(judgments: Rows, votes: Votes) -> None:
    text = (ROOT / "fixtures" / "README.md").read_text(encoding="utf-8")
    shares = dissent(judgments, votes)
    assert set(re.findall(r"demo-worker-\d\d", text)) == PLANTED
    assert {worker.worker_id for worker in CROWD if worker.habit != "careful"} == PLANTED
    for worker in PLANTED:
        assert re.search(rf"`{worker}` \|.*\| {shares[worker]:.0%} \|".replace("%", " %"), text), worker
    assert "GPL-3.0-or-later" in text
