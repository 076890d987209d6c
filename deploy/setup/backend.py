"""Builds the wheel `pyramidion-eval` (PEP 517), with nothing but Python itself: `pip wheel .`.

The rooms keep their names where the site runs: they lie in `pyramidion/_site`, which only the site's own processes have
on their path. The two libraries are there once more as `pyramidion.analysis` and `pyramidion.scoring`, their imports
mapped to these names, so that nobody's own `analysis` or `scoring` is in the way (docs/decisions/0018-package.md).
"""

from __future__ import annotations

import base64
import hashlib
import re
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ROOMS = ("analysis", "annotation", "deploy", "fixtures", "scoring")
LIBRARIES = ("analysis", "scoring")
EXTRAS = {
    "site": ("site",),
    "models": ("site", "models"),
    "cluster": ("site", "models", "cluster"),
    "postgres": (),
}
LEFT_OUT = {"__pycache__", "containers", "systemd", "pyramidion"}
"""Folders of the rooms that a package has no use for."""
IMPORTS = re.compile(r"^(\s*from )(analysis|scoring)\b", re.MULTILINE)
DOTTED = re.compile(r"(import_module\(f?\")(analysis|scoring)\b")
TIME = (2020, 1, 1, 0, 0, 0)  # the same files give the same wheel


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    """Write the wheel into a folder; returns its name."""
    project = _project()
    stem = f"{project['name'].replace('-', '_')}-{project['version']}"
    name = f"{stem}-py3-none-any.whl"
    records = []
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in [*_files(), *_facts(project, f"{stem}.dist-info")]:
            archive.writestr(_entry(path), data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            records.append(f"{path},sha256={digest},{len(data)}")
        record = f"{stem}.dist-info/RECORD"
        archive.writestr(_entry(record), "\n".join([*records, f"{record},,", ""]))
    return name


def _entry(path: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(path, TIME)
    entry.external_attr = 0o644 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _project() -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return project


def _files() -> Iterator[tuple[str, bytes]]:
    """Every file of the package with its place."""
    for path in _below(HERE / "pyramidion"):
        yield f"pyramidion/{path.relative_to(HERE / 'pyramidion').as_posix()}", path.read_bytes()
    for room in ROOMS:
        for path in _below(ROOT / room):
            yield f"pyramidion/_site/{path.relative_to(ROOT).as_posix()}", path.read_bytes()
    yield "pyramidion/_site/manage.py", (ROOT / "manage.py").read_bytes()
    for room in LIBRARIES:
        for path in _below(ROOT / room):
            data = path.read_bytes()
            mapped = map_imports(data.decode()).encode() if path.suffix == ".py" else data
            yield f"pyramidion/{path.relative_to(ROOT).as_posix()}", mapped


def _below(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            yield from _below(path) if path.name not in LEFT_OUT else ()
        elif path.suffix != ".pyc":
            yield path


def map_imports(source: str) -> str:
    """The libraries' imports of each other under the package's name."""
    return DOTTED.sub(r"\1pyramidion.\2", IMPORTS.sub(r"\1pyramidion.\2", source))


def _facts(project: dict[str, Any], folder: str) -> Iterator[tuple[str, bytes]]:
    scripts = "".join(f"{name} = {target}\n" for name, target in project["scripts"].items())
    yield f"{folder}/METADATA", _metadata(project).encode()
    yield f"{folder}/WHEEL", b"Wheel-Version: 1.0\nGenerator: pyramidion\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    yield f"{folder}/entry_points.txt", f"[console_scripts]\n{scripts}".encode()


def _metadata(project: dict[str, Any]) -> str:
    lines = [
        "Metadata-Version: 2.3",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"Requires-Python: {project['requires-python']}",
        f"License: {project['license']}",
        "Description-Content-Type: text/markdown",
        *(f"Requires-Dist: {pin}" for pin in pins("start")),
    ]
    for extra, parts in EXTRAS.items():
        lines.append(f"Provides-Extra: {extra}")
        chosen = [pin for part in parts for pin in pins(part)] or [pin for pin in pins("site") if "psycopg" in pin]
        lines += [f"Requires-Dist: {pin}; extra == '{extra}'" for pin in chosen]
    readme = (ROOT / "README.md").read_text("utf-8")
    return "\n".join(lines) + f"\n\n{readme}"


def pins(part: str) -> list[str]:
    """The libraries of a part, as `requirements-PART.txt` pins them."""
    lines = (ROOT / f"requirements-{part}.txt").read_text("utf-8").splitlines()
    return [line.strip() for line in lines if "==" in line and not line.startswith("#")]
