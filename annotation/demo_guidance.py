"""The demo's guidance: default texts, and a tutorial of real items that may be skipped. No test is asked for."""

from .guidance import give_defaults
from .models import PracticeItem, PracticePlan, Study, Summary

# document, system, statement, is it present, why
TUTORIAL = [
    (
        "singing-ice",
        "abstract",
        "Strong wind disturbs the method.",
        1,
        "“Strong wind spoils the signal” says the same in other words.",
    ),
    (
        "singing-ice",
        "abstract",
        "Four underwater microphones were used.",
        0,
        "Underwater microphones are there, but not that they were four: part of a fact is not the fact.",
    ),
    (
        "singing-ice",
        "invent",
        "Deep snow disturbs the method.",
        0,
        "This summary says the opposite: it works best under deep snow. The words occur; the fact doesn’t.",
    ),
    (
        "ferry-line",
        "brief",
        "Parking fees will pay for the ferry.",
        1,
        "“To pay for it with parking fees” states it.",
    ),
]


def add_guidance(study: Study) -> None:
    """Texts for every protocol and the tutorial of LitePyramid."""
    give_defaults(study)
    plan = PracticePlan.objects.create(study=study, protocol="litepyramid")
    summaries = {
        (summary.document.doc_id, summary.system.name): summary
        for summary in Summary.objects.filter(document__study=study).select_related("document", "system")
    }
    PracticeItem.objects.bulk_create(
        PracticeItem(
            plan=plan,
            kind=PracticeItem.Kind.TUTORIAL,
            order=order,
            summary=summaries[doc, system],
            question=statement,
            expected=present,
            reason=reason,
        )
        for order, (doc, system, statement, present, reason) in enumerate(TUTORIAL)
    )
