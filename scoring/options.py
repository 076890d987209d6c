"""Options in brackets behind a metric's name: `rouge-2-p[stem,stop]`, `bertscore-f[layer=17]`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from scoring.errors import BadOption, ScoringError, nearest

Options = Mapping[str, str]
"""Every option of a family with its value as text, defaults filled in."""

_SPEC = re.compile(r"^\s*([^\[\]\s]+)\s*(?:\[([^\[\]]*)\])?\s*$")


@dataclass(frozen=True)
class Option:
    """One option that a family of metrics understands."""

    name: str
    """The word in front of `=`."""
    default: str
    """Its value when it isn't named; it is left out of the canonical name then."""
    help: str
    """One line for `list` and the documentation."""
    choices: tuple[str, ...] = ()
    """All values it can have; empty: any text that `check` accepts."""
    bare: str | None = None
    """The value that the lone word means (`stem` is `stem=wordnet`); None: it needs a value."""
    shorthands: Mapping[str, str] | None = None
    """Other lone words and the value they mean (`best` is `multi=best`)."""
    check: Callable[[str], object] | None = None
    """Raises ValueError on a value that can't be."""
    keyed: bool = True
    """False when the option changes speed only, or when the family's versions say what it came to, so that it stays out
    of signatures and cache keys."""

    def accept(self, value: str, metric: str) -> str:
        """The value, or an error that lists the possible ones."""
        if self.choices and value not in self.choices:
            raise BadOption(
                f"Option {self.name}={value} of {metric} is not possible; use one of {', '.join(self.choices)}."
            )
        if self.check is not None:
            try:
                self.check(value)
            except ValueError as error:
                raise BadOption(f"Option {self.name}={value} of {metric} is not possible: {error}.") from error
        return value

    def render(self, value: str) -> str:
        return self.name if value == self.bare else f"{self.name}={value}"


def multi_option(help: str) -> Option:
    """What becomes of several references."""
    choices = ("average", "best")
    return Option("multi", "average", help, choices=choices, shorthands={name: name for name in choices})


def split_option(help: str) -> Option:
    """How a text that comes unsplit falls into sentences."""
    return Option("split", "auto", help, choices=("auto", "lines", "none"))


def check_positive(value: str) -> None:
    if not value.isdecimal() or int(value) < 1:
        raise ValueError("it is a whole number above 0")


@dataclass(frozen=True)
class Spec:
    """A metric as a person names it, before the registry has looked at it."""

    name: str
    """The name in front of the brackets, in lower case."""
    words: tuple[str, ...]
    """What stands between the brackets, split at commas."""


def split_list(text: str) -> list[str]:
    """Split at the commas that stand outside brackets."""
    specs = [spec.strip() for spec in re.split(r",(?![^\[]*\])", text)]
    return [spec for spec in specs if spec]


def read_spec(text: str) -> Spec:
    """Take `name[a,b=c]` apart."""
    match = _SPEC.match(text)
    if match is None:
        raise ScoringError(f"Cannot read the metric {text!r}; write name or name[option,option=value].")
    words = tuple(word.strip() for word in (match.group(2) or "").split(",") if word.strip())
    return Spec(match.group(1).lower(), words)


def read_options(words: Sequence[str], options: Sequence[Option], metric: str) -> dict[str, str]:
    """The value of every option, from the words in the brackets and the defaults."""
    values = {option.name: option.default for option in options}
    named_options: set[str] = set()
    for word in words:
        option, value = _read_word(word, options, metric)
        if option.name in named_options:
            raise BadOption(f"Option {option.name} of {metric} is given twice; give it once.")
        named_options.add(option.name)
        values[option.name] = option.accept(value, metric)
    return values


def render(name: str, values: Options, options: Sequence[Option]) -> str:
    """The canonical name: options in the order the family declares them, defaults left out."""
    words = [option.render(values[option.name]) for option in options if values[option.name] != option.default]
    return f"{name}[{','.join(words)}]" if words else name


def _read_word(word: str, options: Sequence[Option], metric: str) -> tuple[Option, str]:
    key, sign, value = (piece.strip() for piece in word.partition("="))
    for option in options:
        if option.name == key and sign:
            return option, value
        if option.name == key and option.bare is not None:
            return option, option.bare
        if not sign and key in (option.shorthands or {}):
            return option, (option.shorthands or {})[key]
    for option in options:
        if option.name == key:
            raise BadOption(f"Option {key} of {metric} needs a value: write {key}=….")
    names = [option.name for option in options]
    if not names:
        raise BadOption(f"Unknown option {key!r} of {metric}; it has no options.")
    raise BadOption(f"Unknown option {key!r} of {metric}; {nearest(key, names)}.")
