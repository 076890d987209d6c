"""The form that makes a batch: what is judged, how, by how many. Read here, shown by new_batch.html."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation import protocols
from annotation.common.errors import Refused
from annotation.common.parsing import parse_int
from annotation.judging.pace import usual_seconds
from annotation.models import REFERENCE_GROUP, Batch, Study
from annotation.protocols import Protocol
from annotation.protocols.descriptions import OptionField

from .batches import create_batch
from .selection import Selection

OWN_ROWS = 3  # empty rows for dimensions of one's own
DIMENSION_PARTS = ("name", "definition", "low", "high")


@dataclass(frozen=True)
class Field:
    """An option with what stands in its form."""

    option: OptionField
    value: Any

    @property
    def name(self) -> str:
        return f"option:{self.option.name}"

    @property
    def choices(self) -> list[tuple[str, Any, Any]]:
        """Each choice with its words and what stands for it: its number, or whether it is chosen."""
        if self.option.kind == "numbers":
            return [(key, words, self.value.get(key, 0)) for key, words in self.option.choices]
        values = self.value if isinstance(self.value, list) else [self.value]
        return [(key, words, key in values) for key, words in self.option.choices]

    @property
    def own_dimensions(self) -> list[Mapping[str, str]]:
        dimensions = [entry for entry in self.value if isinstance(entry, Mapping)]
        return [*dimensions, *[{}] * max(1, OWN_ROWS - len(dimensions))]


def make_batch(study: Study, form: QueryDict) -> Batch:
    """The batch that the form describes. Refused says what is wrong; then nothing is made."""
    protocol = form.get("protocol", "")
    return create_batch(
        study,
        form.get("name", "").strip()[:200] or _("Batch"),
        protocol,
        parse_int(form.get("quota", "")[:18]),
        read_options(protocol, form),
        role="expert" if form.get("expert") else "crowd",
        judged=read_selection(form),
        quota_by_group=dict(_group_quotas(form)),
    )


@dataclass(frozen=True)
class Size:
    """What a form would make: tasks, answers, and about how much work and money that is."""

    tasks: int
    answers: int
    hours: float
    measured: int  # answers of this study by which the time is known; 0: a usual time
    cents: int | None  # rewards without fees; None where no rate is known
    rate: str  # where the rate is from: a batch's name, or empty for the minimum wage

    @property
    def minutes(self) -> int:
        return max(round(self.hours * 60), 1)

    @property
    def quota(self) -> int | None:
        """Answers per task, where all tasks have the same number."""
        return self.answers // self.tasks if self.tasks and self.answers % self.tasks == 0 else None


def size_of(study: Study, form: QueryDict) -> Size:
    """What the form would make, counted on a batch that is made and taken back."""
    with transaction.atomic():
        batch = make_batch(study, with_free_name(study, form))
        quotas = list(batch.tasks.values_list("quota", flat=True))
        transaction.set_rollback(True)
    answers = sum(quotas)
    seconds, measured = usual_seconds(study.pk, batch.protocol)
    hours = answers * (seconds or protocols.get(batch.protocol).usual_minutes * 60) / 3600
    cents, rate = _cost(study, batch.protocol, answers, hours)
    return Size(len(quotas), answers, hours, measured, cents, rate)


def _cost(study: Study, protocol: str, answers: int, hours: float) -> tuple[int | None, str]:
    """By the reward of the newest launched batch of this protocol; otherwise by the study's minimum wage."""
    launched = study.batches.filter(protocol=protocol).exclude(terms={}).order_by("-pk").first()
    if launched is not None and isinstance(launched.terms.get("reward_cents"), int):
        per_task = launched.terms["reward_cents"] / max(launched.terms.get("tasks_per_participant") or 1, 1)
        return round(answers * per_task), launched.name
    wage = study.minimum_wage_cents
    return (None, "") if wage is None else (round(hours * wage), "")


def with_free_name(study: Study, form: QueryDict) -> QueryDict:
    """A look at a batch is not refused for its name: that is said when it is made."""
    copy = form.copy()
    copy["name"] = f"preview {study.batches.count()} {form.get('name', '')}"[:200]
    return copy


def read_options(name: str, form: QueryDict) -> dict[str, Any]:
    """The protocol's options as they stand in the form; those that the form has no field for keep their defaults."""
    protocol = protocols.PROTOCOLS.get(name)
    if protocol is None:
        return {}
    if "options" not in form:  # a short form, as scripts send it: all by default
        return {"evidence": True} if form.get("evidence") else {}
    return {field.name: _read(field, form) for field in protocol.option_form()}


def _read(field: OptionField, form: QueryDict) -> Any:
    name = f"option:{field.name}"
    match field.kind:
        case "flag":
            return bool(form.get(name))
        case "number":
            return _whole(form.get(name, ""), field)
        case "scale":
            return [_whole(form.get(f"{name}:{end}", ""), field) for end in ("low", "high")]
        case "numbers":
            numbers = {key: _whole(form.get(f"{name}:{key}", "") or "0", field) for key, _words in field.choices}
            return {key: number for key, number in numbers.items() if number}
        case "dimensions":
            return [*form.getlist(name), *_own_dimensions(name, form)]
        case _:
            return form.get(name, "")


def _whole(text: str, field: OptionField) -> int:
    number = text.strip()
    if not number.lstrip("-").isdecimal() or not number.isascii() or len(number) > 9:
        raise Refused(
            _("“%(label)s” is “%(text)s”, but must be a whole number. No batch was made.")
            % {"label": field.label, "text": text[:40]}
        )
    return int(number)


def _own_dimensions(name: str, form: QueryDict) -> Iterator[dict[str, str]]:
    columns = [form.getlist(f"{name}:{column}") for column in DIMENSION_PARTS]
    for cells in zip(*columns, strict=False):
        texts = dict(zip(DIMENSION_PARTS, (cell.strip()[:500] for cell in cells), strict=True))
        if texts["name"]:
            yield {"title": texts["name"], **texts}
        elif any(texts.values()):
            raise Refused(_("A dimension of your own has no name. No batch was made."))


def read_selection(form: QueryDict) -> Selection:
    """What is judged; quantiles are given as percentages."""
    documents = [line.strip() for line in form.get("documents", "").splitlines()]
    return Selection(
        documents=[line for line in documents if line],
        systems=form.getlist("systems"),
        sample=form.getlist("sample"),
        metric=form.get("metric", ""),
        low=_share(form.get("low", ""), 0.0),
        high=_share(form.get("high", ""), 1.0),
        disputed=form.getlist("disputed"),
        most=parse_int(form.get("most", "")) if form.getlist("disputed") else 0,
        pilot=parse_int(form.get("pilot", "")),
        seed=parse_int(form.get("judged_seed", "")),
    )


def _share(text: str, otherwise: float) -> float:
    return parse_int(text, round(otherwise * 100)) / 100


def _group_quotas(form: QueryDict) -> Iterator[tuple[str, int]]:
    for name, text in form.items():
        if name.startswith("quota:") and str(text).strip():
            yield name.removeprefix("quota:"), parse_int(str(text))


def form_context(study: Study, form: QueryDict, protocol: Protocol, options: Mapping[str, Any]) -> dict[str, Any]:
    """What the page shows: the form as typed, or as another batch has it."""
    groups = study.systems.exclude(group__in=["", REFERENCE_GROUP]).order_by("group")
    return {
        "protocol": protocol,
        "protocols": protocols.PROTOCOLS.values(),
        "fields": [Field(field, options[field.name]) for field in protocol.option_form()],
        "systems": _chosen(study.systems.exclude(group=REFERENCE_GROUP).order_by("name"), "name", form, "systems"),
        "metrics": list(study.scores.order_by("metric").values_list("metric", flat=True).distinct()),
        "groups": [
            (group, form.get(f"quota:{group}", "")) for group in groups.values_list("group", flat=True).distinct()
        ],
        "n_documents": study.documents.count(),
        "suggested_name": f"{protocol.title} {study.batches.count() + 1}",
        "typed": form,
        "sampled": form.getlist("sample"),
        "disputed": form.getlist("disputed"),
    }


def _chosen(rows: Any, column: str, form: QueryDict, name: str) -> list[tuple[str, bool]]:
    values = form.getlist(name)
    return [(value, value in values) for value in rows.values_list(column, flat=True)]


def form_of(batch: Batch) -> QueryDict:
    """A batch as the form that would make it again: for a copy."""
    selection = Selection(**batch.options.get("judged", {}))
    form = QueryDict(mutable=True)
    form["name"] = _("%(name)s, again") % {"name": batch.name[:180]}
    form["protocol"] = batch.protocol
    form["quota"] = str(batch.tasks.order_by("pk").values_list("quota", flat=True).first() or 1)
    form["expert"] = "on" if batch.role == "expert" else ""
    form["documents"] = "\n".join(selection.documents)
    for name in ("systems", "sample", "disputed"):
        form.setlist(name, getattr(selection, name))
    form["metric"] = selection.metric
    form["low"], form["high"] = f"{selection.low * 100:.0f}", f"{selection.high * 100:.0f}"
    for name in ("most", "pilot"):
        form[name] = str(getattr(selection, name) or "")
    form["judged_seed"] = str(selection.seed)
    return form
