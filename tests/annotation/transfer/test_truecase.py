"""Texts as workers see them: true-cased, unknown tokens as a symbol; the original is kept beside them."""

import gzip
import json

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Summary
from annotation.transfer.importing.truecase import (
    UNKNOWN_TOKENS,
    Showing,
    replace_unknown,
    shown_text,
    truecase_sentence,
)
from tests.annotation.transfer.whole_export import export_study

TRUECASE = Showing(truecase=True)


@pytest.mark.needs("truecase")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("two cnn heroes are in kathmandu , nepal .", "Two CNN heroes are in Kathmandu , Nepal ."),
        ("it won't sail on the 3rd of march in new york .", "It won't sail on the 3rd of March in New York ."),
        ("( cnn ) two men left .", "( CNN ) two men left ."),
        ("Already Cased , as it is .", "Already Cased , as it is ."),
        ("12 , 13 .", "12 , 13 ."),
        ("", ""),
    ],
)
def test_capitals_are_put_where_english_has_them(text, expected):
    assert truecase_sentence(text) == expected


@pytest.mark.needs("truecase")
def test_nothing_but_the_case_of_letters_changes():
    text = "  the  mayor 's\tferry\u00a0left — at “ten” .. "
    assert truecase_sentence(text).lower() == text.lower()


@pytest.mark.needs("truecase")
def test_each_sentence_of_a_string_starts_with_a_capital():
    assert shown_text("the mayor left . he met nobody .", TRUECASE) == "The Mayor left . He met nobody ."


@pytest.mark.needs("truecase")
def test_given_sentences_stay_a_list_and_an_unchanged_text_is_none():
    assert shown_text(["he met nobody ."], TRUECASE) == ["He met nobody ."]
    assert shown_text(["He met nobody ."], TRUECASE) is None
    assert shown_text("anything", Showing()) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the <unk> won", "the □ won"),
        ("[UNK] met UNK .", "□ met □ ."),
        ("a chunk of unknown funk", "a chunk of unknown funk"),  # inside a word it stays
        ("the <unk>'s", "the □'s"),
    ],
)
def test_unknown_tokens_become_a_symbol_where_they_stand_alone(text, expected):
    assert replace_unknown(text, UNKNOWN_TOKENS) == expected


@pytest.mark.needs("truecase")
@pytest.mark.paper
def test_words_are_cased_as_realsumm_showed_them(shared_data):
    """REALSumm's own shown texts, lower-cased and true-cased again: 94 % of words as published, 81 % without."""
    with gzip.open(shared_data / "realsumm" / "summaries.jsonl.gz", "rt") as lines:
        rows = [row for row in map(json.loads, lines) if row["group"] == "abs"]
    n_equal = total = 0
    for row in rows:
        lower = [sentence.lower() for sentence in row["summary"]]
        cased = " ".join(shown_text(lower, TRUECASE) or lower)
        if cased.lower() == row["shown_to_workers"].lower():
            pairs = zip(cased.split(), row["shown_to_workers"].split(), strict=True)
            is_equal = [a == b for a, b in pairs]
            n_equal, total = n_equal + sum(is_equal), total + len(is_equal)
    assert total > 15_000
    assert n_equal / total > 0.93


# Import


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "study"
    path.mkdir()
    (path / "documents.jsonl").write_text('{"doc_id": "d", "source": "x y", "references": ["x"]}\n')
    rows = [
        {"doc_id": "d", "system": "a", "summary": ["the <unk> of new york left ."]},
        {"doc_id": "d", "system": "b", "summary": "He met UNKNOWN people."},
        {"doc_id": "d", "system": "c", "summary": "a b", "shown_to_workers": "as the file says"},
    ]
    (path / "summaries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def shown_of(study):
    rows = Summary.objects.filter(document__study__name=study).order_by("system__name")
    return [(row.text, row.shown) for row in rows]


@pytest.mark.needs("truecase")
@pytest.mark.django_db
def test_the_text_as_shown_is_stored_beside_the_original_and_exported(folder, tmp_path):
    call_command("import_study", folder, name="shown", truecase=True, unknown_symbol="?")
    assert shown_of("shown") == [
        (["the <unk> of new york left ."], ["The ? of New York left ."]),
        ("He met UNKNOWN people.", None),
        ("a b", "as the file says"),
    ]
    export_study(Summary.objects.first().document.study, tmp_path / "out")
    exported = [json.loads(line) for line in (tmp_path / "out" / "summaries.jsonl").read_text().splitlines()]
    assert exported[0]["summary"] == ["the <unk> of new york left ."]
    assert exported[0]["shown_to_workers"] == ["The ? of New York left ."]


@pytest.mark.django_db
def test_own_tokens_replace_the_default_ones_and_nothing_happens_unasked(folder):
    call_command("import_study", folder, name="plain")
    assert shown_of("plain")[0][1] is None
    call_command("import_study", folder, name="own", unknown_token=["UNKNOWN"])
    assert [text_shown for _, text_shown in shown_of("own")] == [None, "He met □ people.", "as the file says"]


@pytest.mark.django_db
def test_the_same_folder_shown_otherwise_is_not_the_same_import(folder, capsys):
    call_command("import_study", folder, name="one", unknown_token=["UNKNOWN"])
    assert "1 of 3 summaries are shown" in capsys.readouterr().out
    call_command("import_study", folder, name="one", unknown_token=["UNKNOWN"])
    assert "holds this folder already" in capsys.readouterr().out
    with pytest.raises(CommandError, match="other content"):
        call_command("import_study", folder, name="one")
