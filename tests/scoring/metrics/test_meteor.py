"""METEOR: alignments against an integer programme, scores against a second formula and against nltk."""

from __future__ import annotations

import gzip
import re
import shutil
import warnings
from pathlib import Path
from zipfile import ZipFile

import nltk
import numpy as np
import pytest
from nltk.corpus.reader.wordnet import WordNetCorpusReader
from nltk.stem.porter import PorterStemmer
from nltk.stem.snowball import EnglishStemmer
from nltk.translate.meteor_score import meteor_score
from scipy.optimize import LinearConstraint, milp

from analysis.tables import read_table
from scoring import registry
from scoring.metrics.meteor import MeteorFamily, release
from scoring.metrics.meteor.wordnet import WordNet, folder
from scoring.texts_english import STOP_WORDS

WEIGHTS = (1.0, 0.6, 0.8)


@pytest.fixture(scope="module")
def sentences(realsumm: Path) -> list[tuple[list[str], list[str]]]:
    """A hundred pairs of sentences that share words, as tokens."""
    documents = read_table(realsumm / "documents.jsonl.gz", "documents").set_index("doc_id")["references"]
    summaries = read_table(realsumm / "summaries.jsonl.gz", "summaries")
    rows = summaries[summaries["system"] == "bart_out"]
    pairs = []
    for doc_id, summary in zip(rows["doc_id"], rows["summary"], strict=True):
        summary_tokens = re.findall(r"\w+|[^\w\s]", summary[0].lower())[:25]
        reference_tokens = re.findall(r"\w+|[^\w\s]", documents[doc_id][0][0].lower())[:25]
        pairs.append((summary_tokens, reference_tokens))
    return pairs


class _Reader(WordNetCorpusReader):
    """nltk's reader without its map to other versions, which needs files that only its own downloads have."""

    def map_wn(self, version: str = "wordnet") -> None:
        return None


@pytest.fixture(scope="module")
def reader(net: WordNet, tmp_path_factory: pytest.TempPathFactory) -> WordNetCorpusReader:
    """nltk's own reader on the same files; Debian leaves out `lexnames`, which METEOR doesn't look at."""
    place = folder()
    assert place is not None
    copy = tmp_path_factory.mktemp("wordnet")
    for file in place.glob("*.*"):
        shutil.copy(file, copy)
    names = ["noun"] * 45
    (copy / "lexnames").write_text("".join(f"{i:02d}\t{name}.x{i}\t1\n" for i, name in enumerate(names)))
    nltk.data.path.append(str(copy))  # nltk reads only below folders that it was told
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # other languages are not available
        return _Reader(str(copy), None)


def module(summary_word: str, reference_word: str, reader: WordNetCorpusReader, stem: EnglishStemmer) -> int | None:
    if summary_word == reference_word:
        return 0
    if stem.stem(summary_word) == stem.stem(reference_word):
        return 1
    return 2 if set(reader.synsets(summary_word)) & set(reader.synsets(reference_word)) else None


def best_links(links: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Most words covered, then fewest chunks, then least distance, then strictest modules: one integer programme."""
    neighbours = [
        (a, b) for a, (i, j, _) in enumerate(links) for b, (k, m, _) in enumerate(links) if (k, m) == (i + 1, j + 1)
    ]
    size = len(links) + len(neighbours)
    # Weights that no sum of later criteria can reach: distance < 625, modules < 50.
    gain = [1e6 - 2e4 - 20 * abs(i - j) - 0.2 * kind for i, j, kind in links] + [2e4] * len(neighbours)
    rows, limits = [], []
    for side in (0, 1):
        for place in {link[side] for link in links}:
            row = np.zeros(size)
            row[[a for a, link in enumerate(links) if link[side] == place]] = 1
            rows.append(row)
            limits.append(1)
    for y, pair in enumerate(neighbours):
        for x in pair:
            row = np.zeros(size)
            row[len(links) + y], row[x] = 1, -1
            rows.append(row)
            limits.append(0)
    solution = milp(
        -np.array(gain), integrality=np.ones(size), bounds=(0, 1),
        constraints=LinearConstraint(np.array(rows), -np.inf, np.array(limits)), options={"mip_rel_gap": 0},
    )  # fmt: skip
    assert solution.success
    return [link for link, weight in zip(links, solution.x[: len(links)], strict=True) if weight > 0.5]


def second_meteor(summary: list[str], reference: list[str], reader: WordNetCorpusReader) -> float:
    stem = EnglishStemmer()
    links = [
        (i, j, kind)
        for i, a in enumerate(summary)
        for j, b in enumerate(reference)
        if (kind := module(a, b, reader, stem)) is not None
    ]
    if not links:
        return 0.0
    aligned = best_links(links)

    def weigh(word: str) -> float:
        return 0.25 if word in STOP_WORDS or re.fullmatch(r"[^\w\s]", word) else 0.75

    p = sum(WEIGHTS[k] * weigh(summary[i]) for i, _, k in aligned) / sum(map(weigh, summary))
    r = sum(WEIGHTS[k] * weigh(reference[j]) for _, j, k in aligned) / sum(map(weigh, reference))
    pairs = {(i, j) for i, j, _ in aligned}
    chunks = sum((i - 1, j - 1) not in pairs for i, j in pairs)
    mean = p * r / (0.85 * p + 0.15 * r)
    if chunks == 1 and len(aligned) == len(summary) == len(reference):
        return mean  # the release has no penalty for equal texts
    return (1 - 0.6 * (chunks / len(aligned)) ** 0.2) * mean


def test_a_hundred_pairs_equal_a_second_computation(
    sentences: list[tuple[list[str], list[str]]], reader: WordNetCorpusReader
) -> None:
    family = registry.get("meteor[tables=own]").family
    assert isinstance(family, MeteorFamily)
    scores = [family.compare(summary, reference)[1].score for summary, reference in sentences]
    expected = [second_meteor(summary, reference, reader) for summary, reference in sentences]
    assert len(scores) == 100
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


def test_the_older_form_equals_nltk_on_a_hundred_summaries(realsumm: Path, reader: WordNetCorpusReader) -> None:
    documents = read_table(realsumm / "documents.jsonl.gz", "documents").set_index("doc_id")["references"]
    summaries = read_table(realsumm / "summaries.jsonl.gz", "summaries")
    rows = summaries[summaries["system"] == "t5_out_large"]
    metric = registry.get("meteor[variant=nltk]")
    porter = PorterStemmer()
    assert len(rows) == 100
    for doc_id, summary in zip(rows["doc_id"], rows["summary"], strict=True):
        texts = [" ".join(text) for text in documents[doc_id]]
        tokens = [re.findall(r"\w+|[^\w\s]", text.lower()) for text in texts]
        summary_tokens = re.findall(r"\w+|[^\w\s]", " ".join(summary).lower())
        expected = meteor_score(tokens, summary_tokens, stemmer=porter, wordnet=reader)
        (value,) = metric.evaluate_example(" ".join(summary), texts).values()
        assert value == pytest.approx(expected, abs=1e-12)


def test_by_hand() -> None:
    # cats sat down | cat sat: two links in one chunk, cats by stem. "down" is a function word, weight .25 to .75:
    # P = (.6 + 1) · .75 / (.75 + .75 + .25) = .685714, R = 1.6 · .75 / 1.5 = .8,
    # mean = P · R / (.85 P + .15 R) = .780488, penalty .6 · (1/2)^.2 = .522330, score .372815.
    (value,) = registry.get("meteor[synonyms=no,tables=own]").evaluate_example("cats sat down", "cat sat").values()
    assert value == pytest.approx(0.780488 * (1 - 0.522330), abs=1e-6)
    # Texts that match word by word have no penalty.
    assert registry.get("meteor[synonyms=no,tables=own]").evaluate_example("a cat sat", "a cat sat") == {
        "meteor[synonyms=no,tables=own]": pytest.approx(1.0)
    }


def test_the_best_reference_counts_and_empty_texts_score_zero() -> None:
    metric = registry.get("meteor[synonyms=no,tables=own]")
    (value,) = metric.evaluate_example("a cat sat", ["nothing here", "a cat sat"]).values()
    assert value == pytest.approx(1.0)
    assert list(metric.evaluate_example("", "a cat").values()) == [0.0]
    assert list(metric.evaluate_example("a cat", "").values()) == [0.0]


def test_without_wordnet_it_refuses_and_says_what_helps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WORDNET_DIR", str(tmp_path))
    monkeypatch.setenv("METEOR_DIR", str(tmp_path))
    state = registry.get("meteor").ready()
    assert not state.ok
    assert "WORDNET_DIR" in state.missing
    assert registry.get("meteor[synonyms=no,tables=own]").ready().ok


@pytest.mark.parametrize("word", ["cats", "geese", "running", "dogs", "better", "wolves", "was", "qqq", "naïve", "10"])
def test_our_reader_finds_the_synsets_that_nltk_finds(word: str, net: WordNet, reader: WordNetCorpusReader) -> None:
    expected = {(synset.pos().replace("s", "a"), synset.offset()) for synset in reader.synsets(word)}
    short = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
    assert {(short[pos], int(offset)) for pos, offset in net.synsets[word]} == expected
    names = {name for synset in reader.synsets(word) for name in synset.lemma_names() if "_" not in name}
    assert net.names[word] == names


def test_the_version_is_known(net: WordNet) -> None:
    assert net.version == "3.0"
    assert "wordnet:3.0" in registry.signature("meteor[tables=own]")


@pytest.fixture
def small_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A release with a handful of words, in the layout of the real one."""
    lists = {
        "function/english.words": "the\n.\nof\n",
        "nonbreaking/english.prefixes": "# abbreviations\nMr\nNo #NUMERIC_ONLY#\n",
        "synonym/english.exceptions": "mouse\nmice\n",
        "synonym/english.synsets": "mouse\n1\nrodent\n1 2\ncar\n3\nauto\n3\n",
    }
    with ZipFile(tmp_path / "meteor-1.5.jar", "w") as jar:
        for name, text in lists.items():
            jar.writestr(name, text)
    (tmp_path / "data").mkdir()
    rows = [("a lot of", "many"), ("a lot of", "much"), ("kick", "hit")]  # sorted by phrase, as the release's table is
    table = "".join(f"0.5\n{phrase}\n{paraphrase}\n" for phrase, paraphrase in rows)
    (tmp_path / "data" / "paraphrase-en.gz").write_bytes(gzip.compress(table.encode()))
    monkeypatch.setenv("METEOR_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def test_with_the_releases_tables_phrases_match_their_paraphrases(small_release: Path) -> None:
    # "many mice" | "a lot of rodents": no exact match; many = a lot of (paraphrase, one word against three), mice has
    # the base form mouse and rodents rodent, which share synset 1 (weight .8). "of" is a function word (.25, else .75).
    # P = (.6 · .75 + .8 · .75) / 1.5 = .7; R = (.6 · (.75 + .75 + .25) + .8 · .75) / (3 · .75 + .25) = .66;
    # F = P R / (.85 P + .15 R) = .665705...; all words are covered in one chunk, so there is no penalty.
    metric = registry.get("meteor")
    (value,) = metric.evaluate_example("Many mice", "a lot of rodents").values()
    assert value == pytest.approx(0.7 * 0.66 / (0.85 * 0.7 + 0.15 * 0.66), abs=1e-12)
    assert "paraphrases:1.5|words:1.5-norm" in metric.signature
    assert metric.needs == ("references",)
    explanation = metric.family.explain("meteor", metric.document("a lot of rodents", None), "Many mice")
    assert explanation is not None
    assert [(unit.text, unit.passage) for unit in explanation.units] == [
        ("many – a lot of", "paraphrase"),
        ("mice – rodents", "synonym"),
    ]
    assert [(span.start, span.end, span.kind) for span in explanation.passages[1].spans][:3] == [
        (0, 1, "paraphrase"),
        (2, 5, "paraphrase"),
        (6, 8, "paraphrase"),
    ]


def test_own_tables_and_no_release_are_one_variant_with_one_signature(
    small_release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = registry.signature("meteor[synonyms=no,tables=own]")
    assert "paraphrases:none" in own
    monkeypatch.setenv("METEOR_DIR", "/nowhere")
    assert registry.signature("meteor[synonyms=no]") == own
    state = registry.get("meteor[tables=release]").ready()
    assert not state.ok
    assert "pip install --no-deps pycocoevalcap==1.2" in state.missing


def test_a_run_says_which_meteor_it_was(small_release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("meteor[synonyms=no]", "meteor[synonyms=no,tables=own]", "meteor[variant=nltk,synonyms=no]")
    for name in names:
        assert registry.get(name).family.warnings({}, 1) == ()
    monkeypatch.setenv("METEOR_DIR", "/nowhere")
    told = [registry.get(name).family.warnings({}, 1) for name in names]
    assert "our own variant (paraphrases:none" in told[0][0]
    assert told[1:] == [(), ()]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Mr. Smith said.", "mr. smith said ."),
        ("See No. 5. Then no. more", "see no. 5 . then no. more"),
        ("the U.S. team’s 1,000 fans, “well”...", 'the us team \'s 1,000 fans , " well " ...'),
        ("state-of-the-art -- don't 1990's", "state of the art - don 't 1990 's"),
    ],
)
def test_words_are_normalised_as_the_release_does(small_release: Path, text: str, words: str) -> None:
    assert " ".join(release.require().tokens(text)) == words


def test_the_index_is_written_once_and_whole(small_release: Path) -> None:
    find = release.require().paraphrases.of_phrase
    assert find["a lot of"] == ("many", "much")
    assert find["kick"] == ("hit",)
    assert find["a lot"] == find["zzz"] == find[""] == ()
    (index,) = (small_release / "cache" / "pyramidion").iterdir()
    assert index.read_bytes() == b"a lot of\tmany\tmuch\nkick\thit\n"
