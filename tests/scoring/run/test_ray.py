"""A cluster of two nodes gives the bytes of the local engine, also when one of them is lost."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import scoring
from scoring import registry
from scoring.base import Description, Family
from scoring.cli import main
from scoring.errors import ScoringError
from scoring.options import Option
from scoring.texts import Document, Text

pytestmark = [
    pytest.mark.xdist_group("ray"),
    pytest.mark.skipif(find_spec("ray") is None, reason="pip install -r requirements-cluster.txt brings Ray"),
    pytest.mark.skipif(" " in sys.executable, reason="Ray starts no processes from a path with spaces"),
]

LEXICAL = "rouge-1-f,rouge-l-f,bleu"
METRICS = f"{LEXICAL},bertscore-f[layer=2]"
START = 120
"""Seconds that a node and its processes may take to start on a busy machine."""
WORDS = [f"word{number}" for number in range(60)]


def nodes_in(log_file: Path) -> set[str]:
    return {line.split()[0] for line in log_file.read_text().splitlines()}


class NodeLog(Family):
    """Scores 1, takes a while, and writes down on which node each document was scored."""

    description = Description(
        ("test-node-log",), "a test", ("references",), "none", "none", (Option("file", "", "where"),)
    )

    def score(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
        import ray

        log_file = Path(self.options["file"])
        with log_file.open("a") as file:
            file.write(f"{ray.get_runtime_context().get_node_id()} {document.doc_id}\n")
        # Nobody goes on before both nodes are at work: a busy machine may be slow to start the second one.
        deadline = time.monotonic() + START
        while len(nodes_in(log_file)) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(0.05)
        return [[1.0] * len(columns) for _ in summaries]


@pytest.fixture
def log_file(tmp_path: Path) -> Iterator[Path]:
    info = NodeLog.description
    registry.metric(*info.names, title=info.title, citation="none", reference="none", options=info.options)(NodeLog)
    yield tmp_path / "node-log"
    registry.forget("test-node-log")


@pytest.fixture(scope="module")
def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """500 pairs: 100 documents, 5 systems."""
    rng = random.Random(3)
    names = [f"d{number:03}" for number in range(100)]
    documents = pd.DataFrame(
        {"doc_id": names, "references": [[" ".join(rng.choices(WORDS, k=8))] for _ in names], "source": "x"}
    )
    rows = [(doc_id, f"s{system}", " ".join(rng.choices(WORDS, k=6))) for doc_id in names for system in range(5)]
    return pd.DataFrame(rows, columns=["doc_id", "system", "summary"]), documents


@pytest.fixture(scope="module")
def local(tables: tuple[pd.DataFrame, pd.DataFrame]) -> pd.DataFrame:
    return scoring.evaluate(*tables, METRICS)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes on this machine, of one core each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")  # read when Ray is loaded: stay on 127.0.0.1
        patch.setenv("RAY_gcs_server_port_wait_time_s", str(START))
        patch.setenv("RAY_worker_register_timeout_seconds", str(START))
        patch.setenv("RAY_worker_niceness", "0")  # 15 by default: on a busy machine nothing would move
        from ray.cluster_utils import Cluster

        cluster = Cluster(
            initialize_head=True,
            head_node_args={"num_cpus": 1, "node_ip_address": "127.0.0.1", "include_dashboard": False},
        )
        cluster.second = cluster.add_node(wait=False, num_cpus=1, node_ip_address="127.0.0.1")
        cluster.wait_for_nodes(timeout=START)
        patch.setenv("RAY_ADDRESS", cluster.address)
        patch.setattr("scoring.run.BATCH", 25)  # 20 shards
        from scoring.run.ray_engine import connected

        with connected(1):  # once for all tests: each connection has workers of its own
            yield cluster
        cluster.shutdown()


def test_a_path_with_spaces_is_refused_before_anything_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    from scoring.run.ray_engine import connected

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(sys, "executable", "/a path with spaces/python")
    with pytest.raises(ScoringError, match="from a path with spaces"), connected(1):
        pass


def test_two_nodes_give_the_bytes_of_the_local_engine(
    cluster: Any, tables: tuple[pd.DataFrame, pd.DataFrame], local: pd.DataFrame, tmp_path: Path
) -> None:
    for name, table in zip(("s.jsonl", "d.jsonl"), tables, strict=True):
        table.to_json(tmp_path / name, orient="records", lines=True)
    inputs = ["--summaries", str(tmp_path / "s.jsonl"), "--documents", str(tmp_path / "d.jsonl"), "--metrics", METRICS]
    for engine in ("local", "ray"):
        assert main(["run", *inputs, "--engine", engine, "--out", str(tmp_path / f"{engine}.csv")]) == 0
    assert (tmp_path / "ray.csv").read_bytes() == (tmp_path / "local.csv").read_bytes()
    assert len(local) == 4 * 500 + 5  # bleu has a row per system


def test_a_refusal_comes_back_as_one_sentence(cluster: Any, tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scoring.run.ray_engine._signatures", lambda plan: {"rouge-1-f": "made by hand"})
        with pytest.raises(ScoringError, match="install the same versions and models on every node"):
            scoring.evaluate(*tables, "rouge-1-f", engine="ray")


def test_a_lost_node_changes_nothing(
    cluster: Any, tables: tuple[pd.DataFrame, pd.DataFrame], local: pd.DataFrame, log_file: Path
) -> None:
    node_counts: list[int] = []
    progress_counts: list[int] = []

    def lose(completed: int, total: int) -> None:
        progress_counts.append(completed)
        assert total == 500
        if completed >= 150 and not node_counts:
            node_counts.append(len(nodes_in(log_file)))
            cluster.remove_node(cluster.second, allow_graceful=False)

    names = f"{LEXICAL},test-node-log[file={log_file}]"
    scores = scoring.evaluate(*tables, names, engine="ray", progress=lose)
    ray_scores = scores[~scores["metric"].str.startswith("test-node-log")].reset_index(drop=True)
    local_scores = local[~local["metric"].str.startswith("bertscore")].reset_index(drop=True)
    pd.testing.assert_frame_equal(ray_scores, local_scores, check_exact=True)
    assert node_counts == [2]  # both nodes had worked until then
    assert progress_counts == sorted(progress_counts)
    assert progress_counts[-1] == 500
    documents = [line.split()[1] for line in log_file.read_text().splitlines()]
    assert len(set(documents)) == 100
