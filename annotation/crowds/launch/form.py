"""The launch form: what an admin types, as terms, and terms as the form shows them. Amounts are typed like 0.15."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from math import isfinite
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.common.money import money, to_cents
from annotation.common.parsing import parse_int
from annotation.crowds.lookup import MARKETS, market_for
from annotation.crowds.terms import DEVICES, LENGTHS, RANGES, BadTerms, Terms, read_text
from annotation.crowds.terms.presets import PRESETS
from annotation.crowds.terms.requirements import (
    LOCALE,
    MASTERS,
    NUMBER_APPROVED,
    PERCENT_APPROVED,
    approval_at_least,
    approved_at_least,
    located_in,
)
from annotation.models import REFERENCE_GROUP, Batch, MarketToken, System

Words = str | Promise
DEFAULT_REWARD = 20
COUNTRY = re.compile(r"[A-Z]{2}")
USUAL_REQUIREMENTS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "approval": approval_at_least,
    "approved": approved_at_least,
    "countries": located_in,
}
GROUP_REWARD = "reward:"
"""How the names of the fields begin that hold a group's reward."""


class TermField(forms.Field):
    """A term as an admin types it, under the name and in the unit that the form shows; None where nothing is typed."""

    def __init__(self, term: str, label: Words = "", unit: Words = "", seconds: int = 1, high: int = 0) -> None:
        super().__init__(required=False, label=label)  # type: ignore[arg-type]
        self.term, self.unit, self.seconds = term, unit, seconds
        self.low, self.high = RANGES.get(term, (0, high))

    def clean(self, value: str | None) -> Any:
        text = (value or "").strip()
        try:
            return self.read(text) if text else None
        except ValueError as problem:
            raise forms.ValidationError(str(problem)) from None

    def read(self, text: str) -> Any:
        return read_text(str(self.label), text, LENGTHS[self.term]) if self.term in LENGTHS else text

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else "" if value is None else value


class LinesField(TermField):
    def prepare_value(self, value: Any) -> str:
        return "\n".join(value or [])


class NumberField(TermField):
    problem = gettext_lazy("%(field)s: “%(text)s” is not a number from %(low)s to %(high)s.")

    def read(self, text: str) -> float:
        number = self.number(text)
        if not self.low <= number <= self.high:
            field = f"{self.label} ({self.unit})" if self.unit else self.label
            low, high = self.prepare_value(self.low), self.prepare_value(self.high)
            raise ValueError(self.problem % {"field": field, "text": text[:40], "low": low, "high": high})
        return number

    def number(self, text: str) -> float:
        """In the term's unit; below every bound where it is no number."""
        try:
            number = float(text.replace(",", "."))
        except ValueError:
            return -1
        return number * self.seconds if isfinite(number) else -1


class TimeField(NumberField):
    def read(self, text: str) -> int:
        return round(super().read(text))

    def prepare_value(self, value: int) -> str:
        return f"{value / self.seconds:.2f}".rstrip("0").rstrip(".")


class MinutesField(NumberField):
    problem = gettext_lazy("%(field)s: “%(text)s” is not a number above 0 and up to %(high)s.")

    def number(self, text: str) -> float:
        return super().number(text) or -1


class RewardField(NumberField):
    def number(self, text: str) -> int:
        return to_cents(text)

    def prepare_value(self, value: int) -> str:
        return money(value)


class WholeField(NumberField):
    problem = gettext_lazy("%(field)s: “%(text)s” is not a whole number from %(low)s to %(high)s.")

    def number(self, text: str) -> int:
        return parse_int(text, -1)


class LaunchForm(forms.Form):
    """A field without a term is a part of one: of the rewards by group, or of the requirements."""

    preset = TermField("preset")
    title = TermField("title", gettext_lazy("Title"))
    description = TermField("description", gettext_lazy("Description"))
    keywords = TermField("keywords", gettext_lazy("Keywords"))
    duration = TimeField("duration_seconds", gettext_lazy("For a task"), gettext_lazy("minutes"), 60)
    lifetime = TimeField("lifetime_seconds", gettext_lazy("On the market"), gettext_lazy("hours"), 3600)
    approve = TimeField("auto_approve_seconds", gettext_lazy("Approved by itself"), gettext_lazy("after days"), 86400)
    question = TermField("question")
    reward = RewardField("reward_cents", gettext_lazy("Reward"))
    minutes = MinutesField("minutes", gettext_lazy("A task takes"), gettext_lazy("minutes"), high=24 * 60)
    tasks_per_participant = WholeField("tasks_per_participant", gettext_lazy("Tasks in a sitting"))
    groups_allow = TermField("groups_allow")
    groups_block = TermField("groups_block")
    prescreeners = LinesField("prescreeners")
    approval = WholeField("", gettext_lazy("Approved work"), high=100)
    approved = WholeField("", gettext_lazy("Approved HITs"), high=2**31 - 1)  # the API's integers
    countries = TermField("")
    masters = TermField("")
    custom = TermField("")

    def __init__(self, post_data: QueryDict) -> None:
        super().__init__(post_data)
        for group in _group_rewards(post_data):
            label = _("For group %(group)s") % {"group": group}
            self.fields[GROUP_REWARD + group] = RewardField("reward_cents", label)

    def clean_countries(self) -> list[str] | None:
        countries = [word for word in re.split(r"[\s,;]+", (self.cleaned_data["countries"] or "").upper()) if word]
        if unknown_words := [word for word in countries if not COUNTRY.fullmatch(word)]:
            raise forms.ValidationError(
                _("“%(word)s” is not a country: write two letters, such as US.") % {"word": unknown_words[0][:20]}
            )
        return countries or None

    def clean_custom(self) -> list[Any]:
        try:
            requirements = json.loads(self.cleaned_data["custom"] or "[]")
        except ValueError:
            requirements = None
        if not isinstance(requirements, list):
            raise forms.ValidationError(
                _("The qualifications of your own must be a list in JSON, as the MTurk API has them.")
            )
        return requirements

    def requirements(self) -> list[dict[str, Any]]:
        cleaned = self.cleaned_data
        requirements = [ask(cleaned[name]) for name, ask in USUAL_REQUIREMENTS.items() if cleaned[name] is not None]
        masters = [{"QualificationTypeId": MASTERS[0], "Comparator": "Exists"}] if cleaned["masters"] else []
        return [*requirements, *masters, *cleaned["custom"]]


TERM_FIELDS = {
    name: field for name, field in LaunchForm.base_fields.items() if isinstance(field, TermField) and field.term
}


def read_terms(post_data: QueryDict) -> Terms:
    """The terms that the form describes. BadTerms names every wrong field; nothing is changed."""
    form = LaunchForm(post_data)
    if not form.is_valid():
        problems = [str(problem) for problems in form.errors.values() for problem in problems]
        raise BadTerms(" ".join([*problems, _("Nothing was changed.")]))
    values = {field.term: form.cleaned_data[name] for name, field in TERM_FIELDS.items()}
    values["reward_by_group"] = {group: form.cleaned_data[GROUP_REWARD + group] for group in _group_rewards(post_data)}
    values["devices"] = post_data.getlist("devices")
    values |= {"requirements": form.requirements(), "exclude_batches": _excluded(post_data), "preset": ""}
    # What the form shows is all there is: a preset has filled it in before, and must not add what was deleted.
    return replace(Terms.parse(values), preset=_preset(post_data))


def form_of(terms: Mapping[str, Any]) -> dict[str, Any]:
    """What the form's fields show for these terms."""
    values = {**asdict(Terms(reward_cents=DEFAULT_REWARD)), **terms}
    form = {name: field.prepare_value(values[field.term]) for name, field in TERM_FIELDS.items()}
    form["exclude"] = values["exclude_batches"]
    form["devices"] = values.get("devices") or list(DEVICES)
    form["rewards"] = {group: money(cents) for group, cents in values["reward_by_group"].items()}
    return form | _people(values["requirements"])


def form_as_typed(post_data: QueryDict) -> dict[str, Any]:
    """What the form's fields show after a refusal: exactly what was sent, right or wrong."""
    rewards = _group_rewards(post_data)
    return {
        **post_data.dict(),
        "preset": _preset(post_data),
        "exclude": _excluded(post_data),
        "rewards": rewards,
        "devices": post_data.getlist("devices"),
    }


def _preset(post_data: QueryDict) -> str:
    return post_data.get("preset", "") if post_data.get("preset", "") in PRESETS else ""


def _excluded(post_data: QueryDict) -> list[int]:
    return [key for text in post_data.getlist("exclude") if (key := parse_int(text))]


def _group_rewards(post_data: QueryDict) -> dict[str, str]:
    names = [name for name in post_data if name.startswith(GROUP_REWARD)]
    return {name.removeprefix(GROUP_REWARD): str(post_data[name]) for name in names}


def _people(requirements: list[dict[str, Any]]) -> dict[str, Any]:
    """The usual requirements in fields of their own, the others as JSON."""
    form: dict[str, Any] = {"approval": "", "approved": "", "countries": "", "masters": False}
    custom = []
    for requirement in requirements:
        kind, comparator = requirement["QualificationTypeId"], requirement["Comparator"]
        numbers = requirement.get("IntegerValues") or [0]
        if kind == PERCENT_APPROVED and comparator == "GreaterThanOrEqualTo":
            form["approval"] = numbers[0]
        elif kind == NUMBER_APPROVED and comparator in ("GreaterThan", "GreaterThanOrEqualTo"):
            form["approved"] = numbers[0] + (comparator == "GreaterThan")
        elif kind == LOCALE and comparator == "In":
            form["countries"] = ", ".join(place["Country"] for place in requirement.get("LocaleValues", []))
        elif kind in MASTERS and comparator == "Exists":
            form["masters"] = True
        else:
            custom.append(requirement)
    return {**form, "custom": json.dumps(custom, ensure_ascii=False) if custom else ""}


def launch_choices(batch: Batch) -> dict[str, Any]:
    """What the form lets one choose from, for this batch."""
    presets = {name: preset for name, preset in PRESETS.items() if preset["protocol"] == batch.protocol}
    has_own_summaries = batch.tasks.filter(summary__isnull=False).exists()  # then a task is of one group
    groups = System.objects.filter(study=batch.study).exclude(group__in=["", REFERENCE_GROUP])
    return {
        "markets": [(name, kind.title) for name, kind in MARKETS.items() if kind.of_people],
        "presets": presets,
        "devices": DEVICES,
        "market_tokens": MarketToken.objects.filter(study=batch.study).select_related("set_by"),
        "groups": sorted(set(groups.values_list("group", flat=True))) if has_own_summaries else [],
        "earlier": batch.study.batches.exclude(pk=batch.pk).filter(tasks__assignments__isnull=False).distinct(),
    }


def crowd_chosen(post_data: Mapping[str, Any], batch: Batch) -> str:
    """The market that the form names; the batch's own where it names none."""
    return market_for(str(post_data.get("crowd") or batch.crowd)).name
