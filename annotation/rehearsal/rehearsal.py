"""A study rehearsed from launch to report with a simulated crowd, over HTTP and through the requester API."""

import time
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
from annotation.crowds.ledger import set_budget
from annotation.crowds.lookup import market_for
from annotation.crowds.pay.approve import approve, bonus, reject
from annotation.crowds.settle import Settled, settle
from annotation.crowds.terms import set_terms
from annotation.models import FilterDecision, Posting, Submission, Worker
from annotation.tables.trusted import chosen_judgments

from .caught_workers import Findings, examine, findings
from .characters import parse_crowd, people_of
from .crowd import Crowd, Tell, Worked
from .ledger_check import Books, ledger_sums, listed_sums, statement_sums
from .marks import marker_for
from .stage import Plan, copy_study, judged_batches, left_to_spend, plan_like, prepare
from .truth import truth_of

REASON = "The answers to control questions, or their agreement with all others, show that the text was not read."
THANKS = "Thank you for careful work."
BEST = 2
WAVES = 3
"""Places that were abandoned come free again: the crowd looks in so often."""


def rehearse(plan: Plan, tell: Tell = lambda line: None) -> "Rehearsal":
    """Launch, work, collect, filter, approve, pay, settle and report. Refused says what stands in the way."""
    begun = time.monotonic()
    rehearsal = Rehearsal(plan_like(plan), tell)
    try:
        rehearsal.prepare()
        rehearsal.launch()
        rehearsal.work()
        rehearsal.filter()
        rehearsal.judge()
        rehearsal.top_up()
        rehearsal.end()
    except BaseException:
        rehearsal.abandon()
        raise
    rehearsal.seconds = time.monotonic() - begun
    return rehearsal


class Rehearsal:
    """A rehearsal under way, and what came of it: the report reads it from here."""

    quote: Quote
    examined: Examined
    worked: list[Worked]
    findings: Findings
    settled: Settled
    books: Books
    seconds: float

    def __init__(self, plan: Plan, tell: Tell) -> None:
        self.plan, self.tell = plan, tell
        self.people = people_of(parse_crowd(plan.crowd), plan.seed)
        if left_to_spend(plan.study) == 0:
            raise Refused("Nothing of the study's budget is left. Nothing was begun: raise it, and rehearse then.")
        self.market = market_for("mturk")
        self.market.check()
        self.balance = self.market.balance_cents()
        self.study = copy_study(plan.study, plan.seed)
        self.sent_away: set[str] = set()
        self.steps: list[str] = []
        self.notes: list[str] = []
        self.approved = self.rejected = self.bonuses = self.topped_up = 0

    def prepare(self) -> None:
        plan = self.plan
        self.batch, self.terms = prepare(plan, self.study)
        self.truth = truth_of(self.batch, plan.seed, judged_batches(plan))
        self.crowd = Crowd(
            self.people, settings.MTURK_ENDPOINT_URL, self.truth, at_once=plan.at_once, mark=marker_for(self.batch)
        )

    def abandon(self) -> None:
        """After a failure nothing stays: the copy goes; where money is in it, what stands on the market is ended."""
        if not Posting.objects.filter(batch__study=self.study).exists() and not self.study.entries.exists():
            self.study.delete()
            return
        try:
            expire(self.batch)
            self.tell(f"It stopped. What stood on the market is taken down; its ledger is in “{self.study.name}”.")
        except (Refused, OSError) as error:
            self.tell(f"It stopped, and what stands on the market could not be taken down: {error} Run settle.")

    def say(self, line: str) -> None:
        self.steps.append(line)
        self.tell(line)

    def launch(self) -> None:
        self.quote = quote(self.batch, self.terms, "mturk")
        total = self.quote.total_cents
        rewards, fees = money(self.quote.reward_cents), money(self.quote.fee_cents)
        self.say(f"Quote: {self.quote.places} places, {rewards} {self.study.currency} of pay and {fees} of fees.")
        # Room for the quote, for bonuses and for answers that are asked for again; never more than the study may spend.
        room, left = 2 * total + 100_00, left_to_spend(self.plan.study)
        set_budget(self.study, room if left is None else min(room, left))
        set_terms(self.batch, self.terms, "mturk")
        outcome = publish(self.batch)
        self.say(f"Published: {outcome.postings} HITs at {settings.MTURK_ENDPOINT_URL}.")

    def work(self, is_top_up: bool = False) -> None:
        """Let the crowd work until all places are filled, or nobody comes for them any more.

        First everybody gets a fair share, so that the planted are seen at work; then whoever wants takes the rest.
        """
        for wave in range(WAVES):
            people = [person for person in self.people if person.name not in self.sent_away]
            # Who was late or left is not waited for again.
            if wave or is_top_up:
                people = [person for person in people if not person.character.is_late and not person.character.leaves]
            share = 1000 if wave or is_top_up else ceil(self.quote.places / len(people))
            n_done = self.crowd.work(people, self.terms.title, limit=share, tell=lambda line: self.tell(f"  {line}"))
            collected, n_open = collect(self.batch), sum(open_places(self.batch).values())
            self.say(
                f"Collected: {collected.submissions} submissions, {collected.confirmed} count; "
                f"{n_open} places are open."
            )
            if not n_open or not n_done:
                return

    def filter(self) -> None:
        """Put the rules in force that can be applied here; the others are told."""
        from analysis.filters import apply_rules

        judgments, rules = chosen_judgments(self.study).judgments, list[str]()
        for rule in self.plan.rules:
            try:
                apply_rules(judgments, [*rules, rule], seed=self.plan.seed)
                rules.append(rule)
            except AnalysisError as problem:
                self.notes.append(f"The rule {rule} was left out: {problem}")
        if rules:
            FilterDecision.objects.create(study=self.study, rules=rules, seed=self.plan.seed)
        self.examined = examine(self.batch, self.truth, rules, self.plan.seed)
        self.say(f"Filtered by {', '.join(rules) or 'no rule'}: {len(self.caught_names)} workers lose answers.")

    @property
    def caught_names(self) -> list[str]:
        return list(self.examined.caught)

    def judge(self) -> None:
        """Reject or pay the caught, approve the others, thank the best, and send the caught away."""
        caught_workers = list(Worker.objects.filter(study=self.study, pseudonym__in=self.caught_names))
        if self.plan.reject_caught:
            self.rejected = reject(self._waiting(caught_workers), REASON, None).done
        self.approve()
        best = self._best()
        self.bonuses = sum(bonus(submission, self.plan.bonus_cents, THANKS, None).done for submission in best)
        names = {record.worker_id: record.person.name for record in self.crowd.worked()}
        for worker in caught_workers:
            self.market.block(worker, REASON)
            self.sent_away.add(names.get(worker.external_id, ""))
        self.say(f"Approved {self.approved}, rejected {self.rejected}, paid {self.bonuses} bonuses.")

    def approve(self) -> None:
        self.approved += approve(self._waiting(), None).done

    def _waiting(self, workers: list[Worker] | None = None) -> list[Submission]:
        submissions = Submission.objects.filter(posting__batch=self.batch, state=Submission.State.SUBMITTED)
        return list(submissions if workers is None else submissions.filter(worker__in=workers))

    def _best(self) -> list[Submission]:
        """A submission of each of those who gave the most answers that were kept."""
        if not self.plan.bonus_cents:
            return []
        by_worker: dict[int, list[Submission]] = {}
        approved = Submission.objects.filter(posting__batch=self.batch, state=Submission.State.APPROVED)
        for submission in approved.exclude(worker__pseudonym__in=self.caught_names).order_by("pk"):
            by_worker.setdefault(submission.worker_id, []).append(submission)
        by_count = sorted(by_worker.values(), key=lambda submissions: (-len(submissions), submissions[0].worker_id))
        return [submissions[0] for submissions in by_count[:BEST]]

    def top_up(self) -> None:
        """Ask again for the answers that were lost, and let the others give them."""
        missing = top_up_of(self.batch)
        if not missing.tasks:
            return
        top_up = ask_for_more(self.batch, None)
        self.say(f"Asked for {top_up.places} answers again, for {money(top_up.cents)} {self.study.currency}.")
        before = self._handed_in()
        self.work(is_top_up=True)
        self.topped_up = self._handed_in() - before
        self.approve()

    def _handed_in(self) -> int:
        return sum(record.count("handed in") for record in self.crowd.worked())

    def end(self) -> None:
        expire(self.batch)
        market_sums = listed_sums(self.batch)
        self.settled = settle(self.study)
        doubtful, differences = len(self.settled.doubtful), len(self.settled.differences)
        self.say(f"Settled: {doubtful} doubtful entries, {differences} differences.")
        try:
            close(self.batch)
        except Refused as refusal:  # the report shows what is left
            self.notes.append(str(refusal))
        balance = self.market.balance_cents()
        spent = self.balance - balance if self.balance is not None and balance is not None else None
        statement = statement_sums(self.batch, settings.MTURK_ENDPOINT_URL)
        books = self.books = Books(ledger_sums(self.batch), market_sums, statement, spent)
        total = f"{money(books.ledger.total)} {self.study.currency}"
        self.say(f"The ledger balances with the market's books: {total}." if books.balanced else "The books differ.")
        self.worked = self.crowd.worked()
        self.findings = findings(self.batch, self.worked, self.truth, self.examined, self.notes)
