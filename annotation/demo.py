"""The demo: two studies to look at, and an account for each role. It exists in demo mode only.

The wide study has a report with something to say, and work waiting by every protocol. The small one has a contested
first round whose second one is open, and a batch for the marketplace, which `demo_crowd` publishes and lets a simulated
crowd begin.
"""

import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from annotation.common.demo_accounts import DEMO_ACCOUNTS, PASSWORD
from annotation.common.errors import Refused
from annotation.crowds.ledger import set_budget
from annotation.crowds.terms import Terms, set_terms
from annotation.results.scoring_job import score_study
from annotation.studies.batches import create_batch, rename_batch
from annotation.studies.second_rounds import open_second_round, read_thresholds
from annotation.studies.selection import Selection
from annotation.transfer.importing.bulk_insert import Progress
from annotation.transfer.importing.study import import_study
from fixtures.variants import ROUND_CROWD, write_round, write_wide

from .guidance import give_defaults
from .models import Batch, FilterDecision, Membership, PracticeItem, PracticePlan, Study, Summary, User, Worker

STUDY = "Demo: twelve stories, 28 systems"
SMALL = "Demo: work in progress on four stories"
WRITTEN = Selection(systems=["lead", "extract", "abstract", "brief", "echo", "invent"])
METRICS = ["rouge-1-f", "rouge-1-r", "rouge-1-p", "rouge-2-r", "rouge-l-f", "length"]
QUOTA = 3
SALT = "demo"  # nobody is behind these pseudonyms, and filters that draw lots by them give the same report each time
MARKET_BATCH = "On the marketplace"
MARKET_TERMS = {
    "title": "Demo: which facts does a summary state?",
    "description": "Read a short summary and say of each statement whether it is there. Play money.",
    "keywords": "summaries, demo",
    "reward_cents": 30,
    "duration_seconds": 3600,
    "lifetime_seconds": 7 * 24 * 3600,
    "auto_approve_seconds": 7 * 24 * 3600,
    "minutes": 2,
}
BUDGET_CENTS = 60_00


def load_demo(progress: Progress = lambda *_: None) -> bool:
    """Make the demo's studies and accounts; False when they are here already."""
    if not settings.DEMO:
        raise Refused("Demo accounts have public passwords and exist in demo mode only (DEMO=yes). Nothing was made.")
    if Study.objects.filter(name=STUDY).exists():
        return False
    with transaction.atomic(), tempfile.TemporaryDirectory() as folder:
        wide, small = Path(folder) / "wide", Path(folder) / "small"
        write_wide(wide)
        fill_study(import_with_accounts(wide, STUDY, progress), METRICS)
        write_round(small)
        _fill_small(import_with_accounts(small, SMALL, progress))
    return True


def import_with_accounts(folder: Path, name: str, progress: Progress = lambda *_: None) -> Study:
    """A folder of tables as a study, with a member for each role."""
    import_study(folder, name, progress=progress, salt=SALT)
    study = Study.objects.get(name=name)
    for role in DEMO_ACCOUNTS:
        Membership.objects.create(study=study, user=_account(role), role=role)
    return study


def fill_study(study: Study, metrics: list[str]) -> None:
    """Trusted judgments, scores, instructions, and work that waits by every protocol."""
    FilterDecision.objects.create(study=study, rules=["majority-dissent"])
    add_guidance(study)
    open_batch(study, "Judge along", "litepyramid", QUOTA, {"evidence": True})
    score_study(study, metrics)
    # Last: it puts the references among the summaries, and metrics have no business scoring those.
    open_batch(study, "Rate along", "likert", QUOTA, {"overlap": True})
    open_batch(study, "Extract along", "scu", QUOTA)
    open_batch(study, "Compare along", "preference", QUOTA, {"pairs": 6, "check_pairs": 1, "reason": True})
    open_batch(study, "Mark along", "errors", QUOTA)


def _fill_small(study: Study) -> None:
    """Three people's first round, of which the annotator's account is one, so that there is somebody to ask again."""
    give_defaults(study)
    score_study(study, METRICS[:3])
    annotator = User.objects.get(username="annotator")
    Worker.objects.filter(study=study, external_id=ROUND_CROWD[1].worker_id).update(user=annotator)
    first = study.batches.get()
    rename_batch(first, "First round")
    first.refresh_from_db()
    first.options["second_round"] = {"majority": 0.7}  # two against one is contested
    first.save(update_fields=["options"])
    open_second_round(first, read_thresholds(first, {}))
    set_budget(study, BUDGET_CENTS)
    batch = create_batch(study, MARKET_BATCH, "litepyramid", 2, {}, crowd="mturk")
    set_terms(batch, Terms.parse(MARKET_TERMS), "mturk")


def _account(name: str) -> User:
    user, is_new = User.objects.get_or_create(username=name, defaults={"is_demo": True})
    if is_new:
        user.set_password(PASSWORD)
        user.save()
    return user


def open_batch(study: Study, name: str, protocol: str, quota: int, options: dict[str, Any] | None = None) -> Batch:
    """A batch of the written systems, open at once."""
    return create_batch(study, name, protocol, quota, options, state=Batch.State.OPEN, judged=WRITTEN)


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
