"""What to do next in a study, and what it has cost: for its first page."""

from dataclasses import dataclass

from django.db.models import Count, Sum
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Batch, Entry, Study, Submission

from .progress import BatchProgress, StudyState


@dataclass(frozen=True)
class NextStep:
    """One thing to do, and where."""

    sentence: str
    button: str
    address: str


@dataclass(frozen=True)
class Spent:
    """A study's money, in cents; `left` is None without a budget."""

    paid: int
    promised: int
    left: int | None


def spent(study: Study) -> Spent | None:
    """What was paid and promised; None where money has no part in it."""
    if not study.entries.exists() and study.budget_cents is None:
        return None
    paid = study.entries.filter(state__in=Entry.COUNTED).aggregate(cents=Sum("paid_cents", default=0))["cents"]
    left = None if study.budget_cents is None else study.budget_cents - study.committed_cents
    return Spent(paid, study.committed_cents - paid, left)


def next_step(study: Study, state: StudyState) -> NextStep:
    """The most urgent: money that waits, then what stands open, then what was never begun."""
    facts = _Facts(study)
    return _about_money(study, facts) or _about_batches(study, state) or _about_answers(study, state, facts)


def _about_money(study: Study, facts: "_Facts") -> NextStep | None:
    if facts.doubtful:
        sentence = ngettext(
            "%(n)d payment waits for a person to say whether it was made.",
            "%(n)d payments wait for a person to say whether they were made.",
            facts.doubtful,
        )
        address = reverse("ledger", args=[study.slug]) + "?state=doubtful"
        return NextStep(sentence % {"n": facts.doubtful}, _("Look at the ledger"), address)
    if facts.unjudged:
        sentence = ngettext("%(n)d answer waits for a verdict.", "%(n)d answers wait for a verdict.", facts.unjudged)
        address = reverse("crowd-workers", args=[study.slug, facts.unjudged_batch]) + "?show=waiting"
        return NextStep(sentence % {"n": facts.unjudged}, _("Decide"), address)
    return None


def _about_batches(study: Study, state: StudyState) -> NextStep | None:
    """What is to be made, opened or watched; None once every batch is closed."""
    by_state = {name: [row for row in state.batches if row.batch.state == name] for name in Batch.State.values}
    if not state.batches:
        return NextStep(_("Nobody is asked anything yet."), _("Make a batch"), reverse("new-batch", args=[study.slug]))
    if running := by_state[Batch.State.OPEN] + by_state[Batch.State.PAUSED]:
        return _of_running(study, running)
    if drafts := by_state[Batch.State.DRAFT]:
        sentence = _("“%(name)s” is a draft: open it, or launch it on a market.") % {"name": drafts[0].batch.name}
        return NextStep(sentence, _("Open or launch it"), reverse("collect", args=[study.slug]))
    return None


def _about_answers(study: Study, state: StudyState, facts: "_Facts") -> NextStep:
    if not state.judgments:
        sentence = _("Every batch is closed, and nobody has judged.")
        return NextStep(sentence, _("Look at the batches"), reverse("collect", args=[study.slug]))
    if not facts.is_filtered:
        sentence = _("All batches are closed. Look at how far people agree, and decide whose answers count.")
        return NextStep(sentence, _("Look at the quality"), reverse("quality", args=[study.slug]))
    if not state.metrics:
        sentence = _("The answers are in and filtered: score the summaries with metrics to compare.")
        return NextStep(sentence, _("Score with metrics"), reverse("metrics", args=[study.slug]))
    return NextStep(_("Everything is in."), _("Read the report"), reverse("report", args=[study.slug]))


def _of_running(study: Study, running: list[BatchProgress]) -> NextStep:
    """The batch that is furthest from its end."""
    row = min(running, key=lambda row: row.percent)
    sentence = _("“%(name)s” is under way: %(n)d of %(of)d answers are in.") % {
        "name": row.batch.name,
        "n": row.submitted,
        "of": row.places,
    }
    return NextStep(sentence, _("Watch it"), reverse("monitor", args=[study.slug, row.batch.pk]))


class _Facts:
    """What the counts of a study don't tell: three queries."""

    def __init__(self, study: Study) -> None:
        waiting = Submission.objects.filter(posting__batch__study=study, state=Submission.State.SUBMITTED).order_by()
        batches = list(waiting.values_list("posting__batch").annotate(n=Count("pk")).order_by("-n"))
        self.unjudged = sum(n for _batch, n in batches)
        self.unjudged_batch = batches[0][0] if batches else 0
        self.doubtful = study.entries.filter(state=Entry.State.DOUBTFUL).count()
        self.is_filtered = study.filter_decisions.exists()
