"""A study rehearsed from launch to report with a simulated crowd, over HTTP and through the requester API."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil

from django.conf import settings

from analysis.filters.caught import Examined
from analysis.tables import AnalysisError
from annotation.common.errors import Refused
from annotation.common.money import money
from annotation.crowds.collect import collect
from annotation.crowds.launch.close import close, expire
from annotation.crowds.launch.publish import publish
from annotation.crowds.launch.quote import Quote, quote
from annotation.crowds.launch.top_up import ask_for_more, open_places, top_up_of
from annotation.crowds.lookup import market_for
from annotation.crowds.pay.approve import approve, bonus, reject
from annotation.crowds.settle import Settled, settle
from annotation.crowds.terms import set_terms
from annotation.models import Batch, FilterDecision, Study, Submission, Worker
from annotation.tables.trusted import systems_judgments

from .caught_workers import Findings, examine, findings
from .characters import parse_crowd, people_of
from .crowd import Crowd, Worked
from .ledger_check import Books, ledger_sums, listed_sums, statement_sums
from .stage import Plan, copy_study, judged_batches, prepare
from .truth import truth_of

Told = Callable[[str], None]
REASON = "The answers to control questions, or their agreement with all others, show that the text was not read."
THANKS = "Thank you for careful work."
BEST = 2
WAVES = 3
"""Places that were abandoned come free again: the crowd looks in so often."""


@dataclass(frozen=True)
class Rehearsal:
    """What came of it."""

    plan: Plan
    batch: Batch
    quote: Quote
    worked: list[Worked]
    findings: Findings
    books: Books
    settled: Settled
    approved: int
    rejected: int
    bonuses: int
    topped_up: int
    seconds: float
    steps: list[str] = field(default_factory=list)


def rehearse(plan: Plan, tell: Told = lambda line: None) -> Rehearsal:
    """Launch, work, collect, filter, approve, pay, settle and report. Refused says what stands in the way."""
    begun = time.monotonic()
    stage = Stage(plan, tell)
    stage.launch()
    stage.work()
    stage.filter()
    stage.judge()
    stage.top_up()
    settled, books = stage.end()
    return Rehearsal(
        plan=plan,
        batch=stage.batch,
        quote=stage.quote,
        worked=stage.crowd.worked(),
        findings=stage.findings(),
        books=books,
        settled=settled,
        approved=stage.approved,
        rejected=stage.rejected,
        bonuses=stage.bonuses,
        topped_up=stage.topped_up,
        seconds=time.monotonic() - begun,
        steps=stage.steps,
    )


class Stage:
    """A rehearsal under way."""

    def __init__(self, plan: Plan, tell: Told) -> None:
        self.plan, self.tell = plan, tell
        self.people = people_of(parse_crowd(plan.crowd), plan.seed)
        self.market = market_for("mturk")
        self.market.check()
        self.balance = self.market.balance_cents()
        self.study = copy_study(plan.study, plan.seed)
        self.batch, self.terms = prepare(plan, self.study)
        self.truth = truth_of(self.batch, plan.seed, judged_batches(plan))
        self.crowd = Crowd(self.people, settings.MTURK_ENDPOINT_URL, self.truth, at_once=plan.at_once)
        self.sent_away: set[str] = set()
        self.examined: Examined
        self.steps: list[str] = []
        self.notes: list[str] = []
        self.approved = self.rejected = self.bonuses = self.topped_up = 0

    def say(self, line: str) -> None:
        self.steps.append(line)
        self.tell(line)

    def launch(self) -> None:
        self.quote = quote(self.batch, self.terms, "mturk")
        total = self.quote.total_cents
        self.say(f"Quote: {self.quote.places} places for {money(total)} {self.study.currency}, fees included.")
        # Room for the quote, for bonuses and for answers that are asked for again.
        Study.objects.filter(pk=self.study.pk).update(budget_cents=2 * total + 100_00)
        set_terms(self.batch, self.terms, "mturk")
        done = publish(self.batch)
        self.say(f"Published: {done.postings} HITs at {settings.MTURK_ENDPOINT_URL}.")

    def work(self, again: bool = False) -> None:
        """Let the crowd work until all places are filled, or nobody comes for them any more.

        First everybody gets a fair share, so that the planted are seen at work; then whoever wants takes the rest.
        """
        for wave in range(WAVES):
            people = [one for one in self.people if one.name not in self.sent_away]
            # Who was late or left is not waited for again.
            if wave or again:
                people = [one for one in people if not one.character.late and not one.character.leaves]
            share = 1000 if wave or again else ceil(self.quote.places / len(people))
            taken = self.crowd.work(people, self.terms.title, most=share, tell=lambda line: self.tell(f"  {line}"))
            found = collect(self.batch)
            left = sum(open_places(self.batch).values())
            self.say(f"Collected: {found.submissions} submissions, {found.confirmed} count; {left} places are open.")
            if not left or not taken:
                return

    def filter(self) -> None:
        """Put the rules in force that can be applied here; the others are told."""
        from analysis.filters import apply_rules

        judgments, rules = systems_judgments(self.study), list[str]()
        for rule in self.plan.rules:
            try:
                apply_rules(judgments, [*rules, rule], seed=self.plan.seed)
                rules.append(rule)
            except AnalysisError as problem:
                self.notes.append(f"The rule {rule} was left out: {problem}")
        if rules:
            FilterDecision.objects.create(study=self.study, rules=rules, seed=self.plan.seed)
        self.examined = examine(self.batch, self.truth, rules, self.plan.seed)
        self.say(f"Filtered by {', '.join(rules) or 'no rule'}: {len(self.caught)} workers lose answers.")

    @property
    def caught(self) -> list[str]:
        return list(self.examined.caught)

    def findings(self) -> Findings:
        return findings(self.batch, self.crowd.worked(), self.truth, self.examined, self.notes)

    def judge(self) -> None:
        """Reject or pay the caught, approve the others, thank the best, and send the caught away."""
        caught = list(Worker.objects.filter(study=self.study, pseudonym__in=self.caught))
        if self.plan.reject_caught:
            self.rejected = reject(self._waiting(caught), REASON, None).done
        self.approve()
        best = self._best()
        self.bonuses = sum(bonus(turn, self.plan.bonus_cents, THANKS, None).done for turn in best)
        names = {one.worker_id: one.person.name for one in self.crowd.worked()}
        for worker in caught:
            self.market.block(worker, REASON)
            self.sent_away.add(names.get(worker.external_id, ""))
        self.say(f"Approved {self.approved}, rejected {self.rejected}, paid {self.bonuses} bonuses.")

    def approve(self) -> None:
        self.approved += approve(self._waiting(), None).done

    def _waiting(self, workers: list[Worker] | None = None) -> list[Submission]:
        waiting = Submission.objects.filter(posting__batch=self.batch, state=Submission.State.SUBMITTED)
        return list(waiting if workers is None else waiting.filter(worker__in=workers))

    def _best(self) -> list[Submission]:
        """A turn of each of those who gave the most answers that were kept."""
        if not self.plan.bonus_cents:
            return []
        turns: dict[int, list[Submission]] = {}
        approved = Submission.objects.filter(posting__batch=self.batch, state=Submission.State.APPROVED)
        for one in approved.exclude(worker__pseudonym__in=self.caught).order_by("pk"):
            turns.setdefault(one.worker_id, []).append(one)
        most = sorted(turns.values(), key=lambda some: (-len(some), some[0].worker_id))
        return [some[0] for some in most[:BEST]]

    def top_up(self) -> None:
        """Ask again for the answers that were lost, and let the others give them."""
        lost = top_up_of(self.batch)
        if not lost.tasks:
            return
        done = ask_for_more(self.batch, None)
        self.say(f"Asked for {done.places} answers again, for {money(done.cents)} {self.study.currency}.")
        before = self._handed_in()
        self.work(again=True)
        self.topped_up = self._handed_in() - before
        self.approve()

    def _handed_in(self) -> int:
        return sum(one.count("handed in") for one in self.crowd.worked())

    def end(self) -> tuple[Settled, Books]:
        expire(self.batch)
        listed = listed_sums(self.batch)
        settled = settle(self.study)
        self.say(f"Settled: {len(settled.doubtful)} doubtful entries, {len(settled.differences)} differences.")
        try:
            close(self.batch)
        except Refused as refusal:  # the report shows what is left
            self.notes.append(str(refusal))
        after = self.market.balance_cents()
        spent = self.balance - after if self.balance is not None and after is not None else None
        statement = statement_sums(self.batch, settings.MTURK_ENDPOINT_URL)
        books = Books(ledger_sums(self.batch), listed, statement, spent)
        total = f"{money(books.ledger.total)} {self.study.currency}"
        self.say(f"The ledger balances with the market's books: {total}." if books.balanced else "The books differ.")
        return settled, books
