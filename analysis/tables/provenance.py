"""Where a result came from: enough to make it again, byte for byte."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from analysis.tables import VERSION, write_atomically

PACKAGES = ("numpy", "pandas", "pyarrow", "scipy", "krippendorff")


def file_hash(path: str | Path) -> str:
    """SHA-256 of a file."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def versions(packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """Versions of the project, of Python and of the libraries that a number can depend on."""
    versions_by_package = {"pyramidion": VERSION, "python": platform.python_version()}
    for package in packages:
        try:
            versions_by_package[package] = version(package)
        except PackageNotFoundError:
            versions_by_package[package] = "not installed"
    return versions_by_package


def provenance(
    command: str, inputs: Iterable[str | Path], options: Mapping[str, object], seed: int
) -> dict[str, object]:
    """The record that stands beside an output: no clock in it, so the same run gives the same record."""
    return {
        "command": command,
        "inputs": {Path(path).name: file_hash(path) for path in inputs},
        "options": {name: options[name] for name in sorted(options)},
        "seed": seed,
        "versions": versions(),
    }


def write_provenance(output: str | Path, record: Mapping[str, object]) -> Path:
    """Write the record beside an output file, as `NAME.provenance.json`."""
    path = Path(f"{output}.provenance.json")
    text = json.dumps(record, ensure_ascii=False, indent=1, default=str)
    write_atomically(path, f"{text}\n".encode())
    return path
