"""Mechanical Turk's API, wherever it is spoken: the only file that knows boto3.

Amazon's own service closed on 2026-09-30; the endpoint is our marketplace, or any other on the allow-list. Every HIT
carries our token twice: as UniqueRequestToken, which the market honours for 24 hours, and in RequesterAnnotation, by
which `find` finds it for ever.
"""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

import requests
from django.conf import settings
from django.http import QueryDict
from django.utils.functional import lazy
from django.utils.translation import gettext as _

from annotation.common import clock
from annotation.common.money import money, to_cents
from annotation.crowds.base import Comer, Listed, MarketRefused, MarketUnreachable, PaidBonus, Posted, check_posting
from annotation.crowds.terms.requirements import asks_for_masters
from annotation.judging.html_form import PREVIEW_ID
from annotation.models import Batch, Entry, Posting, Study, Submission

from .documents import (
    PROOF,
    STATES,
    TurkRefused,
    annotation_of,
    broke_off,
    listed_from,
    posted_from,
    refusal_of,
    silence,
)
from .endpoint import access_key, allowed_endpoint
from .questions import question_for, size_problem
from .signed_entry import check_sent_by_market
from .workers import MTurkPeople

HIT_ID = re.compile(r"\b[A-Z0-9]{20,64}\b")
LARGE = 10
PAST = datetime(2015, 1, 1, tzinfo=UTC)


def _name() -> str:
    """What this site calls the market behind the API."""
    return settings.MTURK_NAME or _("Mechanical Turk API")


class MTurk(MTurkPeople):
    name = "mturk"
    title = lazy(_name, str)()
    repeats_bonus_safely = True
    undoes_rejection = True
    calls_at_once = 6
    recruited = "on a market that speaks the MTurk API"

    def __init__(self, study: Study | None = None) -> None:
        super().__init__(study)
        self._types: dict[tuple[int, int], str] = {}

    # Money

    def check(self) -> None:
        self.balance_cents()

    def balance_cents(self) -> int | None:
        return to_cents(self._call("get_account_balance")["AvailableBalance"])

    def fee_cents(self, reward_cents: int, places: int, terms: dict[str, Any]) -> int:
        """20 %, another 20 % from ten places on, 5 % for Masters; half a cent rounded up, at least one cent."""
        percent = 20 + (20 if places >= LARGE else 0) + (5 if asks_for_masters(terms.get("requirements") or []) else 0)
        return max(1, (reward_cents * percent + 50) // 100)

    def bonus_fee_cents(self, cents: int) -> int:
        return max(1, (cents * 20 + 50) // 100)

    # Postings

    def qualified(self, terms: dict[str, Any]) -> tuple[int, int] | None:
        """Our marketplace tells; Amazon's didn't. Silence is no reason to hold a launch up."""
        query = {"requirements": json.dumps(terms.get("requirements") or [])}
        try:
            answer = requests.get(f"{allowed_endpoint()}/qualified/", params=query, timeout=3, allow_redirects=False)
            counts = answer.json() if answer.status_code == 200 else {}
            return int(counts["workers"]), int(counts["qualified"])
        except (requests.RequestException, ValueError, LookupError, TypeError, MarketRefused):
            return None

    def problems(self, batch: Batch, terms: dict[str, Any]) -> list[str]:
        if terms.get("question") == "html":
            return [problem] if (problem := size_problem(batch)) else []
        if not settings.SITE_URL:
            return [_("SITE_URL is not set: the market could not send workers here. Set it, or use “html” questions.")]
        return []

    def prepare(self, postings: Sequence[Posting]) -> None:
        for posting in postings:
            self._hit_type(posting)
            posting.question = question_for(posting, self.address(posting))  # type: ignore[attr-defined]

    def post(self, posting: Posting) -> Posted:
        if not hasattr(posting, "question"):
            self.prepare([posting])
        try:
            hit = self._call(
                "create_hit_with_hit_type",
                HITTypeId=self._hit_type(posting),
                MaxAssignments=posting.places,
                LifetimeInSeconds=posting.batch.terms["lifetime_seconds"],
                Question=posting.question,  # type: ignore[attr-defined]
                RequesterAnnotation=annotation_of(posting.batch) + posting.token,
                UniqueRequestToken=posting.token,
            )["HIT"]
        except TurkRefused as refusal:
            hit = self._standing(refusal)
        return posted_from(hit)

    def _standing(self, refusal: TurkRefused) -> dict[str, Any]:
        """The HIT that an earlier call with this token made."""
        hit_id = HIT_ID.search(str(refusal)) if refusal.code == "HitAlreadyExists" else None
        if hit_id is None:
            raise refusal
        return dict(self._call("get_hit", HITId=hit_id[0])["HIT"])

    def _hit_type(self, posting: Posting) -> str:
        """CreateHITType gives the same id for the same values, so asking again is harmless."""
        batch_and_reward = (posting.batch_id, posting.reward_cents)
        if batch_and_reward not in self._types:
            terms = posting.batch.terms
            hit_type = self._call(
                "create_hit_type",
                Title=terms["title"],
                Description=terms["description"],
                Keywords=terms["keywords"],
                Reward=money(posting.reward_cents),
                AssignmentDurationInSeconds=terms["duration_seconds"],
                AutoApprovalDelayInSeconds=terms["auto_approve_seconds"],
                QualificationRequirements=self._requirements(posting.batch),
            )
            self._types[batch_and_reward] = hit_type["HITTypeId"]
        return self._types[batch_and_reward]

    def _requirements(self, batch: Batch) -> list[dict[str, Any]]:
        exclusions = []
        if batch.terms.get("exclude_batches"):
            exclusions = [
                {
                    "QualificationTypeId": self.exclusion(batch),
                    "Comparator": "DoesNotExist",
                    "ActionsGuarded": "DiscoverPreviewAndAccept",
                }
            ]
        return [*batch.terms.get("requirements", []), *exclusions]

    def find(self, batch: Batch) -> Iterator[tuple[str, Posted]]:
        start = annotation_of(batch)
        for page in self._pages("list_hits"):
            for hit in page["HITs"]:
                if hit.get("RequesterAnnotation", "").startswith(start):
                    yield hit["RequesterAnnotation"].removeprefix(start), posted_from(hit)

    def extend(self, posting: Posting, places: int, token: str) -> None:
        try:
            self._call(
                "create_additional_assignments_for_hit",
                HITId=posting.market_id,
                NumberOfAdditionalAssignments=places,
                UniqueRequestToken=token,
            )
        except TurkRefused as refusal:
            if refusal.code != "HitAlreadyExists":  # that is: done by an earlier call with this token
                raise

    def expire(self, posting: Posting) -> None:
        self._call("update_expiration_for_hit", HITId=posting.market_id, ExpireAt=PAST)

    def pause(self, posting: Posting) -> None:
        self.expire(posting)

    def resume(self, posting: Posting) -> None:
        expires_at = clock.now() + timedelta(seconds=posting.batch.terms["lifetime_seconds"])
        self._call("update_expiration_for_hit", HITId=posting.market_id, ExpireAt=expires_at)

    def close(self, posting: Posting) -> None:
        try:
            self._call("delete_hit", HITId=posting.market_id)
        except TurkRefused as refusal:
            if refusal.code != "HITDoesNotExist":
                raise

    # Submissions

    def listed(self, posting: Posting) -> Iterator[Listed]:
        for page in self._pages("list_assignments_for_hit", HITId=posting.market_id):
            for assignment in page["Assignments"]:
                yield listed_from(assignment)

    def approve(self, submission: Submission, *, undo_rejection: bool = False) -> None:
        try:
            self._call("approve_assignment", AssignmentId=submission.market_id, OverrideRejection=undo_rejection)
        except TurkRefused:
            if self._state_of(submission) != Submission.State.APPROVED:
                raise

    def reject(self, submission: Submission, reason: str) -> None:
        try:
            self._call("reject_assignment", AssignmentId=submission.market_id, RequesterFeedback=reason)
        except TurkRefused:
            if self._state_of(submission) != Submission.State.REJECTED:
                raise

    def _state_of(self, submission: Submission) -> str:
        """What the market has, when it refuses a verdict: maybe an earlier call has given it."""
        try:
            answer = self._call("get_assignment", AssignmentId=submission.market_id)
        except TurkRefused:
            return ""
        return STATES.get(answer["Assignment"]["AssignmentStatus"], "")

    def bonus(self, entry: Entry) -> str:
        assert entry.submission is not None
        try:
            self._call(
                "send_bonus",
                WorkerId=entry.submission.worker.external_id,
                BonusAmount=money(entry.reward_cents),
                AssignmentId=entry.submission.market_id,
                Reason=entry.reason,
                UniqueRequestToken=entry.token,
            )
        except TurkRefused as refusal:
            if refusal.code != "HitAlreadyExists":  # that is: paid by an earlier call with this token
                raise
        return ""

    def bonuses(self, posting: Posting) -> Iterator[PaidBonus]:
        for page in self._pages("list_bonus_payments", HITId=posting.market_id):
            for payment in page["BonusPayments"]:
                cents = to_cents(payment["BonusAmount"])
                yield PaidBonus(payment["AssignmentId"], cents, payment.get("Reason", ""), payment.get("GrantTime"))

    # A worker's way in and out

    def entry(self, posting: Posting, query: QueryDict) -> Comer | None:
        """Whoever is shown a HIT may look at it. Who has accepted it comes in, signed by the market where it signs."""
        check_posting(posting, query.get("hitId", ""))
        assignment_id = query.get("assignmentId", PREVIEW_ID)
        if assignment_id == PREVIEW_ID:
            return None
        check_sent_by_market(query)
        return Comer(assignment_id, query.get("workerId", ""), submit_to=query.get("turkSubmitTo", ""))

    def origins(self) -> list[str]:
        return [settings.MTURK_ENDPOINT_URL] if settings.MTURK_ENDPOINT_URL else []

    def hand_in(self, origin: str) -> str:
        return f"{origin}/mturk/externalSubmit"

    # The wire

    def _pages(self, operation: str, **params: Any) -> Iterator[dict[str, Any]]:
        token: dict[str, str] = {}
        while True:
            page = self._call(operation, MaxResults=100, **params, **token)
            yield page
            if not page.get("NextToken"):
                return
            token = {"NextToken": page["NextToken"]}

    def _call(self, operation: str, **params: Any) -> dict[str, Any]:
        """One call. TurkRefused when the market says no; MarketUnreachable when nobody knows whether it took effect.

        botocore takes an answer that broke off for an empty one, and a refusal for one without a reason. Such a call is
        made again: every call here is harmless when repeated.
        """
        from botocore.exceptions import BotoCoreError, ClientError

        client = _client()
        for _attempt in range(settings.MTURK_ATTEMPTS):
            try:
                answer = getattr(client, operation)(**params)
            except ClientError as error:
                if broke_off(error):
                    continue
                raise refusal_of(error) from error
            except BotoCoreError as error:
                raise MarketUnreachable(silence(type(error).__name__)) from error
            if operation not in PROOF or PROOF[operation] in answer:
                return dict(answer)
        raise MarketUnreachable(silence(_("its answer broke off")))


def _client() -> Any:
    endpoint = allowed_endpoint()
    key, secret = access_key()
    return _client_for(endpoint, key, secret, settings.MTURK_TIMEOUT_SECONDS, settings.MTURK_ATTEMPTS)


@lru_cache(maxsize=1)
def _session() -> Any:
    """Reading the service model takes longest: once for all clients."""
    import boto3

    return boto3.session.Session()


@lru_cache(maxsize=8)
def _client_for(endpoint: str, key: str, secret: str, timeout: float, attempts: int) -> Any:
    """A client may be shared by threads, and is slow to make."""
    from botocore.config import Config

    return _session().client(
        "mturk",
        endpoint_url=endpoint,
        region_name=settings.MTURK_REGION,
        aws_access_key_id=key,
        aws_secret_access_key=secret,
        config=Config(
            retries={"mode": "adaptive", "total_max_attempts": attempts},
            connect_timeout=min(5, timeout),
            read_timeout=timeout,
            max_pool_connections=2 * MTurk.calls_at_once,
        ),
    )
