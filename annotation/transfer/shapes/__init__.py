"""Shapes that others read: one file each. What each holds and what it can't is in docs/shapes.md."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Tables = dict[str, list[dict[str, object]]]


@dataclass(frozen=True)
class Shape:
    """A shape by name. Its module has `write(source, folder, step)` and, where it can be imported, `read(paths)`."""

    name: str
    title: str | Promise
    readable: bool = True

    @property
    def module(self) -> ModuleType:
        return import_module(f"{__name__}.{self.name}")

    @property
    def read(self) -> Callable[[Sequence[Path]], Tables]:
        reader: Callable[[Sequence[Path]], Tables] = self.module.read
        return reader


SHAPES = {
    shape.name: shape
    for shape in (
        Shape("realsumm", _("REALSumm's scores dictionary (JSON)")),
        Shape("summeval", _("SummEval's aligned annotations (JSON lines)")),
        Shape("rose", _("RoSE's ACU annotations (JSON lines)")),
        Shape("mturk", _("MTurk's result file (CSV)")),
        Shape("label_studio", _("Label Studio's tasks (JSON)"), readable=False),
    )
}
