"""What review policies do: approve, reject and extend by the scores they find, and keep a record of both.

An assignment-level policy runs with the submit, in its transaction. A HIT-level policy runs once a HIT has become
Reviewable (`HIT.review_waits`): with the last submit, or when the market next looks.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction

from annotation.common import clock
from annotation.marketplace.errors import BadXML, Refused
from annotation.marketplace.models import HIT, Assignment, Requester, ReviewRecord
from annotation.marketplace.questions.answers import Answer, parse_answers

from . import lifecycle
from .review_scores import Policy, agreement, known_answers, percent, read_policy, text_of_values

Level = ReviewRecord.Level
State = Assignment.State
DEFAULT_REASONS = {"Approve": "", "Reject": "The answers did not meet the requester's review policy."}


@dataclass(frozen=True)
class Thresholds:
    """The parameters that say what follows from a score."""

    approve: str
    reject: str
    extend: str


BY_KEY = Thresholds(
    "ApproveIfKnownAnswerScoreIsAtLeast", "RejectIfKnownAnswerScoreIsLessThan", "ExtendIfKnownAnswerScoreIsLessThan"
)
BY_AGREEMENT = Thresholds(
    "ApproveIfWorkerAgreementScoreIsAtLeast",
    "RejectIfWorkerAgreementScoreIsLessThan",
    "ExtendIfHITAgreementScoreIsLessThan",
)


def check_policies(policies: Mapping[str, Any]) -> None:
    """Raises BadParameter."""
    for level, document in policies.items():
        read_policy(level, document)


def review_assignment(hit: HIT, assignment: Assignment) -> None:
    """Score a submitted assignment of a locked HIT by its known answers, and do what follows."""
    if Level.ASSIGNMENT not in hit.review_policies:
        return
    policy = read_policy(Level.ASSIGNMENT, hit.review_policies[Level.ASSIGNMENT])
    correct = known_answers(policy, parse_answers(assignment.answer))
    review = _Review(hit, Level.ASSIGNMENT, policy)
    for question, is_correct in correct.items():
        review.note(assignment, "KnownAnswerCorrect", str(int(is_correct)), question)
    score = percent(sum(correct.values()), len(correct))
    review.note(assignment, "KnownAnswerScore", str(score))
    review.judge(assignment, score, BY_KEY)
    review.extend_below(score, BY_KEY)


def review_waiting(requester: Requester | None = None, limit: int = 500) -> None:
    """Run the HIT-level policies of HITs that became Reviewable: of one requester, or of all."""
    waiting = HIT.objects.filter(review_waits=True)
    if requester is not None:
        waiting = waiting.filter(requester=requester)
    for hit_id in list(waiting.order_by("pk").values_list("hit_id", flat=True)[:limit]):
        with transaction.atomic():
            review_hit(lifecycle.locked_hit(hit_id))


def review_hit(hit: HIT) -> None:
    """Compare the answers to a locked HIT, and do what follows. An extended HIT waits for the new answers first."""
    if not hit.review_waits or hit.status != HIT.Status.REVIEWABLE:
        return
    hit.review_waits = False
    hit.save(update_fields=["review_waits"])
    policy = read_policy(Level.HIT, hit.review_policies[Level.HIT])
    assignments = {assignment.assignment_id: assignment for assignment in _counted(hit, policy)}
    findings = agreement(policy, {key: _answers(assignment) for key, assignment in assignments.items()})
    review = _Review(hit, Level.HIT, policy)
    for question, score in findings.question_scores.items():
        review.note(hit, "QuestionAgreementScore", str(score), question)
        if question in findings.agreed:
            review.note(hit, "AgreedAnswer", text_of_values(findings.agreed[question]), question)
    review.note(hit, "HITAgreementScore", str(findings.hit_score))
    for key, score in findings.worker_scores.items():
        review.note(assignments[key], "WorkerAgreementScore", str(score))
    if review.extend_below(findings.hit_score, BY_AGREEMENT):
        return
    for key, score in findings.worker_scores.items():
        review.judge(assignments[key], score, BY_AGREEMENT)


def _counted(hit: HIT, policy: Policy) -> list[Assignment]:
    states = list(Assignment.DELIVERED)
    if policy.texts.get("DisregardAssignmentIfRejected", "").lower() == "true":
        states.remove(State.REJECTED)
    assignments = hit.assignments.filter(state__in=states).order_by("submitted_at", "pk")
    least = policy.numbers.get("DisregardAssignmentIfKnownAnswerScoreIsLessThan")
    if least is None or Level.ASSIGNMENT not in hit.review_policies:
        return list(assignments)
    scoring = read_policy(Level.ASSIGNMENT, hit.review_policies[Level.ASSIGNMENT])

    def score(assignment: Assignment) -> int:
        correct = known_answers(scoring, _answers(assignment))
        return percent(sum(correct.values()), len(correct))

    return [assignment for assignment in assignments if score(assignment) >= least]


def _answers(assignment: Assignment) -> dict[str, Answer]:
    try:
        return parse_answers(assignment.answer)
    except BadXML:
        return {}


class _Review:
    """One run of a policy on a locked HIT: notes what it finds, does what follows, and records that, too."""

    def __init__(self, hit: HIT, level: str, policy: Policy) -> None:
        self.hit, self.level, self.policy = hit, level, policy

    def note(self, subject: HIT | Assignment, key: str, value: str, question: str = "") -> None:
        document = {**_named(subject, "Subject"), "Key": key, "Value": value}
        self._record(document | ({"QuestionId": question} if question else {}), is_action=False)

    def judge(self, assignment: Assignment, score: int, names: Thresholds) -> None:
        """Approve or reject what is still to be judged."""
        assignment.refresh_from_db()
        if assignment.state != State.SUBMITTED:
            return
        if names.approve in self.policy.numbers and score >= self.policy.numbers[names.approve]:
            self._act("Approve", assignment)
        elif names.reject in self.policy.numbers and score < self.policy.numbers[names.reject]:
            self._act("Reject", assignment)

    def extend_below(self, score: int, names: Thresholds) -> bool:
        """One more place where the score is too low and the policy's limit allows it."""
        limit = self.policy.numbers.get("ExtendMaximumAssignments", 0)
        if score >= self.policy.numbers.get(names.extend, 0) or self.hit.max_assignments >= limit:
            return False
        return self._act("Extend", self.hit)

    def _act(self, name: str, target: HIT | Assignment) -> bool:
        """Do it and record how it went; what can't be done (no money left) changes nothing else."""
        document: dict[str, Any] = {**_named(target, "Target"), "ActionName": name}
        try:
            with transaction.atomic():
                self._do(name, target)
                lifecycle.settle(self.hit)
        except Refused as refusal:
            self.hit.refresh_from_db()
            self._record({**document, "Status": "Failed", "Result": str(refusal), "ErrorCode": refusal.code}, True)
            return False
        self._record({**document, "Status": "Succeeded"}, is_action=True)
        return True

    def _do(self, name: str, target: HIT | Assignment) -> None:
        reason = self.policy.texts.get(f"{name}Reason") or DEFAULT_REASONS.get(name, "")
        if isinstance(target, HIT):
            seconds = self.policy.numbers.get("ExtendMinimumTimeInSeconds", 0)
            self.hit.max_assignments += 1
            self.hit.expires_at = max(self.hit.expires_at, clock.now() + timedelta(seconds=seconds))
        elif name == "Approve":
            lifecycle.approve_place(self.hit, target, clock.now(), reason)
        else:
            lifecycle.reject_place(self.hit, target, clock.now(), reason)

    def _record(self, document: dict[str, Any], is_action: bool) -> None:
        ReviewRecord.objects.create(
            hit=self.hit, level=self.level, is_action=is_action, document=document, at=clock.now()
        )


def _named(subject: HIT | Assignment, kind: str) -> dict[str, str]:
    if isinstance(subject, HIT):
        return {f"{kind}Id": subject.hit_id, f"{kind}Type": "HIT"}
    return {f"{kind}Id": subject.assignment_id, f"{kind}Type": "Assignment"}
