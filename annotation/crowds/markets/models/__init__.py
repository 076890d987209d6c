"""Models as a source of judgments: a judge is asked the tasks of a batch that people were asked, or will be.

One posting stands for a whole batch, and a single worker, the judge, does all its tasks. Nobody is paid here: what the
endpoint bills is a line of the ledger of its own (annotation/crowds/judges/money.py).
"""

from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.crowds.base import Listed, Market, MarketRefused, Posted
from annotation.models import Batch, Judge, Posting, Submission, Worker

from . import entailment
from .endpoint import Endpoint

__all__ = ["Models", "check_judge"]


def check_judge(judge: Judge) -> None:
    """MarketRefused or MarketUnreachable, with one sentence and before anything is spent, unless it can be asked."""
    if judge.kind == Judge.Kind.NLI:
        entailment.check(judge.model)
    else:
        Endpoint(judge.endpoint).check_model(judge.model)


class Models(Market):
    name = "models"
    title = gettext_lazy("Models")
    pays = False
    one_posting = True
    confirms = False
    of_people = False
    recruited = "language models, asked by this site; no people"

    def check(self) -> None:
        """Which judge is asked is for the Judges page to say; `check_judge` looks at it."""

    def post(self, posting: Posting) -> Posted:
        return Posted(market_id=f"judge-{posting.batch_id}", places=posting.places)

    def find(self, batch: Batch) -> Iterator[tuple[str, Posted]]:
        for posting in batch.postings.exclude(market_id=""):
            yield posting.token, Posted(market_id=posting.market_id, places=posting.places, state=posting.state)

    def listed(self, posting: Posting) -> Iterator[Listed]:
        """What it said is here already."""
        yield from ()

    def problems(self, batch: Batch, terms: dict[str, object]) -> list[str]:
        return [_("Models are asked on the Judges page of the study.")]

    def expire(self, posting: Posting) -> None:
        """Closing the batch is enough."""

    def close(self, posting: Posting) -> None:
        """As above."""

    def approve(self, submission: Submission, *, undo_rejection: bool = False) -> None:
        """Nobody is paid here."""

    def reject(self, submission: Submission, reason: str) -> None:
        raise MarketRefused(_("A model is not rejected: leave its answers out. Nothing was changed."))

    def block(self, worker: Worker, reason: str) -> None:
        """`Worker.blocked_at` is enough."""

    def unblock(self, worker: Worker) -> None:
        """As above."""
