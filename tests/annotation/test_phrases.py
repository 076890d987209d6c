"""What `analysis` and `scoring` say in English is said in German where a German page shows it, all of it."""

import re

import numpy as np
import pandas as pd
import pytest
from django.utils import translation

from analysis.filters import RULES, apply_rules
from analysis.report import Report, build_report
from annotation import phrases
from annotation.phrases import PIECES, SENTENCES, TEXTS, said, sentences_of
from annotation.protocols import PROTOCOLS
from annotation.quality import READINGS
from scoring import models, questions, registry, vectors, wordnet
from tests.analysis._matrices import table
from tests.analysis.support import table as rows
from tests.analysis.test_filters import GOOD, TRUTH, crowd, hit
from tests.annotation.test_translation import KNOWN


def unknown(texts: list[str]) -> list[str]:
    """The texts that a German page would show in English."""
    return [text for text in texts if text not in TEXTS and not sentences_of(text)]


def test_what_every_rule_is_for_is_said_in_german():
    assert unknown([kind.summary for kind in RULES.values()]) == []


def test_what_every_metric_measures_is_said_in_german():
    assert unknown(sorted({registry.get(name).family.card.title for name in registry.known()})) == []


def test_what_a_metric_lacks_is_said_in_german(monkeypatch, tmp_path):
    """Here, and on a machine that has nothing of it."""
    here = {registry.get(name).ready().missing for name in registry.known()} - {""}
    for room in (questions, vectors):
        monkeypatch.setattr(room, "find_spec", lambda name: None)
    lacking = [
        *here,
        questions.readiness("en_core_web_sm").missing.replace("spaCy", "SpaCy", 1),
        vectors.ready(vectors.DEFAULT).missing,
        *(models.how_to_get(name) for name in (models.DEFAULT, str(tmp_path), "some/model")),
        f"WordNet is not here; {wordnet.HOW}, or use meteor[synonyms=no].",
    ]
    monkeypatch.setattr(questions, "find_spec", lambda name: True if name == "spacy" else None)
    pipeline = questions.readiness("en_core_web_sm").missing
    lacking.append(pipeline[0].upper() + pipeline[1:])
    assert unknown(lacking) == []
    with translation.override("de"):
        assert said(lacking[-1]).startswith("Die spaCy-Pipeline en_core_web_sm ist nicht da;")


def test_every_coefficient_and_level_is_said_in_german():
    levels = {protocol.level for protocol in PROTOCOLS.values()}
    assert unknown([*(name for kind in READINGS.values() for name, _ in kind), *levels]) == []


def test_a_new_text_would_be_missed():
    assert unknown(["A worker whose name begins with X is dropped."]) == [
        "A worker whose name begins with X is dropped."
    ]


def texts_of(report: Report) -> list[str]:
    heads = [text for section in report.sections for text in (section.heading, section.text)]
    captions = [text for figure in report.figures for text in (figure.title, figure.caption)]
    return [report.verdict, *report.warnings, *heads, *captions, report.methods]


def scores(systems: int, documents: int, noise: float) -> pd.DataFrame:
    """A human measure, a metric that follows it, one that doesn't, and one that goes the other way."""
    rng = np.random.default_rng(0)
    human = np.clip(rng.normal(np.linspace(0.2, 0.8, systems)[:, None], 0.1, (systems, documents)), 0, 1)
    made = table(h=human, good=human + rng.normal(0, noise, human.shape), chance=rng.random(human.shape), low=1 - human)
    return made.assign(group=np.where(made["system"] < f"s{systems // 2}", "abs", "ext"))


def judged(frame: pd.DataFrame) -> pd.DataFrame:
    human = frame[frame["metric"] == "h"]
    answers = human[["doc_id", "system"]].assign(unit="u", value=(human["value"] > 0.5).astype(float))
    return pd.concat([answers.assign(worker_id=worker) for worker in ("a", "b")])


def reports() -> dict[str, Report]:
    few, many = scores(6, 5, 0.05), scores(12, 9, 0.01)
    constant = table(h=np.full((4, 3), 0.5), m=np.random.default_rng(1).random((4, 3)))
    twins = pd.concat([few, few[few["system"] == "s0"].assign(system="twin")])
    texts = twins[["doc_id", "system"]].drop_duplicates().assign(summary="the same")
    gaps = few[~((few["metric"] == "good") & (few["system"] == "s1"))]
    gaps = gaps[~((gaps["metric"] == "low") & (gaps["system"] == "s2") & (gaps["doc_id"] == "d0"))]
    gaps = gaps[~((gaps["metric"] == "chance") & (gaps["doc_id"] == "d1"))]
    filtered = "The judgments were filtered by majority-dissent, seed 0."
    common = {"human": "h", "resamples": 50}
    return {
        "few": build_report(few, judgments=judged(few), filtered=filtered, where=("group=abs",), **common),
        "many": build_report(many, **common),
        "rough": build_report(scores(12, 9, 0.5), metrics=["good"], **common),
        "sure": build_report(many, metrics=["good"], **common),
        "chance": build_report(few, metrics=["chance"], **common),
        "no metric": build_report(few[few["metric"] == "h"], **common),
        "two systems": build_report(few[few["system"].isin(["s0", "s1"])], **common),
        "constant": build_report(constant, **common),
        "twins": build_report(twins, summaries=texts, **common),
        "gaps": build_report(gaps, **common),
    }


@pytest.fixture(scope="module")
def made() -> dict[str, Report]:
    return reports()


def test_every_sentence_of_reports_is_said_in_german(made):
    assert unknown([text for report in made.values() for text in texts_of(report)]) == []


def test_numbers_and_names_stay_in_a_sentence_that_is_said_in_german(made):
    english = made["few"].verdict
    with translation.override("de"):
        german = said(english)
    assert german != english
    assert german.startswith("Hier (6 Systeme, 5 Dokumente) folgt good dem Maß h am engsten (r = ")
    assert re.findall(r"\d*\.\d+", german) == re.findall(r"\d*\.\d+", english)
    assert " and " not in german


def test_missing_scores_are_named_in_german(made):
    with translation.override("de"):
        notes = [said(note) for note in made["gaps"].warnings]
    assert "good hat 25 von 30 Werten; nichts für s1." in notes
    assert any(note.startswith("good: 1 von 6 Systemen bleiben außen vor") for note in notes)


def test_english_readers_get_the_very_words():
    for text in (*SENTENCES, "Anything else."):
        assert said(text) == text


def test_what_no_pattern_knows_stays_as_it_is():
    with translation.override("de"):
        assert said("A sentence that nobody has translated.") == "A sentence that nobody has translated."
        assert said("") == ""


def filters() -> dict[str, pd.DataFrame]:
    """Rules, each with judgments in which it finds somebody."""
    answers = {**GOOD, **{f"more{i}": TRUTH.tolist() for i in range(6)}}
    odd = crowd({**answers, "bad": (1 - TRUTH).tolist(), "yes": [1] * 40, "zigzag": [0, 1] * 20})
    spread = np.exp(np.random.default_rng(0).normal(0, 0.3, len(odd)))
    odd["seconds"] = np.where(odd["worker_id"] == "bad", 1.0, 10.0) * spread
    asleep = crowd({"ok": [0, 0, 0, 1, 0, 0], "asleep": [1, 1, 0, 1, 0, 0]}, is_check=True)
    signs = [
        (f"d{doc}", "s", "u", f"w{worker:02}", 1, int(worker == 3), 60 if worker == 7 else worker % 3)
        for worker in range(12)
        for doc in range(4)
    ]
    rated = [
        (f"d{doc}", system, "coherence", worker, value)
        for doc in range(8)
        for system, quality in (("model", 5), ("planted", 1))
        for worker, value in (("sees", quality), ("blind", 3 + doc % 2))
    ]
    return {
        "checks": pd.concat([crowd(GOOD, is_check=False), asleep], ignore_index=True),
        "time": odd,
        "time[floor=3,z=100]": odd,
        "straightlining": odd,
        "signals": rows(signs, "doc_id system unit worker_id value pastes focus_losses"),
        "majority-dissent": hit("1110", "1110", "1101", "0011"),
        "majority-dissent[]": hit("110", "101", "011", "111"),
        "worker-agreement": odd,
        "bad-reference[system=planted]": rows(rated),
    }


@pytest.mark.parametrize("rule", filters())
def test_every_reason_of_a_filter_is_said_in_german(rule):
    decisions = apply_rules(filters()[rule], [rule]).decisions
    assert decisions
    assert unknown([decision.reason for decision in decisions]) == []


def test_every_text_and_pattern_is_translated():
    """The .po test sees to the holes; here each pattern must be there at all and find itself."""
    assert [text for text in (*TEXTS, *SENTENCES, *PIECES) if text not in KNOWN] == []
    for pattern in SENTENCES:
        filled = re.sub(r"%\((\w+)\)s", r"<\1>", pattern).replace("%%", "%")
        assert [phrases._filled(*one) for one in sentences_of(filled)] == [filled]
