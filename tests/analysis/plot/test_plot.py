"""Charts: drawn with no network, in one style, with the numbers they claim."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest

from analysis import plot
from analysis.correlate import correlate, system_means
from analysis.experiments.pairwise import pairwise_f1
from analysis.experiments.topk import TopK, top_k
from analysis.plot.metrics import f1_bars, level_difference, topk_lines, value_matrix
from analysis.plot.quality import worker_scatter
from tests.analysis._matrices import table

RNG = np.random.default_rng(0)
HUMAN = RNG.random((6, 8))
SCORES = table(h=HUMAN, m=HUMAN + RNG.random((6, 8)) / 4)


def test_scatter_names_the_systems_and_the_correlation():
    svg = plot.to_svg(plot.system_scatter(SCORES, "h", "m", ci=100))
    assert svg.startswith("<svg")
    assert "n = 6 systems" in svg
    assert "Pearson r = ." in svg
    assert svg.count(">s") >= 3
    assert "http://www.w3.org" in svg
    assert "https://" not in svg


def test_scatter_of_a_constant_metric_says_undefined():
    scores = table(h=HUMAN, m=np.ones((6, 8)))
    assert "Pearson r = –, n = 6 systems" in plot.to_svg(plot.system_scatter(scores, "h", "m"))


def test_bars_are_sorted_and_need_no_interval():
    means = system_means(SCORES, "h", ci=100)
    chart = plot.score_bars(means).to_dict()
    assert chart["layer"][0]["encoding"]["y"]["sort"] == means["system"].tolist()
    bare = plot.score_bars(means.assign(low=np.nan, high=np.nan)).to_dict()
    assert len(bare["layer"]) == 1


def test_background_is_transparent_and_text_takes_its_surroundings_colour():
    svg = plot.to_svg(plot.score_bars(system_means(SCORES, "h", ci=10)))
    assert 'fill="currentColor"' in svg
    assert 'fill="white"' not in svg


def test_a_system_keeps_its_look_whatever_the_order():
    names = [f"system {i}" for i in range(48)]
    style = plot.system_style(names)
    assert style.equals(plot.system_style(reversed(names)))
    assert not style.duplicated(["colour", "shape"]).any()


def test_labels_never_cover_each_other():
    one_spot = pd.Series([1.0, 1.0, 1.0, 1.0])
    sides = plot.place_labels(one_spot, one_spot, pd.Series(["a long name"] * 4), 300, 300)["side"]
    # Four points on one spot in a corner: every label has a side of its own.
    assert sides.count("right") == 1
    assert len({side for side in sides if side != "none"}) == 4 - sides.count("none")
    apart = plot.place_labels(pd.Series([0.0, 1.0]), pd.Series([0.0, 1.0]), pd.Series(["a", "b"]), 300, 300)
    assert "none" not in apart["side"]


def test_numbers_as_papers_print_them():
    assert [plot.number(v) for v in (0.9607, -0.1234, 1.0, float("nan"), -0.0001)] == [
        ".961",
        "−.123",
        "1.000",
        "–",
        ".000",
    ]


def test_a_pdf_is_the_same_every_time_and_its_places_are_right():
    chart = plot.system_scatter(SCORES, "h", "m", ci=10)
    pdf, *copies = (plot.to_pdf(chart) for _ in range(4))
    assert all(copy == pdf for copy in copies)
    start = int(pdf.rsplit(b"startxref\n", 1)[1].split()[0])
    assert pdf[start:].startswith(b"xref\n0 ")
    places = [int(line[:10]) for line in pdf[start:].splitlines() if line.endswith(b" n ")]
    assert all(pdf[place:].startswith(b"%d 0 obj" % number) for number, place in enumerate(places, start=1))
    assert b"/Size %d\n" % (len(places) + 1) in pdf


def test_charts_are_saved_by_suffix(tmp_path):
    chart = plot.score_bars(system_means(SCORES, "h", ci=10))
    plot.save(chart, tmp_path / "c.pdf")
    assert (tmp_path / "c.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(ValueError, match=r"\.svg, \.pdf, \.json"):
        plot.save(chart, tmp_path / "c.gif")


def test_a_narrow_matrix_is_as_wide_as_its_title():
    frame = pd.DataFrame([(a, b, 0.5) for a in "ab" for b in "ab"], columns=["row", "column", "value"])
    title, wide = "Agreement between metrics", "a subtitle that is longer than its title is"
    for subtitle, width in [("short", 8.6 * len(title)), (wide, 7 * len(wide))]:
        svg = plot.to_svg(value_matrix(frame, "row", "column", "value", title, subtitle))
        widths = re.match(r'<svg[^>]* width="(\d+)" height="\d+" viewBox="0 0 (\d+) \d+"', svg).groups()
        assert widths == (str(math.ceil(width) + 8),) * 2


@pytest.mark.parametrize("count", [3, 40, 193])
def test_names_along_a_matrix_never_touch(count):
    names = [f"metric-{i:03}" for i in range(count)]
    frame = pd.DataFrame([(a, b, 0.5) for a in names for b in names], columns=["a", "b", "tau"])
    spec = value_matrix(frame, "a", "b", "tau", "Agreement").to_dict()
    assert spec["width"] / count >= 11 * 2**0.5 - 1  # letters of 11 px at 45 degrees
    assert spec["height"] / count >= 11


@pytest.mark.parametrize(("name", "columns"), [("rouge-1-r", 2), ("bertscore-f[model=roberta-large,layer=17]", 1)])
def test_long_names_stand_one_under_the_other_in_a_legend(name, columns):
    results = [TopK(k, f"{name}{i}", "pearson", 0.5, False) for k in (3, 4) for i in range(3)]
    assert topk_lines(results, "human").to_dict()["layer"][0]["encoding"]["color"]["legend"]["columns"] == columns


def test_a_long_metric_stays_beside_its_axis():
    name = "bertscore-f[model=/models/roberta-large,layer=17,idf,rescale=yes,threads=4]"
    scores = table(human=[[1], [2], [3]], **{name: [[1], [2], [3]]})
    spec = plot.system_scatter(scores, "human", name, ci=0).to_dict()
    assert spec["layer"][-1]["encoding"]["y"]["axis"]["titleLimit"] <= spec["height"] / 1.17  # Vega measures too narrow


def grouped(systems=25, documents=8):
    rng = np.random.default_rng(1)
    human = rng.random((systems, documents)) + np.linspace(0, 2, systems)[:, None]
    scores = table(h=human, m=human + rng.normal(0, 0.3, human.shape), noise=rng.random(human.shape))
    return scores.assign(group=np.where(scores["system"].str[1:].astype(int) % 2, "abs", "ext"))


def test_the_best_metric_is_coloured_by_group_and_its_points_are_named():
    spec = plot.system_scatter(grouped(), "h", "m", ci=0).to_dict()
    points = next(layer for layer in spec["layer"] if layer["mark"]["type"] == "point")
    assert points["encoding"]["color"]["field"] == points["encoding"]["shape"]["field"] == "group"
    assert points["encoding"]["color"]["legend"]["orient"] == "top"
    (rows,) = (data for data in spec["datasets"].values() if "side" in data[0])
    assert sum(row["side"] == "none" for row in rows) <= 2
    one_group = plot.system_scatter(grouped().assign(group="abs"), "h", "m", ci=0).to_dict()
    points = next(layer for layer in one_group["layer"] if layer["mark"]["type"] == "point")
    assert points["encoding"]["color"]["field"] == "system"


def test_intervals_and_n_stand_on_top_k_levels_and_pairwise():
    scores = grouped()
    top = topk_lines(top_k(scores, human="h"), "h").to_dict()
    assert top["layer"][0]["mark"]["type"] == "area"
    assert top["title"]["subtitle"] == [
        "system level, human measure h, n = k systems",
        "band: 95 % interval of m (Fisher)",
    ]
    lowest = min(result.value for result in top_k(scores, human="h"))
    assert top["layer"][1]["encoding"]["y"]["scale"]["domain"][0] == pytest.approx(lowest - 0.05)
    system, summary = (
        correlate(scores, human="h", level=level, ci=50, resample="inputs") for level in ("system", "summary")
    )
    levels = level_difference(system, summary, "h").to_dict()
    assert "n = 25 systems, 8 documents" in levels["title"]["subtitle"][1]
    assert levels["layer"][0]["encoding"]["x2"]["field"] == "high"
    results = pairwise_f1(scores, human="h", resamples=200)
    assert all(result.low <= result.f1 <= result.high for result in results)
    assert results[0].low > results[1].high  # m and noise
    bars = f1_bars(results, "h").to_dict()
    assert bars["title"]["subtitle"][:2] == ["n = 300 pairs of systems", "lines: 95 % interval, systems resampled"]
    assert bars["layer"][1]["encoding"]["x2"]["field"] == "high"


def test_thousands_of_workers_are_a_density():
    rng = np.random.default_rng(0)
    workers = [
        {"worker_id": f"w{i}", "answers": 9, "seconds": rng.gamma(3, 6), "agreement": rng.random(), "failed": 0}
        for i in range(3000)
    ]
    spec = worker_scatter(workers).to_dict()
    assert spec["mark"]["type"] == "rect"
    assert "count" in spec["encoding"]["color"]["aggregate"]
    assert worker_scatter(workers[:100]).to_dict()["mark"]["type"] == "point"
    assert plot.to_pdf(worker_scatter(workers)).startswith(b"%PDF")
