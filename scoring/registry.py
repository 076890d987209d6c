"""The one list of metrics: a decorator adds to it, names with options in brackets look things up in it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from scoring.base import Description, Family, Metric
from scoring.errors import BadOption, ScoringError, UnknownMetric
from scoring.options import Option, read_options, read_spec, split_list

_FAMILIES: dict[str, type[Family]] = {}
_GROUPS: dict[str, tuple[str, ...]] = {}


def metric(
    *names: str,
    title: str,
    citation: str,
    reference: str,
    needs: Iterable[str] = ("references",),
    options: Iterable[Option] = (),
    higher_is_better: bool = True,
    hidden: Iterable[str] = (),
) -> Callable[[type[Family]], type[Family]]:
    """Register a family of metrics under the names of its scores."""

    def register(family: type[Family]) -> type[Family]:
        family.description = Description(
            names, title, tuple(needs), citation, reference, tuple(options), higher_is_better, tuple(hidden)
        )
        for name in names:
            owner = _FAMILIES.setdefault(name, family)
            if owner.__qualname__ != family.__qualname__:
                raise ScoringError(f"The metric {name} is already registered by {owner.__qualname__}.")
            _FAMILIES[name] = family
        _family.cache_clear()
        return family

    return register


def forget(name: str) -> None:
    """Take a name off the list again, as a notebook that tries a metric out may want to."""
    _FAMILIES.pop(name, None)


def group(name: str, members: Iterable[str]) -> None:
    """Let one name stand for many metrics (`rouge-all`)."""
    _GROUPS[name] = tuple(members)


def known() -> list[str]:
    """Every registered name, sorted, without groups."""
    _load_all()
    return sorted(_FAMILIES)


def groups() -> dict[str, tuple[str, ...]]:
    """Every group with its members."""
    _load_all()
    return dict(_GROUPS)


def get(spec: str) -> Metric:
    """The metric that `name[options]` names."""
    _load_all()
    parsed_spec = read_spec(spec)
    if parsed_spec.name in _GROUPS and parsed_spec.name not in _FAMILIES:
        examples = ", ".join(_GROUPS[parsed_spec.name][:3])
        raise ScoringError(f"{parsed_spec.name} stands for several metrics; name one of them, such as {examples}.")
    if parsed_spec.name not in _FAMILIES:
        raise UnknownMetric(parsed_spec.name, [*_FAMILIES, *_GROUPS])
    family = _FAMILIES[parsed_spec.name]
    values = read_options(parsed_spec.words, family.description.options, parsed_spec.name)
    return Metric(parsed_spec.name, _family(family, tuple(values.items())))


def parse(specs: str | Sequence[str]) -> list[Metric]:
    """All metrics of a list: commas outside brackets separate, groups expand, doubles are dropped."""
    _load_all()
    texts = split_list(specs) if isinstance(specs, str) else [spec for item in specs for spec in split_list(item)]
    metrics_by_name: dict[str, Metric] = {}
    for text in texts:
        for member in _expand(text):
            member_metric = get(member)
            metrics_by_name.setdefault(member_metric.name, member_metric)
    if not metrics_by_name:
        raise ScoringError("No metric is named; name at least one, for example rouge-1-f.")
    return list(metrics_by_name.values())


def signature(spec: str) -> str:
    """How the scores of this metric are made."""
    return get(spec).signature


def _expand(text: str) -> list[str]:
    """Members of a group, each with the options behind the group's name added to its own."""
    spec = read_spec(text)
    if spec.name not in _GROUPS:
        return [text]
    expanded = []
    for member in _GROUPS[spec.name]:
        inner = read_spec(member)
        words = [*inner.words, *spec.words]
        expanded.append(f"{inner.name}[{','.join(words)}]" if words else inner.name)
    try:
        for member in expanded:
            get(member)
    except BadOption as error:
        raise BadOption(f"{spec.name} cannot take these options: {error}") from error
    return expanded


@lru_cache(maxsize=256)
def _family(cls: type[Family], values: tuple[tuple[str, str], ...]) -> Family:
    """One object per family and options, so that what it has loaded is shared."""
    return cls(dict(values))


@lru_cache(maxsize=1)
def _load_all() -> None:
    package = importlib.import_module("scoring.metrics")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"scoring.metrics.{module.name}")
