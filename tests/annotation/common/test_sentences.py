"""What `analysis` and `scoring` say in English is said in German where a German page shows it, all of it."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from django.core.management import call_command
from django.utils import translation

from analysis.correlate import correlate
from analysis.filters import RULES, apply_rules
from analysis.report import Report, build_report
from analysis.sentence import Grouped, Sentence, join_sentences
from annotation.common.translation import from_column, to_column, translated, with_sentences
from annotation.jobs.page_cache import plain
from annotation.management.commands.makemessages import library_texts, templates
from annotation.protocols import PROTOCOLS
from annotation.results.quality import READINGS
from scoring import models, registry
from scoring.metrics.meteor import wordnet
from scoring.metrics.summaqa import questions
from scoring.models import word_vectors
from tests.analysis._matrices import table
from tests.analysis.filters.test_filters import GOOD, TRUTH, crowd, hit
from tests.analysis.support import table as rows
from tests.annotation.common.test_translation import KNOWN, parse

ONLY_HOLES = re.compile(r"(%\(\d+\)s(; | |$))*")
"""The template of sentences that are put together."""


def messages(text: str) -> Iterator[str]:
    """What is looked up to translate a text, with what stands in its holes."""
    if not isinstance(text, Sentence):
        yield text
        return
    if not ONLY_HOLES.fullmatch(text.template):
        yield text.template
    for value in text.values.values():
        if isinstance(value, Sentence):
            yield from messages(value)


def unknown(texts: list[str]) -> list[str]:
    """The messages that a German page would show in English."""
    return [message for text in texts for message in messages(text) if message not in KNOWN]


def test_what_every_rule_is_for_is_said_in_german():
    assert unknown([kind.summary for kind in RULES.values()]) == []


def test_what_every_metric_measures_is_said_in_german():
    assert unknown(sorted({registry.get(name).family.description.title for name in registry.known()})) == []


def test_what_a_metric_lacks_is_said_in_german(monkeypatch, tmp_path):
    """Here, and on a machine that has nothing of it."""
    missing = {registry.get(name).ready().missing for name in registry.known()} - {""}
    for room in (questions, word_vectors):
        monkeypatch.setattr(room, "find_spec", lambda name: None)
    lacking = [
        *missing,
        questions.readiness("en_core_web_sm").missing,
        word_vectors.ready(word_vectors.DEFAULT).missing,
        *(models.how_to_get(name) for name in (models.DEFAULT, str(tmp_path), "some/model")),
        _without_wordnet(monkeypatch, tmp_path),
        registry.get("meteor[tables=release]").ready().missing,
    ]
    monkeypatch.setattr(questions, "find_spec", lambda name: True if name == "spacy" else None)
    lacking.append(questions.readiness("en_core_web_sm").missing)
    assert all(isinstance(text, Sentence) for text in lacking)
    assert unknown(lacking) == []
    with translation.override("de"):
        assert translated(lacking[-1]).startswith("Die spaCy-Pipeline en_core_web_sm ist nicht da;")


def _without_wordnet(monkeypatch, folder: Path) -> str:
    monkeypatch.setenv("WORDNET_DIR", str(folder))
    monkeypatch.setenv("METEOR_DIR", str(folder))
    missing = registry.get("meteor").ready().missing
    assert missing == f"WordNet is not here; {wordnet.HOW}, or use meteor[synonyms=no]."
    return missing


def test_every_coefficient_and_level_is_said_in_german():
    levels = [protocol.level for protocol in PROTOCOLS.values()]
    assert unknown([*levels, *READINGS, *(name for kind in READINGS.values() for name, _ in kind)]) == []


def test_a_new_text_would_be_missed():
    assert unknown(["A worker whose name begins with X is dropped."]) == [
        "A worker whose name begins with X is dropped."
    ]
    new = Sentence("%(n)s more words", {"n": 3})
    assert unknown([new, join_sentences([Sentence("left out"), new])]) == ["%(n)s more words"] * 2


def texts_of(report: Report) -> list[str]:
    heads = [text for section in report.sections for text in (section.heading, section.text)]
    captions = [text for figure in report.figures for text in (figure.title, figure.caption)]
    return [report.verdict, *report.warnings, *heads, *captions, report.methods]


def scores(systems: int, documents: int, noise: float) -> pd.DataFrame:
    """A human measure, a metric that follows it, one that doesn't, and one that goes the other way."""
    rng = np.random.default_rng(0)
    human = np.clip(rng.normal(np.linspace(0.2, 0.8, systems)[:, None], 0.1, (systems, documents)), 0, 1)
    rows = table(h=human, good=human + rng.normal(0, noise, human.shape), chance=rng.random(human.shape), low=1 - human)
    return rows.assign(group=np.where(rows["system"] < f"s{systems // 2}", "abs", "ext"))


def judgments_of(frame: pd.DataFrame) -> pd.DataFrame:
    human = frame[frame["metric"] == "h"]
    answers = human[["doc_id", "system"]].assign(unit="u", value=(human["value"] > 0.5).astype(float))
    return pd.concat([answers.assign(worker_id=worker) for worker in ("a", "b")])


def reports() -> dict[str, Report]:
    few_scores, many_scores = scores(6, 5, 0.05), scores(12, 9, 0.01)
    constant = table(h=np.full((4, 3), 0.5), m=np.random.default_rng(1).random((4, 3)))
    twins = pd.concat([few_scores, few_scores[few_scores["system"] == "s0"].assign(system="twin")])
    texts = twins[["doc_id", "system"]].drop_duplicates().assign(summary="the same")
    gaps = few_scores[~((few_scores["metric"] == "good") & (few_scores["system"] == "s1"))]
    gaps = gaps[~((gaps["metric"] == "low") & (gaps["system"] == "s2") & (gaps["doc_id"] == "d0"))]
    gaps = gaps[~((gaps["metric"] == "chance") & (gaps["doc_id"] == "d1"))]
    filtered = Sentence(
        "The judgments were filtered by %(rules)s, seed %(seed)s.", {"rules": "majority-dissent", "seed": 0}
    )
    common, judgments = {"human": "h", "resamples": 50}, judgments_of(few_scores)
    return {
        "few": build_report(few_scores, judgments=judgments, filtered=filtered, where=("group=abs",), **common),
        "many": build_report(many_scores, **common),
        "rough": build_report(scores(12, 9, 0.5), metrics=["good"], **common),
        "sure": build_report(many_scores, metrics=["good"], **common),
        "chance": build_report(few_scores, metrics=["chance"], **common),
        "no metric": build_report(few_scores[few_scores["metric"] == "h"], **common),
        "two systems": build_report(few_scores[few_scores["system"].isin(["s0", "s1"])], **common),
        "constant": build_report(constant, **common),
        "twins": build_report(twins, summaries=texts, **common),
        "gaps": build_report(gaps, **common),
    }


@pytest.fixture(scope="module")
def reports_made() -> dict[str, Report]:
    return reports()


def test_every_sentence_of_reports_is_said_in_german(reports_made):
    texts = [text for report in reports_made.values() for text in texts_of(report)]
    assert all(isinstance(text, Sentence) for text in texts)
    assert unknown(texts) == []


def test_numbers_and_names_stay_in_a_sentence_that_is_said_in_german(reports_made):
    english = reports_made["few"].verdict
    with translation.override("de"):
        german = translated(english)
    assert german != english
    assert german.startswith("Hier (6 Systeme, 5 Dokumente) kann low für Menschen einstehen")
    assert re.findall(r"\d*\.\d+", german) == re.findall(r"\d*\.\d+", english)
    assert " and " not in german


def test_missing_scores_are_named_in_german(reports_made):
    with translation.override("de"):
        notes = [translated(note) for note in reports_made["gaps"].warnings]
    assert "good hat 25 von 30 Werten; nichts für s1." in notes
    assert any(note.startswith("good: 1 von 6 Systemen bleiben außen vor") for note in notes)


def test_numbers_are_grouped_as_the_language_does():
    text = Sentence("It rests on %(n)s judgments by %(workers)s workers.", {"n": Grouped(12_345), "workers": 1000})
    assert text == "It rests on 12,345 judgments by 1000 workers."
    assert translated(text) == text
    with translation.override("de"):
        german = translated(text)
    assert re.findall(r"[\d.,]*\d", german) == ["12.345", "1000"]


def test_a_correlation_over_some_systems_is_explained_in_german():
    scores = table(h=np.array([[0.1], [0.2], [0.3], [np.nan]]), m=np.array([[0.5], [0.5], [0.5], [0.7]]))
    note = correlate(scores, human="h")[0].note
    assert note.endswith("because the scores of m are the same for all systems that have both.")
    with translation.override("de"):
        assert translated(note).endswith("(die Werte von m sind bei allen Systemen gleich, die beide Werte haben).")


def test_english_readers_get_the_very_words(reports_made):
    texts = [text for report in reports_made.values() for text in texts_of(report)]
    assert [translated(text) for text in texts] == texts
    assert translated("Anything else.") == "Anything else."


def test_what_has_no_translation_stays_as_it_is():
    with translation.override("de"):
        assert translated("A sentence that nobody has translated.") == "A sentence that nobody has translated."
        assert translated(Sentence("%(n)s %% of it", {"n": 3})) == "3 % of it"
        assert translated("") == ""


def test_names_in_a_sentence_are_never_translated():
    with translation.override("de"):
        assert translated(Sentence("nothing for %(names)s", {"names": "left out"})) == "nichts für left out"


def test_stored_pages_keep_their_sentences(reports_made):
    """Template and values are in the database, the reader's language is not; a text from before is shown as it is."""
    texts = [*texts_of(reports_made["gaps"]), *texts_of(reports_made["few"]), "As it was stored once."]
    restored = with_sentences(json.loads(json.dumps(plain({"texts": texts}))))["texts"]
    assert restored == texts
    with translation.override("de"):
        assert [translated(text) for text in restored] == [translated(text) for text in texts]


def test_a_column_keeps_a_sentence(reports_made):
    for text in (reports_made["few"].verdict, Sentence("left out"), "As it was stored once."):
        assert from_column(to_column(text)) == text
        assert type(from_column(to_column(text))) is type(text)


def filters() -> dict[str, pd.DataFrame]:
    """Rules, each with judgments in which it finds somebody."""
    answers = {**GOOD, **{f"more{i}": TRUTH.tolist() for i in range(6)}}
    odd_crowd = crowd({**answers, "bad": (1 - TRUTH).tolist(), "yes": [1] * 40, "zigzag": [0, 1] * 20})
    spread = np.exp(np.random.default_rng(0).normal(0, 0.3, len(odd_crowd)))
    odd_crowd["seconds"] = np.where(odd_crowd["worker_id"] == "bad", 1.0, 10.0) * spread
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
        "time": odd_crowd,
        "time[floor=3,z=100]": odd_crowd,
        "straightlining": odd_crowd,
        "signals": rows(signs, "doc_id system unit worker_id value pastes focus_losses"),
        "majority-dissent": hit("1110", "1110", "1101", "0011"),
        "majority-dissent[]": hit("110", "101", "011", "111"),
        "worker-agreement": odd_crowd,
        "bad-reference[system=planted]": rows(rated),
    }


@pytest.mark.parametrize("rule", filters())
def test_every_reason_of_a_filter_is_said_in_german(rule):
    decisions = apply_rules(filters()[rule], [rule]).decisions
    assert decisions
    assert unknown([decision.reason for decision in decisions]) == []


def test_every_text_of_the_libraries_is_translated():
    """The .po test sees to the holes."""
    texts = library_texts()
    assert len(texts) > 100
    assert [text for text in texts if text not in KNOWN] == []


def test_every_template_is_a_literal():
    """Otherwise makemessages would overlook it; only what puts sentences together makes a template up."""
    assert [file for file, template in templates() if not isinstance(template, ast.Constant)] == ["sentence.py"]


def test_makemessages_collects_them_beside_the_texts_of_the_site(tmp_path, monkeypatch, settings):
    settings.LOCALE_PATHS = []
    (tmp_path / "locale").mkdir()
    (tmp_path / "page.html").write_text('{% load i18n %}{% translate "A text of the site" %}')
    monkeypatch.chdir(tmp_path)
    call_command("makemessages", locale=["de"], verbosity=0)
    messages = parse((tmp_path / "locale/de/LC_MESSAGES/django.po").read_text())
    assert {entry.msgid for entry in messages if entry.msgid} == {"A text of the site", *library_texts()}
