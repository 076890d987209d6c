"""What a filter is: a rule with settings, and decisions that say who was dropped, why, and on what evidence."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from analysis.tables import AnalysisError

Setting = str | float | int | bool


@dataclass(frozen=True)
class Rule:
    """A rule by name, with the settings that differ from its defaults."""

    name: str
    options: Mapping[str, Setting] = field(default_factory=dict)

    def __str__(self) -> str:
        inside = ",".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.name}[{inside}]" if inside else self.name


@dataclass(frozen=True)
class Decision:
    """One worker dropped, everywhere or on one item."""

    rule: str
    worker_id: str
    reason: str
    """A sentence for the person who reads the log; pages translate it if it is an `analysis.sentence.Sentence`."""
    evidence: Mapping[str, object]
    """The numbers behind the reason."""
    settings: Mapping[str, object]
    """All settings of the rule, defaults too."""
    item: Mapping[str, str] = field(default_factory=dict)
    """The document and system it is about; empty when the worker is dropped everywhere."""
    n_rows: int = 0

    def row(self) -> dict[str, object]:
        """Flat, for tables."""
        return {
            "rule": self.rule,
            "worker_id": self.worker_id,
            **{name: self.item.get(name) for name in ("doc_id", "system")},
            "n_rows": self.n_rows,
            "reason": self.reason,
            "evidence": dict(self.evidence),
            "settings": dict(self.settings),
        }


@dataclass(frozen=True)
class FilterResult:
    """What is left, what was dropped, and the record of it."""

    kept: pd.DataFrame
    dropped: pd.DataFrame
    """The dropped judgments with `rule`, `reason`, `evidence` and `settings`."""
    decisions: tuple[Decision, ...]
    settings: Mapping[str, object]
    """Rules in order, policy for ties, seed: enough to do it again."""


@dataclass(frozen=True)
class Evidence:
    """What the rules see: the judgments still kept, checks apart, and the policies."""

    rows: pd.DataFrame
    checks: pd.DataFrame
    ties: str
    rng: np.random.Generator


RuleFunction = Callable[[Evidence, dict[str, Setting]], list[Decision]]


@dataclass(frozen=True)
class RuleKind:
    """A kind of rule: its function, its settings with their defaults, and what it is for."""

    name: str
    function: RuleFunction
    defaults: Mapping[str, Setting]
    summary: str


RULES: dict[str, RuleKind] = {}
"""Every rule there is, by name."""


def rule(name: str, **defaults: Setting) -> Callable[[RuleFunction], RuleFunction]:
    """Register a rule; its docstring's first line says what it is for."""

    def register(function: RuleFunction) -> RuleFunction:
        summary = (function.__doc__ or "").strip().splitlines()[0]
        RULES[name] = RuleKind(name, function, defaults, summary)
        return function

    return register


def settings_of(rule: Rule) -> dict[str, Setting]:
    """A rule's settings, defaults filled in and each in the type of its default."""
    if rule.name not in RULES:
        raise AnalysisError(f"There is no rule {rule.name!r}; there are {', '.join(RULES)}.")
    defaults = RULES[rule.name].defaults
    settings = dict(defaults)
    for name, value in rule.options.items():
        if name not in defaults:
            listing = ", ".join(defaults) or "none"
            raise AnalysisError(f"The rule {rule.name} has no setting {name!r}; its settings are {listing}.")
        settings[name] = _typed(rule.name, name, value, defaults[name])
    return settings


def _typed(rule_name: str, name: str, value: Setting, default: Setting) -> Setting:
    if isinstance(default, str):
        return str(value)
    try:
        number = float(value)
    except ValueError as error:
        raise AnalysisError(f"The setting {name} of {rule_name} needs a number, not {value!r}.") from error
    if not math.isfinite(number):
        raise AnalysisError(f"The setting {name} of {rule_name} needs a finite number, not {value}.")
    if not isinstance(default, int):
        return number
    if not number.is_integer():
        raise AnalysisError(f"The setting {name} of {rule_name} is a count and needs a whole number, not {value}.")
    return int(number)


def parse_rules(text: str) -> list[Rule]:
    """Rules from `name[setting=value,…]`, several separated by commas outside brackets."""
    rules, remaining = [], text
    while remaining:
        name, bracket, behind = _until(remaining)
        options: dict[str, Setting] = {}
        if bracket:
            inside, closed, behind = behind.partition("]")
            if not closed:
                raise AnalysisError(f"The rule {text!r} has no closing bracket; write name[setting=value,…].")
            options = dict(_option(setting, text) for setting in inside.split(",") if setting.strip())
        rules.append(Rule(name.strip(), options))
        remaining = behind.lstrip().removeprefix(",").strip()
    return rules


def _until(text: str) -> tuple[str, bool, str]:
    """The name up to the next bracket or comma."""
    bracket, comma = text.find("["), text.find(",")
    if bracket >= 0 and (comma < 0 or bracket < comma):
        return text[:bracket], True, text[bracket + 1 :]
    return (text, False, "") if comma < 0 else (text[:comma], False, text[comma:])


def _option(setting: str, text: str) -> tuple[str, Setting]:
    name, equals, value = setting.partition("=")
    if not equals:
        raise AnalysisError(f"The setting {setting.strip()!r} in {text!r} has no value; write setting=value.")
    return name.strip(), value.strip()


def as_json(values: Mapping[str, object]) -> str:
    """Evidence and settings as they stand in the cells of a table."""
    return json.dumps(dict(values), ensure_ascii=False, sort_keys=True, default=float)
