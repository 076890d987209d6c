"""What a launch would cost, and what speaks against it: asked before anything is promised to anybody."""

from dataclasses import dataclass, field

from django.db.models import Max, Min
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.common.errors import Refused
from annotation.common.money import money
from annotation.crowds.base import Market
from annotation.crowds.lookup import market_for
from annotation.crowds.terms import Terms
from annotation.crowds.terms.presets import PRESETS
from annotation.guidance import Kind, is_default, newest_text
from annotation.guidance.pinning import instructions_of
from annotation.judging.pace import usual_seconds
from annotation.models import Batch, Entry, Study

from .plan import plan

FEW = 10
"""With fewer workers who may take it, a launch warns."""
USUAL_WAGE = 800
"""Cents an hour, where the study says nothing: what Prolific asks of researchers at the least, in dollars."""


@dataclass(frozen=True)
class Quote:
    places: int
    postings: int
    reward_cents: int
    """All rewards together."""
    fee_cents: int
    total_cents: int
    hourly_cents: int | None
    """What a worker earns in an hour, by the pilot's active time or by the estimate; None when neither is known."""
    wage_source: str
    minimum_cents: int | None
    """The study's minimum wage per hour."""
    warnings: list[str] = field(default_factory=list)
    balance_cents: int | None = None
    budget_left_cents: int | None = None
    qualified: tuple[int, int] | None = None
    """How many workers the market has, and how many of them may take it; None where it doesn't tell."""
    problems: list[str] = field(default_factory=list)
    """While there is one, a launch is refused."""

    @property
    def shuts_out(self) -> bool:
        """Whether hardly anybody may take it."""
        return self.qualified is not None and self.qualified[1] < min(FEW, self.qualified[0])


def quote(batch: Batch, terms: Terms, crowd: str | None = None) -> Quote:
    """The price of what is not on the market yet, on the batch's crowd or another one."""
    market = market_for(crowd or batch.crowd, batch.study)
    tokens = set(batch.entries.filter(kind=Entry.Kind.POST).exclude(state="failed").values_list("token", flat=True))
    places = postings = rewards = fees = 0
    for planned in plan(batch, terms, market):
        if planned.token not in tokens:
            postings, places = postings + 1, places + planned.places
            rewards += planned.places * planned.reward_cents
            fees += planned.places * planned.fee_cents
    total = rewards + fees
    balance, problems = _balance(market)
    study = Study.objects.get(pk=batch.study_id)
    budget_left = None if study.budget_cents is None else study.budget_cents - study.committed_cents
    hourly, source = wage(batch, terms, rewards / places if places else terms.reward_cents, market)
    qualified = market.qualified(terms.as_json()) if balance is not None else None
    problems += _problems(batch, terms, market, places or len(tokens))
    problems += _too_dear(total, balance, budget_left, study.currency)
    return Quote(
        places=places,
        postings=postings,
        reward_cents=rewards,
        fee_cents=fees,
        total_cents=total,
        hourly_cents=hourly,
        wage_source=source,
        minimum_cents=least_wage(study),
        warnings=_warnings(batch, market, terms, hourly, qualified),
        qualified=qualified,
        balance_cents=balance,
        budget_left_cents=budget_left,
        problems=problems,
    )


def refuse_problems(offer: Quote) -> None:
    """Raise the problems of a quote as one refusal."""
    if offer.problems:
        raise Refused(" ".join([*offer.problems, _("Nothing was spent.")]))


def wage(batch: Batch, terms: Terms, reward: float, market: Market) -> tuple[int | None, str]:
    """Cents per hour and where the time comes from. `reward` is the mean per place."""
    if not market.pays:
        return None, ""
    tasks = terms.tasks_per_participant if market.one_posting else 1
    seconds, answers = pilot_seconds(batch)
    if seconds:
        source = ngettext(
            "active time of %(n)d answer in this study", "median active time of %(n)d answers in this study", answers
        ) % {"n": answers}
        return round(reward * 3600 / (seconds * tasks)), source
    if terms.minutes:
        return round(reward * 60 / (terms.minutes * tasks)), _("estimate of %(minutes)g minutes a task") % {
            "minutes": terms.minutes
        }
    return None, ""


def pilot_seconds(batch: Batch) -> tuple[float | None, int]:
    """The median active time on a task of this protocol in this study, and of how many answers."""
    return usual_seconds(batch.study_id, batch.protocol)


def _balance(market: Market) -> tuple[int | None, list[str]]:
    try:
        market.check()
        return market.balance_cents(), []
    except Refused as refusal:
        return None, [str(refusal)]


def _problems(batch: Batch, terms: Terms, market: Market, places: int) -> list[str]:
    problems = []
    if not places:
        problems.append(_("“%(batch)s” has no tasks.") % {"batch": batch})
    if batch.state == Batch.State.CLOSED or batch.close_asked_at is not None:
        problems.append(_("“%(batch)s” is closed.") % {"batch": batch})
    if market.pays and batch.tasks.exclude(reserved_for=None).exists():
        problems.append(_("A second look belongs to the people who gave the first answers; a crowd can't do it."))
    if market.pays and not (terms.title and terms.description):
        problems.append(_("A title and a description are needed: workers choose by them."))
    if unknown := set(terms.exclude_batches) - set(batch.study.batches.values_list("pk", flat=True)):
        problems.append(_("Batch %(n)s, to be excluded, is none of this study.") % {"n": min(unknown)})
    return problems + market.problems(batch, terms.as_json())


def _too_dear(total: int, balance: int | None, budget_left: int | None, currency: str) -> list[str]:
    amounts = {"total": money(total), "currency": currency}
    problems = []
    if balance is not None and balance < total:
        problems.append(
            _("This costs %(total)s %(currency)s, but the account on the market holds %(balance)s: put money in first.")
            % {**amounts, "balance": money(balance)}
        )
    if budget_left is not None and budget_left < total:
        problems.append(
            _("This costs %(total)s %(currency)s, but only %(left)s of the study's budget are left.")
            % {**amounts, "left": money(max(0, budget_left))}
        )
    return problems


def _warnings(
    batch: Batch, market: Market, terms: Terms, hourly: int | None, qualified: tuple[int, int] | None
) -> list[str]:
    if not market.pays:
        return []
    return [
        *_crowd_warnings(terms, qualified),
        *_wage_warnings(batch.study, hourly),
        *_preset_warnings(batch, terms),
        *_guidance_warnings(batch),
    ]


def _crowd_warnings(terms: Terms, qualified: tuple[int, int] | None) -> list[str]:
    """Where the requirements leave too few: on a young market nobody has thousands of approved HITs."""
    if qualified is None or not terms.requirements or qualified[1] >= min(FEW, qualified[0]):
        return []
    return [
        _(
            "Of %(all)d workers of this market, %(n)d may take it by these requirements: fewer approved HITs would let "
            "more in."
        )
        % {"all": qualified[0], "n": qualified[1]}
    ]


def _wage_warnings(study: Study, hourly: int | None) -> list[str]:
    least = least_wage(study)
    if hourly is None:
        return [_("Nobody knows yet how long a task takes: run a pilot, or give an estimate, to see the hourly wage.")]
    if hourly >= least:
        return []
    amounts = {"hourly": money(hourly), "currency": study.currency, "least": money(least)}
    if study.minimum_wage_cents is None:
        return [
            _(
                "%(hourly)s %(currency)s an hour is below %(least)s, the usual minimum; the Ledger page sets the "
                "study's own."
            )
            % amounts
        ]
    return [_("%(hourly)s %(currency)s an hour is below the study's minimum wage of %(least)s.") % amounts]


def least_wage(study: Study) -> int:
    """Cents an hour below which a launch warns: the study's own, or what markets ask for."""
    return USUAL_WAGE if study.minimum_wage_cents is None else study.minimum_wage_cents


def _preset_warnings(batch: Batch, terms: Terms) -> list[str]:
    """Where the terms of a published study mean another number of answers than the batch asks for."""
    asked_for = PRESETS[terms.preset]["quota"] if terms.preset in PRESETS else 0
    quotas = batch.tasks.aggregate(least=Min("quota"), most=Max("quota"))
    least, most = quotas["least"], quotas["most"]
    if not asked_for or least is None or least == most == asked_for:
        return []
    sentence = _("The preset means %(n)d answers a task, and this batch asks for %(quota)s: make another, or go on.")
    return [sentence % {"n": asked_for, "quota": least if least == most else f"{least}–{most}"}]


def _guidance_warnings(batch: Batch) -> list[str]:
    """What workers are not told, asked or tested before their first task, and what nobody has made the study's own."""
    texts = {_("consent text"): newest_text(batch.study, Kind.CONSENT), _("instructions"): instructions_of(batch)}
    plan_row = batch.study.practice_plans.filter(protocol=batch.protocol).first()
    has_test = plan_row is not None and plan_row.test_required
    missing = [name for name, text in texts.items() if text is None]
    missing += [] if has_test else [_("qualification test")]
    defaults = [name for name, text in texts.items() if is_default(text)]
    sentences = {
        _("Missing for workers: %(things)s. The Guidance page has them."): missing,
        _("Workers read the default text: %(things)s. Look at it on the Guidance page and make it your own."): defaults,
    }
    return [sentence % {"things": ", ".join(names)} for sentence, names in sentences.items() if names]
