"""A sentence is its English text everywhere, and remembers what it was made of."""

import copy
import json
import pickle
from dataclasses import asdict, dataclass

import pandas as pd
import pytest

from analysis.sentence import Grouped, Sentence, join_sentences, some_of

MANY = Sentence("%(n)s judgments", {"n": Grouped(12_345)})
WHOLE = Sentence("%(what)s by %(who)s, 95 %% sure.", {"what": MANY, "who": "w%(1)s"})


def test_it_is_the_finished_text():
    assert WHOLE == "12,345 judgments by w%(1)s, 95 % sure."
    assert json.dumps([WHOLE]) == '["12,345 judgments by w%(1)s, 95 % sure."]'
    assert pd.DataFrame({"text": [WHOLE]}).to_csv(index=False) == f'text\n"{WHOLE}"\n'
    assert f"{WHOLE}".encode() == str(WHOLE).encode()


def test_a_hole_without_a_value_is_refused():
    with pytest.raises(KeyError, match="who"):
        Sentence("by %(who)s")


@dataclass(frozen=True)
class Result:
    note: str


@pytest.mark.parametrize(
    "make_copy",
    [
        copy.deepcopy,
        lambda text: asdict(Result(text))["note"],
        lambda text: pickle.loads(pickle.dumps(text)),
        lambda text: Sentence.from_json(json.loads(json.dumps(text.as_json()))),
    ],
    ids=["copy", "asdict", "pickle", "json"],
)
def test_a_copy_remembers_template_and_values(make_copy):
    text = make_copy(WHOLE)
    assert (text, text.template, text.values) == (WHOLE, WHOLE.template, WHOLE.values)
    assert type(text.values["what"]) is Sentence
    assert type(text.values["what"].values["n"]) is Grouped


def test_sentences_are_put_together_with_what_stands_between_them():
    assert join_sentences([MANY, "", "w%s"]) == "12,345 judgments  w%s"
    assert join_sentences(["a", MANY], "; ").values["1"] is MANY
    assert join_sentences([]) == ""


def test_of_many_names_the_first_are_shown():
    assert some_of(["a", "b", "c", "d"]) == "a, b, c, d"
    assert some_of(["a", "b", "c", "d", "e", "f"]) == "a, b, c, d and 2 more"
    assert some_of(("a", "b"), 1) == "a and 1 more"
