"""The MTurk API about workers: who is kept out of a batch, who is blocked, who is written to."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.utils.translation import gettext as _

from annotation.crowds.base import Market, MarketRefused
from annotation.crowds.ledger import batch_tag
from annotation.models import Batch, Study, Worker

from .documents import TurkRefused

NOTIFY_AT_ONCE = 100


class MTurkPeople(Market):
    """Half of the MTurk market; the calls themselves are made in `MTurk`."""

    def __init__(self, study: Study | None = None) -> None:
        super().__init__(study)
        self._exclusions: dict[int, str] = {}

    @abstractmethod
    def _call(self, operation: str, **params: Any) -> dict[str, Any]:
        """One call."""

    @abstractmethod
    def _pages(self, operation: str, **params: Any) -> Iterator[dict[str, Any]]:
        """Every page of a list."""

    def exclude(self, batch: Batch, workers: Sequence[Worker]) -> None:
        if not batch.terms.get("exclude_batches"):
            return
        type_id = self.exclusion(batch)
        for worker in workers:
            if worker.crowd == self.name:
                self._call(
                    "associate_qualification_with_worker",
                    QualificationTypeId=type_id,
                    WorkerId=worker.external_id,
                    IntegerValue=1,
                    SendNotification=False,
                )

    def exclusion(self, batch: Batch) -> str:
        """The qualification of our own that says: has worked on an earlier batch."""
        if batch.pk not in self._exclusions:
            self._exclusions[batch.pk] = self._own_qualification(f"Has worked on an earlier batch ({batch_tag(batch)})")
        return self._exclusions[batch.pk]

    def _own_qualification(self, name: str) -> str:
        purpose = (
            "Given to people who have worked on the same texts before. It keeps answers independent of each other."
        )
        try:
            answer = self._call(
                "create_qualification_type", Name=name, Description=purpose, QualificationTypeStatus="Active"
            )
            return str(answer["QualificationType"]["QualificationTypeId"])
        except TurkRefused as refusal:
            if refusal.code != "QualificationTypeAlreadyExists":
                raise
        query = {"Query": name, "MustBeRequestable": False, "MustBeOwnedByCaller": True}
        for page in self._pages("list_qualification_types", **query):
            for qualification in page["QualificationTypes"]:
                if qualification["Name"] == name:
                    return str(qualification["QualificationTypeId"])
        raise MarketRefused(_("The market has a qualification named “%(name)s” and doesn't list it.") % {"name": name})

    def block(self, worker: Worker, reason: str) -> None:
        self._call("create_worker_block", WorkerId=worker.external_id, Reason=reason)

    def unblock(self, worker: Worker) -> None:
        self._call("delete_worker_block", WorkerId=worker.external_id)

    def message(self, workers: Sequence[Worker], subject: str, text: str) -> Iterable[str]:
        ids = [worker.external_id for worker in workers]
        missed: list[str] = []
        for first in range(0, len(ids), NOTIFY_AT_ONCE):
            worker_ids = ids[first : first + NOTIFY_AT_ONCE]
            answer = self._call("notify_workers", Subject=subject, MessageText=text, WorkerIds=worker_ids)
            missed += [failure["WorkerId"] for failure in answer.get("NotifyWorkersFailureStatuses", [])]
        return missed
