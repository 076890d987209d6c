"""A light installation has no pyarrow yet: files give the same tables, more slowly; Parquet says why it can't."""

import subprocess
import sys
from pathlib import Path

import pytest

from analysis.tables import TABLES, find_table, read_table, write_table

ROOT = Path(__file__).resolve().parents[3]
DEMO = ROOT / "fixtures" / "demo"
BLOCKED = "import sys; sys.modules['pyarrow'] = None\n"


def without_arrow(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", BLOCKED + code]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("kind", [kind for kind in TABLES if kind != "scores"])
def test_a_table_is_read_and_written_to_the_same_bytes(tmp_path, kind):
    path = find_table(DEMO, kind)
    result = without_arrow(
        "from analysis.tables import read_table, write_table\n"
        f"frame = read_table({str(path)!r}, {kind!r})\n"
        f"write_table(frame, '{tmp_path}/light.csv', {kind!r})\n"
        f"write_table(frame, '{tmp_path}/light.jsonl', {kind!r})\n"
        "assert not any(name.startswith('pyarrow') and module for name, module in sys.modules.items())\n"
    )
    assert result.returncode == 0, result.stderr
    frame = read_table(path, kind)
    for suffix in ("csv", "jsonl"):
        write_table(frame, tmp_path / f"whole.{suffix}", kind)
        assert (tmp_path / f"whole.{suffix}").read_bytes() == (tmp_path / f"light.{suffix}").read_bytes()


def test_what_is_wrong_with_a_table_is_said_alike(tmp_path):
    path = tmp_path / "judgments.csv"
    path.write_text("doc_id,system,unit,worker_id,value\na,s,u,w,1\na,s,u,w,1\nb,s,,w,1\n")
    result = without_arrow(f"from analysis.tables import read_table\nread_table({str(path)!r}, 'judgments')\n")
    with pytest.raises(ValueError, match="row 3, column unit: found nothing") as error:
        read_table(path, "judgments")
    assert str(error.value) in result.stderr


def test_parquet_says_what_brings_it(tmp_path):
    write_table(read_table(find_table(DEMO, "scus"), "scus"), tmp_path / "scus.parquet", "scus")
    result = without_arrow(f"from analysis.tables import read_table\nread_table('{tmp_path}/scus.parquet', 'scus')\n")
    assert "scus.parquet is Parquet, which pyarrow reads and writes; pip install pyarrow brings it." in result.stderr
