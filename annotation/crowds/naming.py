"""Finding a study or a batch by what a person types; an unknown name is answered with the known ones."""

from annotation.errors import Refused
from annotation.models import Batch, Study
from annotation.numbers import whole


def study_named(name: str) -> Study:
    """By name or by its word in addresses."""
    found = Study.objects.filter(name=name).first() or Study.objects.filter(slug=name).first()
    if found is None:
        names = ", ".join(repr(one) for one in Study.objects.values_list("name", flat=True)[:20]) or "none yet"
        raise Refused(f"There is no study named {name!r}. Studies here: {names}.")
    return found


def batch_named(study: Study, name: str) -> Batch:
    """By name or by number."""
    found = study.batches.filter(name=name).first()
    if found is None:
        found = study.batches.filter(pk=whole(name)).first()
    if found is None:
        names = ", ".join(repr(one) for one in study.batches.values_list("name", flat=True)[:20]) or "none yet"
        raise Refused(f"{study.name!r} has no batch named {name!r}. Its batches: {names}.")
    return found
