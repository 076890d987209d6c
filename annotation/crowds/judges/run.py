"""A judge at work on the tasks of its batch: several calls at once, each written before it is made and settled after.

A kill at any point is resumed: what was answered is not asked again, and a call whose answer was lost is asked again
only where that can't be paid twice; otherwise it waits for a person. One thread writes, the others only call.
"""

import hashlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.translation import gettext as _

from annotation import protocols
from annotation.common import clock
from annotation.common.errors import Refused
from annotation.crowds.base import MarketRefused, MarketUnreachable
from annotation.crowds.ledger.crash_points import point
from annotation.crowds.markets.models import check_judge, entailment
from annotation.crowds.markets.models.endpoint import AnswerLost, Endpoint, RequestRefused, Stopped
from annotation.crowds.markets.models.prices import cost, most, usage
from annotation.crowds.markets.models.prompts import instructions_text, request_for
from annotation.crowds.markets.models.readings import read_answer
from annotation.judging.leases import DONE, check_open, draw_seed
from annotation.judging.submit import submit_model
from annotation.models import Assignment, Batch, Judge, JudgeCall, JudgeRun, Task
from annotation.protocols.model_question import ModelAnswer, ModelQuestion, Reading, settled

from .money import settle_run
from .quote import judge_worker, question_of

Progress = Callable[[int, int], None]
State = JudgeCall.State
ASKS = 4
"""How often a sample is asked: once, and three times more where the answer can't be read."""
REFUSALS = 5
"""After so many refused requests in a row something is wrong with all of them."""
READ = 50
HOLD = timedelta(days=365)


class CapReached(Refused):
    """The database refused a call that could go over the cap; nothing was sent."""

    status = 422


@dataclass
class Sample:
    """One way through a task's questions: what could be read so far, over all its calls."""

    number: int
    readings: dict[str, Reading] = field(default_factory=dict)
    calls: int = 0
    asked: int = 0
    """Calls that were answered."""
    unreadable: tuple[str, str] | None = None
    is_stuck: bool = False
    """A call waits for a person, or was refused: not to be asked in this run."""


@dataclass
class Work:
    """A task in hand."""

    assignment: Assignment
    question: ModelQuestion
    samples: list[Sample]

    def missing(self, sample: Sample) -> list[Any]:
        return [item for item in self.question.items if item.name not in sample.readings]

    def is_done(self, sample: Sample) -> bool:
        return not self.missing(sample) or sample.asked >= ASKS

    @property
    def is_whole(self) -> bool:
        return all(self.is_done(sample) for sample in self.samples)


@dataclass(frozen=True)
class RunReport:
    """What came of a run."""

    tasks: int
    done: int
    unanswered: int
    """Items without an answer, in the tasks that are done."""
    doubtful: int
    refused: int
    """Tasks whose request the endpoint refused; nothing was spent on them."""
    problem: str = ""


def run_judge(batch: Batch, progress: Progress | None = None) -> RunReport:
    """Ask whatever was not asked yet. Refused says why it stopped; what was answered is kept."""
    run = JudgeRun.objects.select_related("judge__study", "batch__study").get(batch=batch)
    check_open(run.batch)
    check_judge(run.judge)
    point("judge:begin")
    return _Run(run, progress or (lambda _done, _total: None)).go()


class _Run:
    def __init__(self, run: JudgeRun, progress: Progress) -> None:
        self.run, self.judge, self.batch, self.progress = run, run.judge, run.batch, progress
        self.worker = judge_worker(self.judge)
        if self.worker.pk is None:
            self.worker.save()
        self.level = protocols.of(self.batch).level
        self.instructions = instructions_text(self.batch)
        is_chat = self.judge.kind == Judge.Kind.CHAT
        self.endpoint = Endpoint(self.judge.endpoint, repeats=self._may_repeat) if is_chat else None
        self.parallel = int(self.judge.options["parallel"]) if is_chat else 1
        self.ready: deque[tuple[Work, Sample]] = deque()
        self.active: dict[Future[Any], tuple[Work, Sample, JudgeCall]] = {}
        self.refused_in_a_row, self.refusal = 0, ""
        self.n_tasks = self.batch.tasks.count()
        self.n_done = self._answered().count()

    @property
    def _may_repeat(self) -> bool:
        return self.judge.is_free or bool(self.judge.options["repeats"])

    def _answered(self) -> Any:
        return Assignment.objects.filter(task__batch=self.batch, worker=self.worker, state__in=DONE)

    def go(self) -> RunReport:
        if not self._may_repeat:
            lost = _("The program ended while the answer was on its way; it may have been billed.")
            self.run.calls.filter(state=State.PLANNED).update(state=State.DOUBTFUL, problem=lost)
        point("judge:recovered")
        problem: Refused | None = None
        with ThreadPoolExecutor(self.parallel) as pool:
            try:
                self._work(pool)
            except Refused as refusal:
                problem = refusal
            finally:
                self._finish_calls()
        if problem is not None:
            raise type(problem)(f"{problem} {self._so_far()}")
        report = self._report()
        if report.done == report.tasks:
            settle_run(self.run, self.worker)
            point("judge:booked")
        return report

    def _work(self, pool: ThreadPoolExecutor) -> None:
        works = self._works()
        while True:
            self._send(pool, works)
            if not self.active:
                return
            finished, _waiting = wait(self.active, return_when=FIRST_COMPLETED)
            for future in finished:
                self._keep(future)
            self.progress(self.n_done, self.n_tasks)

    def _send(self, pool: ThreadPoolExecutor, works: Iterator[Work]) -> None:
        """Fill the free places: what is to be asked again first, then new tasks."""
        while len(self.active) < self.parallel:
            while not self.ready and (work := next(works, None)):
                self._open(work)
            if not self.ready:
                return
            work, sample = self.ready.popleft()
            call = self._written(work, sample)
            if call is None:  # the cap leaves no room for it just now
                self.ready.appendleft((work, sample))
                if self.active:
                    return
                raise CapReached(_("The cap is reached: raise it to go on."))
            self.active[pool.submit(self._ask, call)] = (work, sample, call)

    def _open(self, work: Work) -> None:
        self.ready.extend((work, sample) for sample in work.samples if not work.is_done(sample) and not sample.is_stuck)
        if work.is_whole:  # all was answered, and the program ended before it was stored
            with transaction.atomic():
                self._store(work)

    # Calls

    def _written(self, work: Work, sample: Sample) -> JudgeCall | None:
        """The call, in the database before it is made; one that was planned before the program ended as it stands."""
        planned = work.assignment.judge_calls.filter(sample=sample.number, state=State.PLANNED).first()
        if planned is not None:
            return planned
        request = request_for(
            self.judge,
            work.assignment,
            work.question,
            work.missing(sample),
            instructions=self.instructions,
            sample=sample.number,
            unreadable=sample.unreadable,
        )
        attempt = sample.calls + 1
        call = JudgeCall(
            run=self.run,
            assignment=work.assignment,
            sample=sample.number,
            attempt=attempt,
            token=_token(self.run, work.assignment, sample.number, attempt),
            request=request,
            micros=most(self.judge, request),
        )
        try:
            with transaction.atomic():
                call.save(force_insert=True)
        except IntegrityError as error:
            if "judge_run_cap_kept" not in str(error):
                raise
            return None
        point("judge:written")
        return call

    def _ask(self, call: JudgeCall) -> dict[str, Any]:
        if self.endpoint is None:
            return entailment.ask(call.request)
        return self.endpoint.ask(call.request, call.token)

    def _keep(self, future: "Future[Any]") -> None:
        """Write what came of a call, with all that follows from it."""
        work, sample, call = self.active.pop(future)
        sample.calls = call.attempt
        try:
            answer = future.result()
        except AnswerLost as loss:
            sample.is_stuck = True
            _end(call, State.DOUBTFUL, problem=str(loss))
            return
        except (MarketRefused, MarketUnreachable, Stopped) as refusal:
            sample.is_stuck = True
            _end(call, State.FAILED, problem=str(refusal), micros=0)
            self._count_refusal(refusal)
            return
        with transaction.atomic():
            self._keep_answer(work, sample, call, answer)
            point("judge:half-kept")
            if work.is_whole:
                self._store(work)
        point("judge:kept")
        self.refused_in_a_row = 0
        if not work.is_done(sample):
            self.ready.appendleft((work, sample))

    def _keep_answer(self, work: Work, sample: Sample, call: JudgeCall, answer: dict[str, Any]) -> None:
        read = read_answer(answer, work.question, work.missing(sample))
        counts = usage(answer)
        micros = call.micros if counts is None else cost(self.judge, *counts)
        tokens = counts or (None, None)
        facts = {"answer": answer, "problem": read.problem, "tokens_in": tokens[0], "tokens_out": tokens[1]}
        try:
            with transaction.atomic():
                _end(call, State.ANSWERED, micros=micros, **facts)
        except IntegrityError:  # an endpoint that counts more than there can be: its answer is kept all the same
            facts["problem"] = f"{read.problem} The endpoint counts {micros} millionths, beyond the cap.".strip()
            _end(call, State.ANSWERED, **facts)
        sample.readings.update(read.readings)
        sample.asked += 1
        sample.unreadable = (read.content, read.problem) if read.problem else None

    def _count_refusal(self, refusal: Refused) -> None:
        """One request may be too long for the model; a wrong key, or many refusals in a row, end the run."""
        self.refused_in_a_row += 1
        if isinstance(refusal, RequestRefused) and self.refused_in_a_row < REFUSALS:
            self.refusal = str(refusal)
            return
        if not isinstance(refusal, Stopped):
            raise refusal

    def _finish_calls(self) -> None:
        """The run ends: calls that wait for their turn are given up, those under way are heard out and kept."""
        if self.endpoint:
            self.endpoint.over.set()
        for future in list(self.active):
            wait([future])
            try:
                self._keep(future)
            except Refused:
                continue

    # Tasks

    def _works(self) -> Iterator[Work]:
        """The tasks that have no answer yet, some at a time."""
        last = 0
        while tasks := self._tasks(last):
            if not Batch.objects.filter(pk=self.batch.pk, state=Batch.State.OPEN).exists():
                raise Refused(_("The batch is not open any more."))
            for task in tasks:
                last = task.pk
                yield self._work_on(task)

    def _tasks(self, last: int) -> list[Task]:
        done = self._answered().values("task")
        tasks = Task.objects.filter(batch=self.batch, pk__gt=last).exclude(pk__in=done)
        return list(tasks.select_related("document", "summary").order_by("pk")[:READ])

    def _work_on(self, task: Task) -> Work:
        task.batch = self.batch
        now = clock.now()
        assignment, _made = Assignment.objects.get_or_create(
            task=task,
            worker=self.worker,
            defaults={
                "leased_at": now,
                "lease_until": now + HOLD,
                "seed": draw_seed(task, self.batch, self.worker),
            },
        )
        assignment.task, assignment.worker = task, self.worker
        point("judge:seated")
        question = question_of(self.judge, assignment)
        work = Work(assignment, question, [Sample(number) for number in range(int(self.judge.options["samples"]))])
        for call in assignment.judge_calls.order_by("sample", "attempt"):
            self._remember(work, work.samples[call.sample], call)
        return work

    def _remember(self, work: Work, sample: Sample, call: JudgeCall) -> None:
        """What an earlier run learnt from this call."""
        if call.state == State.PLANNED:
            return
        sample.calls = call.attempt
        sample.is_stuck = call.state == State.DOUBTFUL
        if call.state == State.ANSWERED:
            read = read_answer(call.answer, work.question, work.missing(sample))
            sample.readings.update(read.readings)
            sample.asked += 1
            sample.unreadable = (read.content, read.problem) if read.problem else None

    def _store(self, work: Work) -> None:
        """The task is done: its readable answers become judgments. Call it inside a transaction."""
        answers = {}
        for item in work.question.items:
            readings = [sample.readings[item.name] for sample in work.samples if item.name in sample.readings]
            if readings and work.question.values:
                answers[item.field] = settled(readings, self.level)
            elif readings:
                answers[item.field] = ModelAnswer(readings[0].value)
        submit_model(work.assignment, answers, _token(self.run, work.assignment, 0, 0))
        if missing := len(work.question.items) - len(answers):
            JudgeRun.objects.filter(pk=self.run.pk).update(unanswered=F("unanswered") + missing)
        point("judge:stored")
        self.n_done += 1

    # What came of it

    def _report(self) -> RunReport:
        self.run.refresh_from_db(fields=["unanswered"])
        n_doubtful = self.run.calls.filter(state=State.DOUBTFUL).count()
        left = Task.objects.filter(batch=self.batch).exclude(pk__in=self._answered().values("task"))
        refused = left.filter(assignments__judge_calls__state=State.FAILED).distinct().count()
        return RunReport(self.n_tasks, self._answered().count(), self.run.unanswered, n_doubtful, refused, self.refusal)

    def _so_far(self) -> str:
        return _("%(done)d of %(total)d tasks are done, and kept; the run goes on from there.") % {
            "done": self._answered().count(),
            "total": self.n_tasks,
        }


def _end(call: JudgeCall, state: str, **facts: Any) -> None:
    JudgeCall.objects.filter(pk=call.pk).update(state=state, ended_at=clock.now(), **facts)


def _token(run: JudgeRun, *keys: object) -> str:
    words = ":".join(map(str, (run.batch.study.salt, "judge", run.pk, *(getattr(key, "pk", key) for key in keys))))
    return hashlib.blake2b(words.encode(), digest_size=20).hexdigest()
