"""What the operator decides: who may take part, who is a master, and the fees. Each decision is in the audit log."""

from typing import Any

from django.db import transaction

from annotation.marketplace.errors import BadParameter, DoesNotExist
from annotation.marketplace.models import Account, MarketSettings, Requester, Worker

from . import record

MOST_PERCENT = 100


def set_worker_active(worker: Worker, active: bool, actor: Account, reason: str = "") -> None:
    """Close or open a worker's account. A closed one keeps what it earned, and takes no new HITs."""
    _set(worker, "is_active", active, actor, "worker opened" if active else "worker closed", worker.worker_id, reason)


def set_requester_active(requester: Requester, active: bool, actor: Account, reason: str = "") -> None:
    """Close or open a requester. The HITs of a closed one are hidden; work that is under way goes on."""
    action = "requester opened" if active else "requester closed"
    _set(requester, "is_active", active, actor, action, requester.requester_id, reason)


def set_master(worker: Worker, master: bool, actor: Account, reason: str = "") -> None:
    _set(worker, "is_master", master, actor, "Masters granted" if master else "Masters taken", worker.worker_id, reason)


def _set(
    row: Worker | Requester, field: str, value: bool, actor: Account, action: str, subject: str, reason: str
) -> None:
    if getattr(row, field) == value:
        return
    with transaction.atomic():
        setattr(row, field, value)
        row.save(update_fields=[field])
        record(actor, action, subject, reason=reason)


def change_settings(actor: Account, **values: Any) -> MarketSettings:
    """Fees count for HITs that are created from now on; HITs there are keep what was agreed."""
    settings = MarketSettings.current()
    for name, value in values.items():
        if name.endswith("_percent") and not 0 <= value <= MOST_PERCENT:
            raise BadParameter(f"A fee is 0 to {MOST_PERCENT} percent, not {value}.")
    changes = {
        name: [getattr(settings, name), value] for name, value in values.items() if getattr(settings, name) != value
    }
    if changes:
        with transaction.atomic():
            for name, value in values.items():
                setattr(settings, name, value)
            settings.save()
            record(actor, "settings", "market", **changes)
    return settings


def worker_by_id(worker_id: str) -> Worker:
    worker = Worker.objects.select_related("account").filter(worker_id=worker_id).first()
    if worker is None:
        raise DoesNotExist("There is no such worker.")
    return worker


def requester_by_id(requester_id: str) -> Requester:
    requester = Requester.objects.select_related("account").filter(requester_id=requester_id).first()
    if requester is None:
        raise DoesNotExist("There is no such requester.")
    return requester
