"""Claim: `rouge-all` (96 scores) on the 2,500 REALSumm pairs is at least 40 times faster than ROUGE-1.5.5.pl.

Both do the same work in one process: 8 counts × P, R, F for plain, stemmed, stop-worded and both. The Perl program runs
four times, once per option set, with two bootstrap samples (its default is 1,000), reading files that are already
written; ours runs once in a fresh process with cold caches, from data frames to a scores table. Every score of both
is compared. Processor seconds are measured on both sides, in turns (ours is the median of four runs), so that other
work on the machine weighs on both alike.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import pandas as pd

from benchmarks import Measurement

CLAIM = 40.0
ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data" / "realsumm"

_TIMED = """
import sys, time
import scoring
from benchmarks.scoring.rouge_perl import load
summaries, documents = load()
scoring.registry.known()
start = time.process_time()
scores = scoring.evaluate(summaries, documents, sys.argv[1])
print(time.process_time() - start)
if len(sys.argv) > 2:
    scores.to_parquet(sys.argv[2])
"""


def load() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The 2,500 summaries and 100 documents of REALSumm."""
    from analysis.tables import read_table

    if not DATA.is_dir():
        raise SystemExit(f"The REALSumm data are not at {DATA}.")
    return (
        read_table(DATA / "summaries.jsonl.gz", "summaries"),
        read_table(DATA / "documents.jsonl.gz", "documents"),
    )


def cold_seconds(metrics: str, out: Path | None = None, repeats: int = 3) -> float:
    """The least processor time of several fresh processes."""
    command = [sys.executable, "-c", _TIMED, metrics, *([str(out)] if out else [])]
    runs = [subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True) for _ in range(repeats)]
    return min(float(run.stdout) for run in runs)


def run() -> Measurement:
    from tests.scoring.metrics.perl_rouge import SWITCHES, Pair, PerlRouge, why_not

    if reason := why_not():
        raise SystemExit(f"The Perl program cannot run here: {reason}.")
    summaries, documents = load()
    references = dict(zip(documents["doc_id"], documents["references"], strict=True))
    pairs = [
        Pair(summary, references[doc_id])
        for doc_id, summary in zip(summaries["doc_id"], summaries["summary"], strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        perl = PerlRouge(Path(folder))
        config = perl.write(pairs)
        table = Path(folder) / "ours.parquet"
        outputs, peer_seconds, our_seconds = {}, 0.0, []
        for options in SWITCHES:
            start = _children_seconds()
            outputs[options] = perl.run(config, options)
            peer_seconds += _children_seconds() - start
            our_seconds.append(cold_seconds("rouge-all", table, repeats=1))
        expected = {options: perl.parse(output, len(pairs)) for options, output in outputs.items()}
        different = _different(pd.read_parquet(table), summaries, expected)
    note = f"96 scores of {len(pairs)} pairs; {different} of {96 * len(pairs)} scores differ"
    if different:
        raise SystemExit(f"rouge_perl: {different} scores differ from the Perl program's.")
    return Measurement(median(our_seconds), peer_seconds, CLAIM, "s", note)


def _children_seconds() -> float:
    """Processor seconds of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _different(
    scores: pd.DataFrame, summaries: pd.DataFrame, expected: dict[str, list[dict[str, tuple[float, float, float]]]]
) -> int:
    keys = zip(scores["doc_id"], scores["system"], scores["metric"], strict=True)
    our_scores = dict(zip(keys, scores["value"], strict=True))
    n_different = 0
    for options, rows in expected.items():
        brackets = f"[{options}]" if options else ""
        for doc_id, system, row in zip(summaries["doc_id"], summaries["system"], rows, strict=True):
            for count, values in row.items():
                for figure, value in zip("rpf", values, strict=True):
                    n_different += our_scores[doc_id, system, f"rouge-{count}-{figure}{brackets}"] != value
    return n_different
