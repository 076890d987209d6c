"""The report: a folder that stands alone, says what was done, and warns."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis import plot
from analysis.cli import main
from analysis.report import build_report, render_page, write_report
from analysis.report.tables import latex_table
from analysis.report.write import write_figure
from tests.analysis._matrices import table


def study(systems=8, documents=12, seed=0):
    rng = np.random.default_rng(seed)
    human = np.clip(rng.normal(np.linspace(0.2, 0.8, systems)[:, None], 0.1, (systems, documents)), 0, 1)
    scores = table(h=human, good=human + rng.normal(0, 0.05, human.shape), noise=rng.random(human.shape), low=1 - human)
    return scores.assign(group=np.where(scores["system"] < f"s{systems // 2}", "abs", "ext"))


@pytest.fixture(scope="module")
def report():
    return build_report(study(), human="h", title="A <small> study", resamples=200)


@pytest.fixture(scope="module")
def folder(report, tmp_path_factory):
    place = tmp_path_factory.mktemp("report")
    write_report(report, place)
    return place


def test_the_verdict_names_the_best_metric_with_its_doubt(report):
    """`low` is the human score turned round: as good as the human score itself."""
    assert report.verdict.startswith("On these 8 systems and 12 documents, low can stand in for people")
    assert "r = 1.000 (" in report.verdict
    assert "at 95 % for all 3 metrics together), above .8." in report.verdict
    assert "It holds within each by itself: abs, ext. Lower is better for low" in report.verdict
    ungrouped = build_report(study().drop(columns="group"), human="h", resamples=50)
    assert "So can good. Lower is better for low" in ungrouped.verdict


def test_the_verdict_says_in_which_groups_it_is_not_shown():
    """Four systems to a group show nothing but a perfect metric; over all eight it is shown."""
    report = build_report(study(), human="h", metrics=["good"], resamples=50)
    assert "too little data to say whether a metric can stand in" in report.verdict
    assert "though the closest of 1, good, has r = .99" in report.verdict
    assert "but not shown within single groups: abs (r = .99" in report.verdict
    assert "It is shown within" not in report.verdict


def test_an_interval_says_whether_noise_was_taken_out(report):
    """One document tells no noise: its interval is about these scores, not about true means."""
    assert "r = 1.000 (for the true means " in report.verdict
    alone = build_report(study(documents=1), human="h", resamples=50)
    assert "(for these scores " in alone.verdict
    assert "Everything rests on one document" in alone.verdict


def test_two_equal_systems_are_told_plainly():
    rng = np.random.default_rng(0)
    pair = build_report(table(h=rng.random((2, 6)), m=rng.random((2, 6))), human="h", resamples=50)
    assert pair.warnings == ("The two systems can't be told apart at 95 %: their order is no result.",)


def test_figures_follow_the_argument(report):
    assert [section.name for section in report.sections] == ["systems", "metrics", "limits"]
    assert [figure.name for figure in report.figures] == [
        "human-scores",
        "system-correlation",
        "best-metric",
        "significance",
        "pairwise",
        "levels",
        "top-k",
        "groups",
        "metrics-among-themselves",
    ]
    with pytest.raises(ValueError, match="human-scores, system-correlation"):
        report.figure("pie")


def test_methods_state_what_was_done(report):
    for fact in ("8 systems", "12 documents", "tau-b", "PERM-SYSTEMS", "holm", "Seed 0", "numpy", "200 resamples"):
        assert fact in report.methods


def test_warnings_for_few_systems_and_many_tests(report):
    text = "\n".join(report.warnings)
    assert "Only 8 systems" in text
    assert "6 comparisons of metrics were made" in text


def test_neighbours_that_cant_be_told_apart_are_no_ranking():
    rng = np.random.default_rng(0)
    report = build_report(table(h=rng.random((12, 9)), m=rng.random((12, 9))), human="h", resamples=100)
    assert any("neighbours in the human ranking can't be told apart" in warning for warning in report.warnings)


def test_human_measures_are_never_ranked_as_metrics_of_each_other(tmp_path):
    """ "relevance follows coherence most closely" was a verdict."""
    scores = study().assign(role="")
    scores.loc[scores["metric"].isin(["h", "good"]), "role"] = "human"
    report = build_report(scores, human="h", resamples=50)
    assert "good" not in report.verdict
    assert "good: given by people too, and so not judged as metrics." in report.warnings
    asked = build_report(scores.drop(columns="group"), human="h", metrics=["good"], resamples=50)
    assert "good can stand in" in asked.verdict
    path = tmp_path / "scores.csv"
    study().to_csv(path, index=False)
    assert main(["report", str(path), "--human", "h", "--humans", "good,h", "--ci", "50", "--out", str(tmp_path)]) == 0
    assert "good" not in (tmp_path / "methods.txt").read_text().splitlines()[0]
    assert main(["correlate", str(path), "--human", "h", "--humans", "nobody"]) == 2


def test_a_report_names_the_only_human_measure_by_itself(tmp_path, capsys):
    path = tmp_path / "scores.csv"
    scores = study()
    scores.assign(role=scores["metric"].map({"h": "human"}).fillna("")).to_csv(path, index=False)
    assert main(["report", str(path), "--ci", "50", "--out", str(tmp_path)]) == 0
    scores.assign(role=scores["metric"].map({"h": "human", "good": "human"}).fillna("")).to_csv(path, index=False)
    capsys.readouterr()
    assert main(["report", str(path), "--out", str(tmp_path)]) == 2
    assert "Name the human measure to report on with --human; there are good, h." in capsys.readouterr().err


def test_duplicate_systems_are_noticed_by_scores_and_by_text():
    scores = study()
    copy = scores[scores["system"] == "s3"].assign(system="s3-copy")
    texts = pd.DataFrame(
        {"doc_id": ["d0", "d1"] * 2, "system": ["x", "x", "y", "y"], "summary": ["a", ["b", "c"], "a", "b\nc"]}
    )
    report = build_report(pd.concat([scores, copy]), human="h", summaries=texts, resamples=50)
    text = "\n".join(report.warnings)
    assert "s3 and s3-copy have the same scores throughout" in text
    assert "x and y have the same text for every document" in text


def test_missing_scores_are_told():
    scores = study()
    report = build_report(scores[~((scores["metric"] == "good") & (scores["system"] == "s2"))], human="h", resamples=50)
    assert any("nothing for s2" in warning for warning in report.warnings)
    assert any("1 of 8 systems left out" in warning for warning in report.warnings)


def test_without_metrics_the_report_says_what_to_do():
    report = build_report(study()[lambda rows: rows["metric"] == "h"], human="h", resamples=50)
    assert "no automatic metric to judge yet" in report.verdict
    assert [figure.name for figure in report.figures] == ["human-scores"]


def test_what_cant_be_judged_is_said():
    rng = np.random.default_rng(0)
    two = build_report(table(h=rng.random((2, 5)), a=rng.random((2, 5))), human="h", resamples=50)
    assert two.verdict == (
        "2 systems were judged on 5 documents by h. No metric can be judged on fewer than 3 systems: add systems."
    )
    constant = build_report(table(h=np.ones((6, 4)), a=rng.random((6, 4))), human="h", resamples=50)
    assert "every correlation is undefined" in constant.verdict
    assert any("the scores of h are the same for all systems" in warning for warning in constant.warnings)
    empty = build_report(table(h=rng.random((6, 4)), a=np.full((6, 4), np.nan), b=rng.random((6, 4))), human="h")
    assert "significantly better" not in empty.verdict


def test_a_human_measure_of_whole_systems():
    rng = np.random.default_rng(0)
    human = pd.DataFrame({"doc_id": "*", "system": [f"s{i}" for i in range(6)], "metric": "h", "value": rng.random(6)})
    report = build_report(
        pd.concat([human, table(a=rng.random((6, 4)), b=rng.random((6, 4)))]), human="h", resamples=50
    )
    assert "system-correlation" in [figure.name for figure in report.figures]
    assert "levels" not in [figure.name for figure in report.figures]


def test_judgments_open_the_report():
    rng = np.random.default_rng(0)
    rows = [
        (f"d{d}", f"s{s}", f"u{u}", f"w{w}", int(rng.random() < 0.2 + 0.6 * (u % 2)))
        for d in range(3)
        for s in range(4)
        for u in range(4)
        for w in range(3)
    ]
    judgments = pd.DataFrame(rows, columns=["doc_id", "system", "unit", "worker_id", "value"])
    report = build_report(study(), human="h", judgments=judgments, resamples=50)
    assert report.sections[0].name == "judges"
    table = report.figure("agreement").table
    assert table["reading"].tolist()[0] == "alpha, all units pooled"
    assert "144 judgments by 3 workers" in report.methods


def test_the_page_escapes_and_needs_no_network(report):
    page = render_page(report, interactive=False)
    assert "<title>A &lt;small&gt; study</title>" in page
    assert re.findall(r'(?:src|href)="(?!data:|#)', page) == []
    assert page.count("<svg") == len(report.figures)
    assert "<script" not in page


def test_latex_escapes_and_marks_undefined():
    text = latex_table(pd.DataFrame({"a_b": ["x%"], "r": [float("nan")], "t": [-0.5]}), "50 % & more", "t")
    assert r"a\_b & r & t \\" in text
    assert r"x\% & -- & $-0.500$ \\" in text
    assert r"\caption{50 \% \& more}" in text
    assert r"\begin{tabular}{lrr}" in text


def test_the_folder_holds_charts_tables_methods_and_provenance(report, folder):
    paths = {str(path.relative_to(folder)) for path in folder.rglob("*.*")}
    for figure in report.figures:
        assert {f"figures/{figure.name}.svg", f"figures/{figure.name}.pdf"} <= paths
        assert {f"tables/{figure.name}.csv", f"tables/{figure.name}.tex"} <= paths
        assert f"--human {'h'}" in figure.command
    assert {"index.html", "methods.txt", "warnings.txt", "commands.txt", "provenance.json"} <= paths
    table = pd.read_csv(folder / "tables" / "system-correlation.csv")
    assert table["metric"].tolist()[0] == "good"


def test_a_report_that_is_stopped_while_it_is_drawn_leaves_the_older_one(report, tmp_path, monkeypatch):
    write_report(report, tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    charts = []

    def stopping(chart):
        charts.append(chart)
        if len(charts) == 3:
            raise KeyboardInterrupt
        return b"new"

    monkeypatch.setattr("analysis.report.write.to_pdf", stopping)
    with pytest.raises(KeyboardInterrupt):
        write_report(report, tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_tables_hold_no_formulas(report, tmp_path):
    figure = replace(report.figures[0], table=pd.DataFrame({"system": ["=HYPERLINK(1)", "a"], "value": [-1.5, 2]}))
    write_figure(figure, tmp_path)
    assert (tmp_path / "tables" / f"{figure.name}.csv").read_text() == "system,value\n'=HYPERLINK(1),-1.5\na,2.0\n"


def test_the_command_and_the_commands_it_prints(tmp_path, capsys):
    path = tmp_path / "scores.csv"
    study().to_csv(path, index=False)
    out = tmp_path / "out"
    assert main(["report", str(path), "--human", "h", "--ci", "50", "--out", str(out), "--json"]) == 0
    files = [row["file"] for row in json.loads(capsys.readouterr().out)]
    assert all(Path(file).exists() for file in files)
    record = json.loads((out / "provenance.json").read_text())
    assert record["seed"] == 0
    assert len(record["inputs"]["scores.csv"]) == 64
    for line in (out / "commands.txt").read_text().splitlines():
        if line.startswith("python -m analysis") and " report " not in line:
            words = line.replace("python -m analysis ", "").split()
            words = [str(tmp_path / word) if word.endswith(".svg") else word for word in words]
            assert main(words) == 0
    capsys.readouterr()
    assert main(["report", str(path), "--out", str(out)]) == 2
    assert "Name the human measure with --human; measures there: good, h, low, noise." in capsys.readouterr().err


def test_the_same_command_gives_the_same_bytes(tmp_path):
    path = tmp_path / "scores.csv"
    study().to_csv(path, index=False)
    pages = []
    for name in ("a", "b"):
        main(["report", str(path), "--human", "h", "--ci", "50", "--out", str(tmp_path / name), "--figure", "pairwise"])
        pages.append(
            [
                p.read_bytes()
                for p in sorted((tmp_path / name).rglob("*"))
                if p.suffix in (".svg", ".pdf", ".csv", ".tex")
            ]
        )
    assert pages[0] == pages[1]


def test_a_folder_of_exported_tables(tmp_path, capsys):
    folder = Path(__file__).resolve().parents[3] / "fixtures" / "demo"
    assert main(["report", str(folder), "--ci", "50", "--out", str(tmp_path / "demo")]) == 0
    assert "6 systems were judged on 12 documents by litepyramid_recall" in capsys.readouterr().out
    assert (tmp_path / "demo" / "figures" / "agreement.svg").exists()
    assert main(["report", str(tmp_path)]) == 2
    assert "neither a scores nor a judgments table" in capsys.readouterr().err


@pytest.mark.browser
def test_from_disk_in_chromium_charts_are_drawn_and_nothing_leaves(report, folder, browser):
    page, faults = browser.new_page(viewport={"width": 360, "height": 740}), []
    page.on("request", lambda r: None if r.url.startswith(("file:", "data:", "blob:")) else faults.append(r.url))
    page.on("console", lambda m: faults.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto((folder / "index.html").as_uri())
    page.wait_for_function("document.querySelectorAll('.chart:not([data-drawn])').length === 0")
    assert page.locator(".chart[data-drawn] svg.marks").count() == len(report.figures)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.close()
    assert faults == []


def test_human_and_metric_scores_may_lie_in_two_files(tmp_path, capsys):
    scores = study()
    human, metrics = tmp_path / "human.csv", tmp_path / "metrics.csv"
    scores[scores["metric"] == "h"].drop(columns="group").to_csv(human, index=False)
    scores[scores["metric"] != "h"].to_csv(metrics, index=False)
    out = str(tmp_path / "out")
    words = ["report", str(human), str(metrics), "--human", "h", "--ci", "50", "--figure", "system-correlation"]
    assert main([*words, "--out", out]) == 0
    capsys.readouterr()
    # The group of the metric scores holds for the human scores too.
    assert main(["correlate", str(human), str(metrics), "--human", "h", "--where", "group=abs", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["n_used"] for row in rows} == {4}


def test_the_readings_of_agreement_are_not_cut_in_a_wide_face(browser):
    names = ["alpha, mean per summary", "AC1"]
    chart = plot.score_bars(pd.DataFrame({"system": names, "value": [0.5, 0.6], "low": [0.4, 0.5], "high": [0.6, 0.7]}))
    page = browser.new_page()
    page.set_content(plot.to_svg(chart).replace("system-ui", "DejaVu Sans"))
    outside = """[...document.querySelectorAll("text")].filter((one) => one.getBoundingClientRect().left <
      document.querySelector("svg").getBoundingClientRect().left).map((one) => one.textContent)"""
    assert page.evaluate(outside) == []
    page.close()


def test_worker_ids_of_single_assignments_are_not_called_workers():
    rows = [
        (f"d{d}", f"s{s}", "u", f"a{d}{s}{k}", f"w{d}{s}{k}", float((d + s + k) % 2))
        for d in range(4)
        for s in range(4)
        for k in range(2)
    ]
    judgments = pd.DataFrame(rows, columns=["doc_id", "system", "unit", "assignment_id", "worker_id", "value"])
    unlinked = build_report(study(4, 4), human="h", judgments=judgments, resamples=20).methods
    assert "32 judgments in 32 assignments, each with a worker id of its own" in unlinked
    linked = judgments.assign(worker_id=judgments["worker_id"].str[-1])
    assert "by 2 workers" in build_report(study(4, 4), human="h", judgments=linked, resamples=20).methods
