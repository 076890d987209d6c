"""What an export holds and in which form."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.common.errors import Refused
from annotation.transfer.shapes import SHAPES

from .writers import FORMS

TABLES = {
    "documents": _("the documents with their references"),
    "summaries": _("the systems' summaries"),
    "scus": _("the SCUs"),
    "judgments": _("every judgment that counts, before the filter"),
    "judgments_kept": _("the judgments that the filter in force keeps: what the scores are made of"),
    "judgments_dropped": _("the judgments it leaves out, each with its reason"),
    "human_scores": _("one human score per summary and measure"),
    "scores": _("metric scores, and human scores that were imported"),
    "assignments": _("every assignment with its times and signals"),
    "ledger": _("every payment and promise (admins only)"),
}
FOR_ADMINS = ("ledger",)
USUAL = tuple(name for name in TABLES if name not in FOR_ADMINS)


class NotForYou(Refused):
    status = 403
    sentence = _("Worker ids and money leave the study with admins only. Nothing was exported.")


@dataclass(frozen=True)
class ExportOptions:
    """An empty form means: texts as JSON lines, everything else as CSV."""

    tables: tuple[str, ...] = USUAL
    shapes: tuple[str, ...] = ()
    form: str = ""
    texts: bool = True
    raw_workers: bool = False

    @classmethod
    def checked(
        cls,
        tables: Iterable[str] | None = None,
        shapes: Iterable[str] = (),
        form: str = "",
        texts: bool = True,
        raw_workers: bool = False,
    ) -> "ExportOptions":
        """Checked: an unknown name is answered with the known ones. No tables and no shapes means the usual tables."""
        table_names, shape_names = tuple(dict.fromkeys(tables or ())), tuple(dict.fromkeys(shapes))
        _check_names(table_names, TABLES, gettext("table"))
        _check_names(shape_names, SHAPES, gettext("shape"))
        _check_names((form,) if form else (), FORMS, gettext("form"))
        if shape_names and not texts:
            raise Refused(gettext("The shapes that others read hold texts; ask for tables only. Nothing was exported."))
        return cls(table_names or (() if shape_names else USUAL), shape_names, form, texts, raw_workers)

    @classmethod
    def from_json(cls, options: Mapping[str, Any]) -> "ExportOptions":
        return cls.checked(**{name: options[name] for name in asdict(cls()) if name in options})

    def as_json(self) -> dict[str, Any]:
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @property
    def for_admins(self) -> bool:
        return self.raw_workers or any(name in FOR_ADMINS for name in self.tables)

    def suffix(self, table: str) -> str:
        default = "jsonl" if table in ("documents", "summaries") else "csv"
        return f".{self.form or default}"


def _check_names(names: Iterable[str], choices: Iterable[str], kind: str) -> None:
    for name in names:
        if name not in choices:
            raise Refused(
                gettext("There is no %(what)s “%(name)s”. Known: %(known)s. Nothing was exported.")
                % {"what": kind, "name": str(name)[:60], "known": ", ".join(choices)}
            )
