"""What can go wrong when texts are scored, each with one sentence for the person who sees it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


class ScoringError(ValueError):
    """Base of all refusals. Its message is one sentence: what happened, what is expected, what to do."""


class UnknownMetric(ScoringError):
    """A metric name that nobody registered."""

    def __init__(self, name: str, known_names: Iterable[str]) -> None:
        names = sorted(known_names)
        super().__init__(f"Unknown metric {name!r}; {nearest(name, names)} (python -m scoring list shows all).")


class BadOption(ScoringError):
    """An option or option value in brackets that the metric doesn't have."""


class MissingInput(ScoringError):
    """A summary without its document, or a document without what a metric needs."""


class DoubledSummary(ScoringError):
    """The same (doc_id, system) twice: scores could not be paired."""


class NotReady(ScoringError):
    """A metric that needs something which is not on this machine."""


class EmptyTextWarning(UserWarning):
    """An empty summary or reference was scored: 0 where the metric defines it, else undefined."""


class UndefinedWarning(UserWarning):
    """A score doesn't exist for some texts: it is NaN."""


class SkippedMetricWarning(UserWarning):
    """A metric was left out of a run because something that it needs is not on this machine."""


class OwnReferenceWarning(UserWarning):
    """A summary is one of its document's references and was scored against itself."""


class LongTextWarning(UserWarning):
    """Texts were longer than a model reads at once."""


def nearest(name: str, names: Sequence[str]) -> str:
    """Names a person may have meant, or the first of all where none is close."""
    close = get_close_matches(name, names, n=5, cutoff=0.5)
    if close:
        return f"near ones are {', '.join(close)}"
    return f"known ones are {', '.join(names[:12])}{', …' if len(names) > 12 else ''}"
