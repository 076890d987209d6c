"""The gate: five tables, five file forms, and a sentence for everything that is wrong."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.tables import (
    SUFFIXES,
    TABLES,
    AnalysisError,
    TableError,
    check_table,
    find_table,
    read_pieces,
    read_table,
    write_table,
)
from analysis.tables.cells import decode_cell, encode_cell
from analysis.tables.keys import _string_numbers

HEAD = "doc_id,system,unit,worker_id,value\n"
Read = Callable[[Path, str], pd.DataFrame]


@pytest.fixture(params=["whole", "in pieces"])
def read(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Both ways into the gate."""
    if request.param == "whole":
        return read_table
    monkeypatch.setattr("analysis.tables.WHOLE", -1)
    monkeypatch.setattr("analysis.tables.PIECE", 2)
    return lambda path, kind: pd.concat(list(read_pieces(path, kind)), ignore_index=True)


def write(path: Path, content: str | bytes) -> Path:
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def judgments() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "doc_id": ["007", "NA", "null"],
            "system": ["None", "1e5", "-0"],
            "unit": ["scu00", "NaN", "true"],
            "worker_id": ["w1", "12345678901234567890", "w,3"],
            "value": [0.1, 1.0, 1 / 3],
            "round": [1, 2, None],
            "is_check": [False, True, False],
            "seconds": [1.5, None, 2.0],
            "note": ['say "hi"', "two\nlines", ""],
        }
    )


def documents() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "doc_id": ["1", "2", "3"],
            "source": ["plain", ["two", "sentences"], '["looks like a list"]'],
            "references": [["one"], [["s1", "s2"], "whole"], []],
        }
    )


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(("kind", "make"), [("judgments", judgments), ("documents", documents)])
def test_every_form_gives_the_same_table_back(tmp_path: Path, read: Read, suffix: str, kind: str, make) -> None:
    expected = check_table(make(), kind)
    path = tmp_path / f"{kind}{suffix}"
    write_table(expected, path, kind)
    pd.testing.assert_frame_equal(read(path, kind), expected)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_table_gives_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    write_table(judgments(), first, "judgments")
    write_table(read_table(first, "judgments"), second, "judgments")
    assert first.read_bytes() == second.read_bytes()


def test_ids_that_look_like_numbers_or_missing_values_stay_strings(tmp_path: Path, read: Read) -> None:
    path = write(tmp_path / "j.csv", HEAD + "007,NA,null,None,1\n1.0,nan,N/A,-,0\n")
    frame = read(path, "judgments")
    assert frame["doc_id"].tolist() == ["007", "1.0"]
    assert frame["system"].tolist() == ["NA", "nan"]
    assert frame["unit"].tolist() == ["null", "N/A"]
    assert frame["worker_id"].tolist() == ["None", "-"]


def test_whole_numbers_in_jsonl_become_strings_and_floats_are_refused(tmp_path: Path) -> None:
    row = {"doc_id": 7, "system": "a", "unit": "u", "worker_id": "w", "value": 1}
    path = write(tmp_path / "j.jsonl", json.dumps(row))
    assert read_table(path, "judgments")["doc_id"].tolist() == ["7"]
    with pytest.raises(TableError) as error:
        read_table(write(path, json.dumps(row | {"doc_id": 7.0})), "judgments")
    assert "row 1, column doc_id: found 7.0" in str(error.value)


def test_a_float_id_column_in_parquet_is_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame({"doc_id": [1.0], "system": ["a"], "metric": ["m"], "value": [1.0]})
    frame.to_parquet(tmp_path / "scores.parquet")
    with pytest.raises(TableError, match=r"column doc_id: found 1\.0, expected text"):
        read_table(tmp_path / "scores.parquet", "scores")


def test_bom_crlf_and_quoted_newlines_are_accepted(tmp_path: Path, read: Read) -> None:
    text = HEAD.replace("\n", "\r\n") + '1,"a\nb",u,w,1\r\n2,"say ""x""",u,w,0\r\n'
    frame = read(write(tmp_path / "j.csv", b"\xef\xbb\xbf" + text.encode()), "judgments")
    assert frame.columns[0] == "doc_id"
    assert frame["system"].tolist() == ["a\nb", 'say "x"']
    assert frame["value"].tolist() == [1.0, 0.0]


def test_extra_columns_are_kept_and_column_order_is_free(tmp_path: Path) -> None:
    frame = read_table(
        write(tmp_path / "j.csv", "value,hit,worker_id,unit,system,doc_id\n1,007,w,u,s,d\n"), "judgments"
    )
    assert frame.columns.tolist() == ["value", "hit", "worker_id", "unit", "system", "doc_id"]
    assert frame.iloc[0].tolist() == [1.0, "007", "w", "u", "s", "d"]


def test_a_lone_reference_is_a_list_of_one(tmp_path: Path, read: Read) -> None:
    path = write(tmp_path / "documents.csv", 'doc_id,source,reference\n1,text,ref\n2,text,"[""a"", ""b""]"\n')
    assert read(path, "documents")["references"].tolist() == [["ref"], [["a", "b"]]]


def test_all_problems_are_named_at_once() -> None:
    frame = pd.DataFrame(
        {
            "doc_id": ["1", ""],
            "system": ["a", "a"],
            "unit": ["u", "u"],
            "worker_id": ["w", "w"],
            "value": ["x", "inf"],
        }
    )
    with pytest.raises(TableError) as error:
        check_table(frame, "judgments", "crowd.csv")
    problems = [(p.file, p.row, p.column, p.found) for p in error.value.problems]
    assert problems == [
        ("crowd.csv", 1, "value", "'x'"),
        ("crowd.csv", 2, "doc_id", "nothing"),
        ("crowd.csv", 2, "value", "'inf'"),
    ]


def test_twenty_problems_are_listed_and_the_rest_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "j.csv", HEAD + "".join(f"1,s,u,w{i},bad\n" for i in range(50)))
    with pytest.raises(TableError) as error:
        read_table(path, "judgments")
    lines = str(error.value).splitlines()
    assert len(lines) == 21
    assert lines[0] == "j.csv, row 1, column value: found 'bad', expected a finite number."
    assert lines[-1] == "… and 30 more."


def test_an_empty_value_is_undefined_in_scores_and_wrong_in_judgments(tmp_path: Path) -> None:
    scores = read_table(write(tmp_path / "s.csv", "doc_id,system,metric,value\n1,a,m,\n"), "scores")
    assert scores["value"].isna().all()
    with pytest.raises(TableError, match="row 2, column value: found nothing, expected a finite number"):
        read_table(write(tmp_path / "j.csv", HEAD + "1,a,u,w,1\n1,a,u,v,\n"), "judgments")


@pytest.mark.parametrize(
    ("kind", "rows", "repeated_row"),
    [
        ("judgments", "1,a,u,w,1\n1,a,u,x,1\n1,a,u,w,0\n", "row 3"),
        ("scores", "1,a,m,1\n2,a,m,1\n1,a,m,1\n", "row 3"),
    ],
)
def test_duplicate_rows_are_named_with_both_rows(tmp_path: Path, kind: str, rows: str, repeated_row: str) -> None:
    head = HEAD if kind == "judgments" else "doc_id,system,metric,value\n"
    with pytest.raises(TableError, match=rf"{repeated_row}.*again, already in row 1"):
        read_table(write(tmp_path / "t.csv", head + rows), kind)


def test_rounds_and_assignments_tell_rows_apart(tmp_path: Path) -> None:
    text = HEAD.replace("\n", ",round,assignment_id\n") + "1,a,u,w,1,1,x\n1,a,u,w,0,2,x\n1,a,u,w,0,2,y\n"
    assert len(read_table(write(tmp_path / "j.csv", text), "judgments")) == 3


BAD_FILES = [
    (
        "missing column",
        "j.csv",
        "doc_id,system,unit,value\n1,a,u,1\n",
        "only the columns doc_id, system, unit, value",
    ),
    ("not UTF-8", "j.csv", HEAD.encode() + b"1,caf\xe9,u,w,1\n", "byte 0xe9 at byte 40, which is not UTF-8"),
    ("UTF-8 cut off", "j.csv", HEAD.encode() + b"1,a,u,w,1\n\xc3", "at byte 45, which is not UTF-8"),
    ("NUL", "j.csv", HEAD.encode() + b"1,\0,u,w,1\n", "a NUL byte at byte 37"),
    ("empty", "j.csv", "", "an empty file"),
    ("empty", "j.jsonl.gz", "", "an empty file"),
    ("ragged", "j.csv", HEAD + "1,a,u,w,1\n1,a,u,w\n1,a,u,w,1,2\n", "row 2: found 4 cells, expected 5 cells"),
    (
        "twice",
        "j.csv",
        "doc_id,doc_id,system,unit,worker_id,value\n1,1,a,u,w,1\n",
        "the column more than once",
    ),
    ("bad JSON", "j.jsonl", '{"doc_id": "1"}\n{"doc_id": \n', "line 2 that is not JSON"),
    ("not an object", "j.jsonl", "[1, 2]\n", "[1, 2] in line 1, expected one JSON object"),
    ("deep", "j.jsonl", "[" * 100_000, "line 1 that is not JSON (nested too deeply)"),
    ("half a pair", "j.jsonl", '{"doc_id": "\\ud800"}', "expected a column system"),
    ("suffix", "j.xlsx", "x", "a name ending in .xlsx, expected one of .csv, .csv.gz"),
    ("not Parquet", "j.parquet", "x", "a file that is not readable Parquet"),
    (
        "flag",
        "j.csv",
        HEAD[:-1] + ",is_check\n1,a,u,w,1,maybe\n",
        "'maybe', expected 0, 1, true",
    ),
    (
        "integer",
        "j.csv",
        "doc_id,system,unit,worker_id,value,round\n1,a,u,w,1,1.5\n",
        "expected a whole number or nothing",
    ),
    ("underscore", "j.csv", HEAD + "1,a,u,w,1_000\n", "'1_000', expected a finite number"),
]


IDS = [case[0] for case in BAD_FILES]


@pytest.mark.parametrize(("name", "content", "sentence"), [case[1:] for case in BAD_FILES], ids=IDS)
def test_a_bad_file_is_answered_with_a_sentence(
    tmp_path: Path, read: Read, name: str, content: str | bytes, sentence: str
) -> None:
    with pytest.raises(TableError) as error:
        read(write(tmp_path / name, content), "judgments")
    assert sentence in str(error.value)
    assert name in str(error.value)


def test_half_a_surrogate_pair_is_refused(tmp_path: Path, read: Read) -> None:
    row = '{"doc_id": "\\ud800", "system": "a", "unit": "u", "worker_id": "w", "value": 1}'
    with pytest.raises(TableError, match="row 1, column doc_id"):
        read(write(tmp_path / "j.jsonl", row), "judgments")


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path, read: Read) -> None:
    with pytest.raises(TableError, match=r"gone\.csv: found no such file"):
        read(tmp_path / "gone.csv", "scores")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(TableError, match="found a folder"):
        read(tmp_path / "folder.csv", "scores")


def test_a_truncated_and_a_damaged_gzip_are_told_apart(tmp_path: Path, read: Read) -> None:
    compressed = gzip.compress((HEAD + "1,a,u,w,1\n" * 1000).encode())
    path = tmp_path / "j.csv.gz"
    path.write_bytes(compressed[:-20])
    with pytest.raises(TableError, match="a gzip that breaks off"):
        read(path, "judgments")
    path.write_bytes(b"not gzip at all")
    with pytest.raises(TableError, match="a gzip that is damaged"):
        read(path, "judgments")


@pytest.mark.parametrize("name", ["long.csv", "long.jsonl"])
def test_a_line_of_a_gigabyte_is_refused_without_reading_it(tmp_path: Path, read: Read, name: str) -> None:
    path = tmp_path / name
    with path.open("wb") as file:
        file.write(HEAD.encode())
        file.seek(2**20)
        file.write(b"x" * 2**24)
        file.truncate(2**30)
    # The hole in a sparse file reads as NUL bytes: spell the line out where the reader meets it first.
    with path.open("r+b") as file:
        file.write(HEAD.encode() + b"x" * (2**20 - len(HEAD)))
    tracemalloc.start()
    with pytest.raises(TableError, match="a line longer than 16 MiB, starting at byte 35"):
        read(path, "judgments")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 80 * 2**20


def test_a_gzip_bomb_is_refused_with_flat_memory(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(HEAD.encode())
        for _ in range(64):
            file.write(b"x" * 2**20)
    tracemalloc.start()
    with pytest.raises(TableError, match="longer than 16 MiB"):
        read(path, "judgments")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 80 * 2**20


def in_pieces(path: Path, kind: str, monkeypatch: pytest.MonkeyPatch, **options: object) -> list[pd.DataFrame]:
    monkeypatch.setattr("analysis.tables.WHOLE", 0)
    monkeypatch.setattr("analysis.tables.PIECE", 2)
    return list(read_pieces(path, kind, **options))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_large_file_comes_in_pieces_and_a_small_one_whole(tmp_path: Path, suffix: str, monkeypatch) -> None:
    path = tmp_path / f"j{suffix}"
    write_table(judgments(), path, "judgments")
    assert [len(piece) for piece in read_pieces(path, "judgments")] == [3]
    assert [len(piece) for piece in in_pieces(path, "judgments", monkeypatch)] == [2, 1]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("j.csv", HEAD + "1,a,u,w,1\n" + '2,"a\nb",u,w,1\n' + "\n3,a,u,w,x\n", "row 3, column value: found 'x'"),
        ("j.csv", HEAD + "1,a,u,w,1\n2,a,u,w,1\n3,a,u,w,1\n4,a,u\n", "row 4: found 3 cells"),
        ("j.csv", HEAD + "1,a,u,w,1\n2,a,u,w,1\n3,a,u,w,1\n3,a,u,w,1\n", "row 4, .* already in row 3"),
        ("d.csv", "doc_id,source,references\n1,a,[]\n2,a,[]\n3,a,x\n", "row 3, column references: found 'x'"),
    ],
)
def test_pieces_name_the_row_of_the_file(tmp_path: Path, monkeypatch, name: str, content: str, sentence: str) -> None:
    with pytest.raises(TableError, match=f"{name}, {sentence}"):
        in_pieces(write(tmp_path / name, content), "documents" if name[0] == "d" else "judgments", monkeypatch)


def test_pieces_name_the_line_of_the_file(tmp_path: Path, monkeypatch) -> None:
    row = '{"doc_id": "%d", "system": "a", "unit": "u", "worker_id": "w", "value": 1}\n'
    text = "".join(row % n for n in range(3)) + "\n{\n"
    with pytest.raises(TableError, match="line 5 that is not JSON"):
        in_pieces(write(tmp_path / "j.jsonl", text), "judgments", monkeypatch)


def test_pieces_of_a_defused_file_have_their_texts_back(tmp_path: Path, monkeypatch) -> None:
    manifest = {"format": "pyramidion-export", "csv_formulas": "apostrophe", "files": [{"name": "s.csv"}]}
    write(tmp_path / "manifest.json", json.dumps(manifest))
    path = write(tmp_path / "s.csv", "doc_id,system,summary\n1,a,'=x\n2,a,y\n3,a,'-z\n")
    assert [text for piece in in_pieces(path, "summaries", monkeypatch) for text in piece["summary"]] == [
        "=x",
        "y",
        "-z",
    ]


def test_a_column_that_is_missing_is_filled_piece_by_piece(tmp_path: Path, monkeypatch) -> None:
    rows = [{"doc_id": str(n), "references": ["r"], **({"source": "s"} if n < 2 else {})} for n in range(4)]
    path = write(tmp_path / "d.jsonl", "\n".join(map(json.dumps, rows)))
    pieces = in_pieces(path, "documents", monkeypatch, fill={"source": ""})
    assert [text for piece in pieces for text in piece["source"]] == ["s", "s", "", ""]
    with pytest.raises(TableError, match="column source"):
        in_pieces(path, "documents", monkeypatch)


def test_memory_does_not_grow_with_a_file_that_comes_in_pieces(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "s.csv.gz"
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write("doc_id,system,summary\n")
        file.writelines(f"{n},a,{n}{'word ' * 1000}\n" for n in range(8000))  # 40 MB
    monkeypatch.setattr("analysis.tables.WHOLE", 0)
    monkeypatch.setattr("analysis.tables.PIECE", 100)
    tracemalloc.start()
    assert sum(len(piece) for piece in read_pieces(path, "summaries")) == 8000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 12 * 2**20


def test_two_candidates_in_a_folder_are_both_named(tmp_path: Path) -> None:
    assert find_table(tmp_path, "scores") is None
    path = write(tmp_path / "scores.csv", "x")
    assert find_table(tmp_path, "scores") == path
    write(tmp_path / "scores.parquet", "x")
    with pytest.raises(TableError, match=r"scores\.csv and scores\.parquet"):
        find_table(tmp_path, "scores")


def test_an_unknown_table_lists_the_known_ones() -> None:
    with pytest.raises(AnalysisError, match="documents, summaries, scus, judgments, scores"):
        read_table("x.csv", "jugments")
    assert TABLES["judgments"].required == ("doc_id", "system", "unit", "worker_id", "value")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    scores = pd.DataFrame({"doc_id": ["1"], "system": ["a"], "metric": ["m"], "value": [1.0]})
    write_table(scores, path, "scores")
    before = path.read_bytes()
    with pytest.raises(TableError):
        write_table(scores.assign(system=""), path, "scores")
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["scores.csv"]


TEXT = st.text(st.characters(exclude_characters="\0", codec="utf-8"))


@settings(deadline=None)
@given(st.one_of(TEXT, st.lists(TEXT), TEXT.map(json.dumps), st.lists(TEXT).map(json.dumps)))
def test_every_text_survives_a_cell(text: str | list[str]) -> None:
    assert decode_cell(encode_cell(text)) == text


CELLS = st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1, max_size=12) | st.sampled_from(
    ["\r", "a\rb", "a\r\nb", '"', '""', " a ", "a,b", "'", "\ufeffx", "NA", "-1e5", '["x"]', "\u2028", "\\", "#", "\t"]
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS, CELLS, st.floats(allow_nan=False, allow_infinity=False)), max_size=6))
def test_any_strings_and_numbers_survive_every_form(tmp_path_factory, rows: list[tuple[str, str, str, float]]) -> None:
    frame = pd.DataFrame(
        {
            "doc_id": [f"{number}{row[0]}" for number, row in enumerate(rows)],
            "system": [row[1] for row in rows],
            "metric": [row[2] for row in rows],
            "value": [row[3] for row in rows],
            "extra": [f"{row[1]}{row[0]}" for row in rows],
        }
    )
    expected = check_table(frame, "scores") if rows else None
    for suffix in SUFFIXES if rows else ():
        path = tmp_path_factory.getbasetemp() / f"scores{suffix}"
        write_table(expected, path, "scores")
        pd.testing.assert_frame_equal(read_table(path, "scores"), expected, check_exact=True)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "aa", "a" * 9, "a" * 8 + "b", "b" * 20, "é"]), st.integers(0, 3)), min_size=2
    ),
    st.integers(1, 5),
)
def test_duplicates_are_found_exactly_when_there_are_some(rows: list[tuple[str, int]], pieces: int) -> None:
    frame = pd.DataFrame({"doc_id": [row[0] for row in rows], "system": [f"s{row[1]}" for row in rows]})
    chunks = [frame.iloc[start::pieces] for start in range(pieces)]
    table = pd.concat(chunks, ignore_index=True).assign(summary="x")
    repeated = len(set(rows)) < len(rows)
    if repeated:
        with pytest.raises(TableError, match="again, already in row"):
            check_table(table, "summaries")
    else:
        assert len(check_table(table, "summaries")) == len(rows)


@pytest.mark.parametrize("group", [1, 2, 100])
def test_duplicates_across_the_row_groups_of_a_parquet_file_are_found(tmp_path: Path, group: int) -> None:
    frame = pd.DataFrame({"doc_id": ["1", "2", "3", "4", "1"], "system": "s", "metric": "m", "value": 1.0})
    frame.to_parquet(tmp_path / "scores.parquet", row_group_size=group)
    with pytest.raises(TableError, match=r"row 5, column doc_id, system, metric: .* already in row 1"):
        read_table(tmp_path / "scores.parquet", "scores")
    frame.iloc[:4].to_parquet(tmp_path / "scores.parquet", row_group_size=group)
    assert read_table(tmp_path / "scores.parquet", "scores")["doc_id"].tolist() == ["1", "2", "3", "4"]


def in_blocks(documents: int = 40, units: int = 30) -> pd.DataFrame:
    return pd.DataFrame(
        [(f"d{d}", "s", f"u{u:02}", f"w{d % 7}", 1.0) for d in range(documents) for u in range(units)],
        columns=["doc_id", "system", "unit", "worker_id", "value"],
    )


@pytest.mark.parametrize(
    ("copied", "put_before"),
    [(5, 6), (5, 900), (0, 1200), (29, 30), (30, 30), (1199, 0)],
    ids=["next to it", "in another block", "at the end", "end of a block", "start of a block", "at the start"],
)
def test_one_repeated_row_in_a_long_orderly_table_is_found(tmp_path: Path, copied: int, put_before: int) -> None:
    frame = in_blocks()
    assert len(check_table(frame, "judgments")) == 1200
    repeated = pd.concat([frame[:put_before], frame[copied : copied + 1], frame[put_before:]], ignore_index=True)
    for suffix in (".csv", ".parquet"):
        path = tmp_path / f"judgments{suffix}"
        (repeated.to_csv if suffix == ".csv" else repeated.to_parquet)(path, index=False)
        with pytest.raises(TableError, match="again, already in row"):
            read_table(path, "judgments")


def test_a_block_that_comes_twice_is_found_and_blocks_out_of_order_are_not(tmp_path: Path) -> None:
    frame = in_blocks()
    repeated = pd.concat([frame, frame[60:90]], ignore_index=True)
    with pytest.raises(TableError, match=r"row 1201, .* already in row 61"):
        check_table(repeated, "judgments")
    backwards = frame.iloc[::-1].reset_index(drop=True)
    assert len(check_table(backwards, "judgments")) == 1200


WORDS = st.lists(st.sampled_from(["", "a", "é", "a" * 7, "a" * 8, "a" * 9, "b" * 16, "ab" * 9]), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=4))
def test_a_string_has_one_number_whatever_stands_around_it(chunks: list[list[str]]) -> None:
    numbers_by_word: dict[str, set[int]] = {}
    for words in chunks:
        for start in range(len(words)):
            array = pa.array(words, type=pa.large_string())[start:]
            for word, number in zip(words[start:], _string_numbers(array).tolist(), strict=True):
                numbers_by_word.setdefault(word, set()).add(number)
    assert all(len(numbers) == 1 for numbers in numbers_by_word.values())
    assert len(set.union(*numbers_by_word.values())) == len(numbers_by_word)
