"""The demo: a study to look at, and an account for each role. It exists in demo mode only."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from annotation.common.demo_accounts import DEMO_ACCOUNTS, PASSWORD
from annotation.common.errors import Refused
from annotation.results.scoring_job import score_study
from annotation.studies.batches import create_batch
from annotation.transfer.importing.bulk_insert import Progress
from annotation.transfer.importing.study import import_study

from .guidance import give_defaults
from .models import Batch, FilterDecision, Membership, PracticeItem, PracticePlan, Study, Summary, User

STUDY = "Demo: twelve stories, six systems"
FOLDER = Path(settings.BASE_DIR) / "fixtures" / "demo"
QUOTA = 3


def load_demo(progress: Progress = lambda *_: None) -> bool:
    """Make the demo study and its accounts; False when they are here already."""
    if not settings.DEMO:
        raise Refused("Demo accounts have public passwords and exist in demo mode only (DEMO=yes). Nothing was made.")
    with transaction.atomic():
        imported = import_study(FOLDER, STUDY, progress=progress)
        if not imported.changed:
            return False
        study = Study.objects.get(name=STUDY)
        for role in DEMO_ACCOUNTS:
            Membership.objects.create(study=study, user=_account(role), role=role)
        FilterDecision.objects.create(study=study, rules=["majority-dissent"])
        add_guidance(study)
        open_batch(study, "Judge along", "litepyramid", QUOTA, {"evidence": True})
        score_study(study, ["rouge-1-f", "rouge-1-r", "rouge-1-p"])
        # Last: it puts the references among the summaries, and metrics have no business scoring those.
        open_batch(study, "Rate along", "likert", QUOTA, {"overlap": True})
        open_batch(study, "Extract along", "scu", QUOTA)
    return True


def _account(name: str) -> User:
    user, is_new = User.objects.get_or_create(username=name, defaults={"is_demo": True})
    if is_new:
        user.set_password(PASSWORD)
        user.save()
    return user


def open_batch(study: Study, name: str, protocol: str, quota: int, options: dict[str, Any] | None = None) -> Batch:
    """A batch of all that the study has to judge by this protocol, open at once."""
    return create_batch(study, name, protocol, quota, options, state=Batch.State.OPEN)


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
    ("ferry-line", "brief", "Parking fees will pay for the ferry.", 1, "“To pay for it with parking fees” states it."),
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
