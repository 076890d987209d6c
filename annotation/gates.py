"""What stands before a worker's first task: consent, a tutorial, a test. Each gate registers itself here."""

from collections.abc import Callable

from .models import Batch, Worker

# Called with the batch and the worker; returns the address to go to first, or None when the way is free.
Gate = Callable[[Batch, Worker], str | None]
GATES: list[Gate] = []


def first_gate(batch: Batch, worker: Worker) -> str | None:
    """Where the worker must go before taking a task of this batch; None when nothing is in the way."""
    return next((address for gate in GATES if (address := gate(batch, worker))), None)
