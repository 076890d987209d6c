"""The Monitor page: the state of a batch, its charts, and what an admin may do next."""

from collections import Counter
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from annotation import protocols
from annotation.common.errors import Refused
from annotation.common.parsing import parse_int
from annotation.crowds.base import Market
from annotation.crowds.launch.top_up import TopUp, kept_answers, top_up_of
from annotation.crowds.lookup import MARKETS, market_for
from annotation.crowds.pay.shares import unpaid_shares
from annotation.crowds.pay.work_done import whole_and_other
from annotation.jobs import MONEY_KINDS
from annotation.jobs.page_cache import Newest, newest_content
from annotation.models import Batch, Job, MarketHook, Schedule, Submission

from .charts import hours_chart, levels, scatter
from .ending import can_close, can_expire
from .flags import flags_of
from .monitor import Monitor, monitor
from .schedule import schedule_of, schedule_steps
from .situation import situation
from .workers import price_of_approval


def market_of(batch: Batch) -> Market | None:
    """The batch's market; None for answers that were imported."""
    return market_for(batch.crowd, batch.study) if batch.crowd in MARKETS else None


def last_job(batch: Batch) -> Job | None:
    """The newest crowd job of this batch that a person asked for: what it does, or what came of it."""
    jobs = batch.study.jobs.filter(kind__in=MONEY_KINDS, options__batch=batch.pk)
    return jobs.exclude(options__has_key="scheduled").first()


def live_part(batch: Batch, *, people: bool) -> dict[str, Any]:
    """What refreshes itself; `people` only for admins."""
    state = monitor(batch)
    return {
        "monitor": state,
        "situation": situation(batch, state),
        "hours": hours_chart(state.hours),
        "levels": levels(state),
        "figures": newest_content("workers", batch.study, None) if people else None,
        "scatter": scatter(batch) if people else None,
    }


def admin_part(batch: Batch, state: Monitor, figures: Newest) -> dict[str, Any]:
    """What only admins see: prices, what can be asked for again, files."""
    market = market_of(batch)
    complete, incomplete = whole_and_other(_unjudged(batch))
    is_posted = bool(state.postings) and market is not None and market.pays
    return {
        "approval": price_of_approval(complete),
        "upto": max((submission.pk for submission in [*complete, *incomplete]), default=0),
        "without_answers": incomplete,
        "price_without_answers": price_of_approval(incomplete),
        "shares": (shares := unpaid_shares(batch) if is_posted else []),
        "price_of_shares": sum(share.cents + _bonus_fee(market, share.cents) for share in shares),
        "can_expire": can_expire(state),
        "can_close": can_close(state),
        "closes_later": batch.close_asked_at and batch.state != Batch.State.CLOSED,
        "top_up": _top_up(batch, figures) if is_posted else TopUp([], None),
        "posted": is_posted,
        "schedule": schedule_of(batch) if is_posted else None,
        "hook": MarketHook.objects.filter(study=batch.study, crowd=batch.crowd).first() if is_posted else None,
        "steps": schedule_steps(batch) if is_posted else [],
        "rules": Schedule.Rule.choices,
        "background": settings.BACKGROUND,
        "flags": flags_of(batch),
        "csv_form": batch.round == 1 and any(protocol.csv_form for protocol in protocols.among([batch.protocol])),
    }


def _top_up(batch: Batch, figures: Newest) -> TopUp | None:
    """What is missing; None while it isn't worked out yet what the filter leaves."""
    if batch.study.filter_in_force() is None:
        return top_up_of(batch, Counter(kept_answers(batch, None)))
    kept = figures.content.get("kept", {}).get(str(batch.pk))
    return None if kept is None else top_up_of(batch, {int(task): n for task, n in kept.items()})


def _unjudged(batch: Batch, upto: int | None = None) -> list[Submission]:
    submissions = Submission.objects.filter(posting__batch=batch, state=Submission.State.SUBMITTED)
    submissions = submissions if upto is None else submissions.filter(pk__lte=upto)
    rows = list(submissions.select_related("posting", "worker__user").order_by("pk"))
    for row in rows:
        row.posting.batch = batch  # not fetched with each of them
    return rows


def approval_seen(batch: Batch, upto: str, total: str, *, without_answers: bool = False) -> list[int]:
    """What "Approve all" on the page meant: work that came since is not in it. Refused when the sum is another one.

    Hand-ins that have not all promised answers with us are left out; `without_answers` means just these.
    """
    submissions = whole_and_other(_unjudged(batch, parse_int(upto)))[without_answers]
    if not submissions or str(price_of_approval(submissions).total_cents) != total:
        raise Refused(_("Meanwhile other answers wait for a verdict. Nothing was paid: look at the sum again."))
    return [submission.pk for submission in submissions]


def handed_in_without_answers(batch: Batch, upto: str) -> list[int]:
    """What "Reject" under that heading meant."""
    submissions = whole_and_other(_unjudged(batch, parse_int(upto)))[1]
    return [submission.pk for submission in submissions]


def shares_seen(batch: Batch, total: str) -> list[int]:
    """Whose share "Pay" meant. Refused when the sum is another one."""
    shares, market = unpaid_shares(batch), market_for(batch.crowd, batch.study)
    if not shares or str(sum(share.cents + _bonus_fee(market, share.cents) for share in shares)) != total:
        raise Refused(_("Meanwhile other shares are due. Nothing was paid: look at the sum again."))
    return [share.submission.pk for share in shares]


def _bonus_fee(market: Market | None, cents: int) -> int:
    return market.bonus_fee_cents(cents) if market else 0
