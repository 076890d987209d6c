"""Money in the storm, each part in a process of its own: `launch`, `pay` (for ever, until killed), `close`.

A batch of forms stands on the marketplace; the crowd hands them in there. The paymaster collects, approves and pays a
bonus for each, again and again. It is killed at random; `close` settles and compares the ledger with the
market's books.
"""

from __future__ import annotations

import json
import sys
import time

import django

django.setup()

from django.db import DatabaseError, close_old_connections  # noqa: E402

from annotation.common.errors import Refused  # noqa: E402
from annotation.crowds.base import MarketUnreachable  # noqa: E402
from annotation.crowds.collect import collect  # noqa: E402
from annotation.crowds.launch.close import expire  # noqa: E402
from annotation.crowds.launch.publish import publish, set_terms  # noqa: E402
from annotation.crowds.pay.approve import approve, bonus  # noqa: E402
from annotation.crowds.settle import settle  # noqa: E402
from annotation.crowds.terms import Terms  # noqa: E402
from annotation.models import Batch, Entry, Study, Submission  # noqa: E402
from annotation.rehearsal.ledger_check import ledger_sums, listed_sums  # noqa: E402
from annotation.studies.batches import create_batch  # noqa: E402

NAME, CENTS, REASON = "Paid forms", 3, "For careful work"


def launch() -> dict[str, int]:
    study = Study.objects.order_by("-pk").first()
    assert study is not None
    batch = create_batch(study, NAME, "litepyramid", 1, crowd="mturk")
    batch.tasks.exclude(pk__in=list(batch.tasks.values_list("pk", flat=True)[:80])).delete()
    terms = {"reward_cents": 12, "title": NAME, "description": "Forms.", "question": "html", "minutes": 1}
    set_terms(batch, Terms.parse(terms))
    published = publish(batch)
    return {"postings": published.postings}


def pay() -> None:
    while True:
        try:
            batch = Batch.objects.get(name=NAME)
            collect(batch)
            submissions = Submission.objects.filter(posting__batch=batch, state="submitted")
            approve(list(submissions[:5]), None)
            approved = Submission.objects.filter(posting__batch=batch, state="approved")
            for submission in approved.exclude(entries__kind="bonus")[:3]:
                bonus(submission, CENTS, REASON, None)
        except (Refused, MarketUnreachable, DatabaseError):
            time.sleep(0.3)
        close_old_connections()


def close() -> dict[str, object]:
    batch = Batch.objects.get(name=NAME)
    for _ in range(3):
        settle(batch.study)
        approve(list(Submission.objects.filter(posting__batch=batch, state="submitted")), None)
        for submission in Submission.objects.filter(posting__batch=batch, state="approved"):
            if not submission.entries.filter(kind="bonus", state="settled").exists():
                bonus(submission, CENTS, REASON, None)
    expire(batch)
    settled = settle(batch.study)
    ledger_totals, market_sums = ledger_sums(batch), listed_sums(batch)
    approved = Submission.objects.filter(posting__batch=batch, state="approved").count()
    return {
        "approved": approved,
        "bonuses": Entry.objects.filter(batch=batch, kind="bonus", state="settled").count(),
        "differences": settled.differences,
        "unsettled": Entry.objects.filter(batch=batch, state__in=["planned", "doubtful"]).count(),
        "ledger": [ledger_totals.rewards, ledger_totals.bonuses, ledger_totals.fees],
        "listed": [market_sums.rewards, market_sums.bonuses, market_sums.fees],
        "expected": [approved * 12, approved * CENTS],
    }


if __name__ == "__main__":
    print(json.dumps({"launch": launch, "pay": pay, "close": close}[sys.argv[1]]()))
