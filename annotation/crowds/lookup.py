"""Finding a market, a study or a batch by its name; an unknown name is answered with the known ones."""

from django.utils.translation import gettext as _

from annotation.common.errors import Refused
from annotation.common.parsing import parse_int
from annotation.crowds.markets.direct import Direct
from annotation.crowds.markets.models import Models
from annotation.crowds.markets.mturk import MTurk
from annotation.crowds.markets.prolific import Prolific
from annotation.models import Batch, Study

from .base import Market

MARKETS: dict[str, type[Market]] = {market.name: market for market in (Direct, MTurk, Prolific, Models)}


def market_for(crowd: str, study: Study | None = None) -> Market:
    """The market of that name, in the name of a study; Refused lists the known ones."""
    if crowd not in MARKETS:
        raise Refused(
            _("There is no crowd “%(name)s”. Known: %(known)s. Nothing was changed.")
            % {"name": crowd[:40], "known": ", ".join(MARKETS)}
        )
    return MARKETS[crowd](study)


def study_named(name: str) -> Study:
    """By name or by its word in addresses."""
    study = Study.objects.filter(name=name).first() or Study.objects.filter(slug=name).first()
    if study is None:
        names = ", ".join(repr(title) for title in Study.objects.values_list("name", flat=True)[:20]) or "none yet"
        raise Refused(f"There is no study named {name!r}. Studies here: {names}.")
    return study


def batch_named(study: Study, name: str) -> Batch:
    """By name or by number."""
    batch = study.batches.filter(name=name).first()
    if batch is None:
        batch = study.batches.filter(pk=parse_int(name)).first()
    if batch is None:
        names = ", ".join(repr(title) for title in study.batches.values_list("name", flat=True)[:20]) or "none yet"
        raise Refused(f"{study.name!r} has no batch named {name!r}. Its batches: {names}.")
    return batch
