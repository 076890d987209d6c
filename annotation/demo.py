"""The demo: a study to look at, and an account for each role. It exists in demo mode only."""

from pathlib import Path

from django.conf import settings
from django.db import transaction

from .errors import Refused
from .models import Batch, FilterDecision, Membership, Role, Study, Task, User
from .protocols import get as protocol_named
from .scores import score_study
from .transfer.importer import Progress, import_study

STUDY = "Demo: twelve stories, six systems"
FOLDER = Path(settings.BASE_DIR) / "fixtures" / "demo"
PASSWORD = "demo"  # noqa: S105  public by design; demo accounts are nobody outside the demo
DEMO_ACCOUNTS = {"annotator": Role.ANNOTATOR, "admin": Role.ADMIN, "analyst": Role.ANALYST}
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
        for name, role in DEMO_ACCOUNTS.items():
            Membership.objects.create(study=study, user=_account(name), role=role)
        FilterDecision.objects.create(study=study, rules=["majority-dissent"])
        open_batch(study, "Judge along", "litepyramid", QUOTA)
        score_study(study, ["rouge-1-f", "rouge-1-r", "rouge-1-p"])
    return True


def _account(name: str) -> User:
    user, made = User.objects.get_or_create(username=name, defaults={"is_demo": True})
    if made:
        user.set_password(PASSWORD)
        user.save()
    return user


def open_batch(study: Study, name: str, protocol: str, quota: int) -> Batch:
    """A batch with one task per summary, open at once."""
    kind = protocol_named(protocol)
    batch = Batch.objects.create(
        study=study,
        name=name,
        protocol=kind.name,
        state=Batch.State.OPEN,
        scale_min=kind.scale_min,
        scale_max=kind.scale_max,
    )
    summaries = study.documents.order_by("doc_id").values_list("pk", "summaries__pk")
    Task.objects.bulk_create(
        Task(batch=batch, document_id=document, summary_id=summary, quota=quota) for document, summary in summaries
    )
    return batch
