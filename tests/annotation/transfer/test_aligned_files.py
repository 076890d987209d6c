"""import_outputs: line-aligned files are matched by their references; what is not certain is reported."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Document, Reference, Study, Summary, System
from annotation.transfer.importing.aligned_files import align, sentences_of, words_of
from annotation.transfer.importing.system_outputs import read_lines

pytestmark = pytest.mark.django_db

REFERENCES = {
    "a": ["The night ferry stays for three more years.", "Parking at the harbour (north) will cost more."],
    "b": "Bees may stay on the balcony, a court in Nordhaven ruled on Tuesday.",
    "c": "The library opens on Sundays from May, after 4,000 people had signed.",
    "d": "The library opens on Sundays from June, after 4,000 people had signed.",
    "e": "Twin text that two documents share.",
    "f": "Twin text that two documents share.",
}


@pytest.fixture
def study() -> Study:
    study = Study.objects.create(name="s")
    for doc, text in REFERENCES.items():
        document = Document.objects.create(study=study, doc_id=doc, source="")
        Reference.objects.create(document=document, text=text)
    return study


def documents_of(study: Study, *lines: str) -> dict[int, tuple[str, str]]:
    alignment = align(study, lines, [f"output {n}" for n in range(len(lines))])
    return {match.line: (match.doc_id, match.method) for match in alignment.matches}


def test_any_order_and_any_tokenisation(study):
    assert documents_of(
        study,
        "bees may stay on the balcony , a court in nordhaven ruled on tuesday .",
        "<t> the night ferry stays for three more years . </t> "
        "<t> parking at the harbour -lrb- north -rrb- will cost more . </t>",
        "The library opens on Sundays from May, after 4,000 people had signed.",
    ) == {1: ("b", "normalised"), 2: ("a", "normalised"), 3: ("c", "exact")}  # fmt: skip


def test_a_changed_reference_is_found_by_its_words(study):
    # 13 words against 13, 12 of them shared: 2·12/26 = 0.92, and no other document comes near.
    alignment = align(study, ["Bees may stay on the balcony, a court in Nordhaven ruled on Monday."], ["x"])
    [match] = alignment.matches
    assert (match.doc_id, match.method, round(match.overlap, 2)) == ("b", "fuzzy", 0.92)


def test_what_could_be_two_documents_is_never_guessed(study):
    lines = ["Twin text that two documents share.", REFERENCES["c"].replace("May", "July")]
    alignment = align(study, lines, ["x", "y"])
    assert not alignment.matches
    assert [doc for doc, _ in alignment.ambiguous[1]] == ["e", "f"]
    # 13 words, 12 shared with each of the two (“4,000” is two): both 0.92.
    assert {doc: round(overlap, 2) for doc, overlap in alignment.ambiguous[2]} == {"c": 0.92, "d": 0.92}
    assert alignment.missing == list(REFERENCES)


def test_what_is_like_nothing_is_reported_with_its_nearest(study):
    lines = ["Something else altogether.", "", "Bees may stay on the roof, a judge said."]
    alignment = align(study, lines, ["x", "y", "z"])
    assert set(alignment.unmatched) == {1, 2, 3}
    assert alignment.counts()["unmatched"] == 3
    assert not alignment.matches


def test_the_same_document_twice(study):
    text = REFERENCES["b"]
    repeated = align(study, [text, text.lower()], ["An output.", "An  output."])
    assert (len(repeated.matches), repeated.repeated, repeated.conflicts) == (1, {"b": [1, 2]}, {})
    conflicting = align(study, [text, text.lower()], ["An output.", "Another one."])
    assert (conflicting.matches, conflicting.conflicts) == ([], {"b": [1, 2]})


def test_sentences_come_from_tags_only():
    assert sentences_of("<t> One . </t> <t> Two . </t>") == ["One .", "Two ."]
    assert sentences_of("One .<q>Two .") == ["One .", "Two ."]
    assert sentences_of(" One . Two . ") == "One . Two ."
    assert words_of("It's <b> -LRB- naïve &amp; fine") == ["it", "s", "b", "naïve", "fine"]


def test_only_a_line_feed_ends_a_line(tmp_path: Path):
    (tmp_path / "x.txt").write_bytes("one\u2028still one\r\ntwo\n\nfour\n".encode())
    assert read_lines(tmp_path / "x.txt") == ["one\u2028still one", "two", "", "four"]


def write_files(folder: Path, lines: list[tuple[str, str]]) -> dict[str, object]:
    for name, column in (("ref.txt", 0), ("out.txt", 1)):
        (folder / name).write_text("".join(f"{line[column]}\n" for line in lines))
    return {"outputs": folder / "out.txt", "refs": folder / "ref.txt", "system": "new"}


def test_a_dry_run_reports_and_yes_writes_once(study, tmp_path, capsys):
    files = write_files(tmp_path, [(REFERENCES["b"].lower(), "Bees stay ."), ("nothing like it", "Lost .")])
    call_command("import_outputs", "s", **files)
    out = capsys.readouterr().out
    assert "1 normalised" in out
    assert "No match: line 2: nearest nothing" in out
    assert "Dry run: 1 summaries would be stored" in out
    assert not System.objects.exists()
    call_command("import_outputs", "s", **files, group="abs", yes=True)
    summaries = Summary.objects.values_list("document__doc_id", "system__group", "text")
    assert list(summaries) == [("b", "abs", "Bees stay .")]
    call_command("import_outputs", "s", **files, group="abs", yes=True)
    assert "0 summaries by 'new' are stored; 1 were there already." in capsys.readouterr().out
    assert Summary.objects.count() == 1


def test_other_texts_under_a_known_name_are_refused(study, tmp_path):
    call_command("import_outputs", "s", **write_files(tmp_path, [(REFERENCES["b"], "Bees stay .")]), yes=True)
    with pytest.raises(CommandError, match="another summary by 'new' already, such as 'b'"):
        call_command("import_outputs", "s", **write_files(tmp_path, [(REFERENCES["b"], "Bees go .")]), yes=True)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"system": "s" * 201}, "--system has 201 characters, and may have 200. Nothing was imported"),
        ({"system": " "}, "A system needs a name"),
        ({"group": "g" * 101}, "--group has 101 characters, and may have 100"),
    ],
)
def test_names_that_no_column_holds_are_refused_before_anything_is_read(study, tmp_path, options, sentence):
    files = write_files(tmp_path, [(REFERENCES["b"], "Bees stay .")])
    with pytest.raises(CommandError, match=sentence) as error:
        call_command("import_outputs", "s", **files | options, yes=True)
    assert error.value.returncode == 2
    assert not System.objects.exists()
    call_command("import_outputs", "s", **files | {"system": "s" * 200, "group": "g" * 100}, yes=True)


def test_files_of_different_length_are_refused(study, tmp_path):
    files = write_files(tmp_path, [(REFERENCES["b"], "Bees stay .")])
    (tmp_path / "out.txt").write_text("one\ntwo\n")
    with pytest.raises(CommandError, match="1 lines and the outputs 2"):
        call_command("import_outputs", "s", **files)


def test_realsumms_own_references_find_their_documents_in_any_tokenisation(shared_data, study):
    """100 references, shuffled, lower-cased and without punctuation, as other people's scripts leave them."""
    import gzip
    import json
    import re

    real = Study.objects.create(name="real")
    texts = {}
    with gzip.open(shared_data / "realsumm" / "documents.jsonl.gz", "rt") as file:
        for line in file:
            row = json.loads(line)
            texts[row["doc_id"]] = row["references"][0]
            document = Document.objects.create(study=real, doc_id=row["doc_id"], source="")
            Reference.objects.create(document=document, text=row["references"][0])
    order = sorted(texts, reverse=True)
    lines = [re.sub(r"[^\w\s]", "", " ".join(texts[doc])).upper() for doc in order]
    alignment = align(real, lines, ["x"] * len(lines))
    assert [match.doc_id for match in alignment.matches] == order
    assert alignment.counts()["normalised"] == 100
