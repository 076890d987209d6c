"""How well the embedding metrics agree with people on REALSumm (`python -m benchmarks.scoring._embeddings DIR`).

Scores the encoder metrics in every layer in one run (each text is encoded once), correlates them with
`litepyramid_recall` at system and summary level, prints the tables of docs/metrics/embeddings.md and draws its curve
(docs/metrics/layers.svg). Scores and embeddings are kept in FOLDER, so that a second call is quick.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

import scoring
from analysis.correlate import correlate
from analysis.tables import read_table
from benchmarks.scoring.rouge_perl import DATA, ROOT, load

HUMAN = "litepyramid_recall"
LAYERS = ("1", "2", "3", "4", "5", "6", "last4")
CURVES = ("bertscore-r", "bertscore-f", "moverscore", "ancr-1", "ancr-2", "supert")
OTHERS = (
    *("rouge-1-r", "rouge-2-r", "rouge-l-r", "bertscore-p", "bertscore-r[idf]", "bertscore-f[idf]"),
    *("moverscore[n=2]", "moverscore[idf=references]", "moverscore[idf=no]", "moverscore[stop=on,subwords=on]"),
    *("ancr-1[anchors=places]", "ancr-2[anchors=places]", "ancr-2[k=1]", "ancr-2[k=10]"),
    *("supert[top=5]", "supert[context=sentence]"),
)
PUBLISHED = {
    "rouge_1_recall": "ROUGE-1 recall, published",
    "rouge_2_recall": "ROUGE-2 recall, published",
    "rouge_l_recall": "ROUGE-L recall, published",
    "bert_recall_score": "BERTScore recall, published",
    "bert_f_score": "BERTScore F, published",
    "mover_score": "MoverScore, published",
}
COLUMNS = [(level, coefficient) for level in ("system", "summary") for coefficient in ("pearson", "kendall")]
PICTURE = ROOT / "docs" / "metrics" / "layers.svg"


def with_layer(name: str, layer: str) -> str:
    return f"{name}[layer={layer}]"


def scores(metrics: Sequence[str], folder: Path) -> pd.DataFrame:
    """Our scores of all summaries, with the human ones and those that were published."""
    summaries, documents = load()
    our_scores = scoring.evaluate(summaries, documents, metrics, cache=folder)
    published = read_table(DATA / "scores.csv.gz", "scores")
    published_scores = published[published["metric"].isin([HUMAN, *PUBLISHED])]
    return pd.concat([our_scores, published_scores[["doc_id", "system", "metric", "value"]]], ignore_index=True)


def correlations(table: pd.DataFrame) -> pd.DataFrame:
    """One row per metric, one column per level and coefficient."""
    columns = {}
    for level, coefficient in COLUMNS:
        results = correlate(table, human=HUMAN, level=level, coefficient=coefficient)
        columns[f"{level}, {coefficient.title()}"] = {result.metric: result.value for result in results}
    return pd.DataFrame(columns)


def print_rows(table: pd.DataFrame, names: Sequence[str]) -> None:
    print("| metric | " + " | ".join(table.columns) + " |\n|---|" + "---|" * len(table.columns))
    for name in names:
        cells = [f"{value:.3f}".replace("-", "−") for value in table.loc[name]]
        print(f"| {PUBLISHED.get(name, f'`{name}`')} | {' | '.join(cells)} |")


def draw(table: pd.DataFrame, picture: Path) -> None:
    """The curve over layers, one panel per level."""
    import altair as alt

    rows = [
        {"metric": name, "layer": layer, "level": f"{level} level", "r": table.loc[with_layer(name, layer), column]}
        for name in CURVES
        for layer in LAYERS
        for level, column in (("system", "system, Pearson"), ("summary", "summary, Pearson"))
    ]
    base = alt.Chart(pd.DataFrame(rows)).encode(
        x=alt.X("layer:N", sort=list(LAYERS), axis=alt.Axis(labelAngle=0)),
        y=alt.Y("r:Q", title="Pearson's r with LitePyramid", scale=alt.Scale(zero=False)),
        color=alt.Color("metric:N", sort=list(CURVES)),
        shape=alt.Shape("metric:N", sort=list(CURVES)),
    )
    lines = base.transform_filter(alt.datum.layer != "last4").mark_line()
    panel = (lines + base.mark_point(filled=True, size=60)).properties(width=300, height=260)
    panel.facet(column=alt.Column("level:N", sort=["system level", "summary level"], title=None)).resolve_scale(
        y="independent"
    ).save(str(picture))


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit("python -m benchmarks.scoring._embeddings FOLDER")
    curves = [with_layer(name, layer) for name in CURVES for layer in LAYERS]
    table = correlations(scores([*curves, *CURVES, *OTHERS], Path(sys.argv[1])))
    print_rows(table, [*CURVES, *OTHERS, *PUBLISHED])
    print()
    print_rows(table, curves)
    draw(table, PICTURE)


if __name__ == "__main__":
    main()
