"""Prolific: one study there for all tasks of a batch, several tasks per participant, through its REST API.

A draft costs nothing and carries the posting's token in its internal name, so a repeated `post` finds it. The bonus is
the one call that must never be made twice: it is asynchronous and pays again each time it is sent.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import QueryDict
from django.utils.dateparse import parse_datetime
from django.utils.functional import cached_property
from django.utils.translation import gettext as _

from annotation.common.money import money
from annotation.crowds.base import (
    Comer,
    Listed,
    Market,
    MarketRefused,
    MarketUnreachable,
    PaidBonus,
    Posted,
    Report,
    Subscription,
    WayOut,
    check_posting,
)
from annotation.models import Batch, Entry, Posting, Submission, Worker

from .client import Api, MarketUnreachableUnsent, NotFound
from .documents import (
    CATEGORIES,
    LEAST_REASON,
    POSTING_STATES,
    codes_of,
    prescreeners,
    read_reason,
    study_body,
    submission_state,
)
from .reports import EVENT, read_report
from .study_token import token_of

COMPLETE = "https://app.prolific.com/submissions/complete"
BLOCKED = "Pyramidion: blocked"
_INSTEAD = {"failed_checks": "done", "left_early": "screened_out"}
"""Where a study was published without a code for this outcome."""


class Prolific(Market):
    name = "prolific"
    title = "Prolific"
    one_posting = True
    least_reason = LEAST_REASON
    recruited = "on Prolific"

    @cached_property
    def api(self) -> Api:
        return Api(token_of(self.study, self.name) or settings.PROLIFIC_TOKEN)

    def check(self) -> None:
        if not settings.SITE_URL:
            raise MarketRefused(_("Participants need the address of this site: set SITE_URL. Nothing was spent."))
        self.api.get("/users/me/")

    def balance_cents(self) -> int | None:
        """The workspace's balance, where PROLIFIC_WORKSPACE names one."""
        if not settings.PROLIFIC_WORKSPACE:
            return None
        cents = self.api.get(f"/workspaces/{settings.PROLIFIC_WORKSPACE}/balance/").get("available_balance")
        return None if cents is None else int(cents)

    def fee_cents(self, reward_cents: int, places: int, terms: dict[str, Any]) -> int:
        return ceil(reward_cents * settings.PROLIFIC_FEE_PERCENT / 100)

    def bonus_fee_cents(self, cents: int) -> int:
        return ceil(cents * settings.PROLIFIC_FEE_PERCENT / 100)

    def problems(self, batch: Batch, terms: dict[str, Any]) -> list[str]:
        problems = []
        if not terms.get("title") or not terms.get("description"):
            problems.append(_("Prolific shows participants a title and a description: write both."))
        if not terms.get("minutes"):
            problems.append(_("Prolific asks how long it takes: say how many minutes a task takes."))
        try:
            prescreeners(terms, self._filters(terms))
        except (ValueError, MarketRefused, MarketUnreachable) as problem:
            problems.append(str(problem))
        return problems

    def _filters(self, terms: dict[str, Any]) -> list[dict[str, Any]]:
        """The filters that Prolific knows, asked for where the terms name some."""
        return list(self.api.pages("/filters/")) if terms.get("prescreeners") else []

    # Postings

    def post(self, posting: Posting) -> Posted:
        study = self._study(posting.token) or self._draft(posting)
        if study["status"] == "UNPUBLISHED":
            study = self.api.post(f"/studies/{study['id']}/transition/", {"action": "PUBLISH"})
        return self._posted(study, posting)

    def _draft(self, posting: Posting) -> dict[str, Any]:
        blocked = [group for name in (BLOCKED, _excluded(posting.batch)) if (group := self._group(name))]
        body = study_body(posting, self.address(posting), blocked, self._filters(posting.batch.terms))
        if settings.PROLIFIC_PROJECT:
            body["project"] = settings.PROLIFIC_PROJECT
        study: dict[str, Any] = self.api.post("/studies/", body)
        return study

    def _study(self, token: str) -> dict[str, Any] | None:
        """The study with this token in its internal name, draft or not."""
        return next((study for study in self._studies() if study.get("internal_name") == token), None)

    def _studies(self) -> Iterator[dict[str, Any]]:
        project = settings.PROLIFIC_PROJECT
        return self.api.pages(f"/projects/{project}/studies/" if project else "/studies/")

    def _posted(self, study: dict[str, Any], posting: Posting) -> Posted:
        return Posted(
            market_id=study["id"],
            details={"codes": codes_of(posting)},
            places=int(study.get("total_available_places") or posting.places),
            state=POSTING_STATES.get(study["status"], Posting.State.OPEN),
        )

    def find(self, batch: Batch) -> Iterator[tuple[str, Posted]]:
        """What is published; a draft does not stand yet."""
        postings = {posting.token: posting for posting in batch.postings.all()}
        for study in self._studies():
            posting = postings.get(study.get("internal_name", ""))
            if posting is not None and study["status"] != "UNPUBLISHED":
                yield posting.token, self._posted(study, posting)

    def extend(self, posting: Posting, places: int, token: str) -> None:
        """The number is set and not added to, so a repeat changes nothing."""
        self.api.patch(f"/studies/{posting.market_id}/", {"total_available_places": posting.places + places})

    def expire(self, posting: Posting) -> None:
        self._move(posting, "STOP", from_states=("ACTIVE", "PAUSED", "SCHEDULED", "PUBLISHING"))

    def pause(self, posting: Posting) -> None:
        self._move(posting, "PAUSE", from_states=("ACTIVE", "PUBLISHING"))

    def resume(self, posting: Posting) -> None:
        self._move(posting, "START", from_states=("PAUSED",))

    def close(self, posting: Posting) -> None:
        self.expire(posting)

    def _move(self, posting: Posting, action: str, from_states: Sequence[str]) -> None:
        """Only from where the action makes sense: asked twice, the second time does nothing."""
        study = self.api.get(f"/studies/{posting.market_id}/")
        if study["status"] in from_states:
            self.api.post(f"/studies/{posting.market_id}/transition/", {"action": action})

    # Submissions

    def listed(self, posting: Posting) -> Iterator[Listed]:
        for row in self.api.pages(f"/studies/{posting.market_id}/submissions/"):
            code = row.get("study_code") or row.get("entered_code") or ""
            yield Listed(
                market_id=row["id"],
                worker_id=row.get("participant_id") or row.get("participant") or "",
                state=submission_state(row["status"]),
                submitted_at=parse_datetime(row.get("completed_at") or ""),
                answer={"code": code} if code else {},
            )

    def approve(self, submission: Submission, *, undo_rejection: bool = False) -> None:
        """Prolific takes the same approval twice as one."""
        if undo_rejection:
            raise MarketRefused(_("Prolific takes no rejection back. Nothing was spent; pay a bonus instead."))
        self._judge(submission, {"action": "APPROVE"})

    def reject(self, submission: Submission, reason: str) -> None:
        """The reason may begin with a category: “LOW_EFFORT: …”. Prolific wants at least 100 characters of it."""
        category, message = read_reason(reason)
        if len(message) < LEAST_REASON:
            raise MarketRefused(
                _(
                    "Prolific asks for a reason of at least %(least)d characters, and this one has %(n)d. "
                    "Nothing was done. It may begin with a category and a colon: %(known)s."
                )
                % {"least": LEAST_REASON, "n": len(message), "known": ", ".join(CATEGORIES)}
            )
        self._judge(submission, {"action": "REJECT", "message": message, "rejection_category": category})

    def _judge(self, submission: Submission, body: dict[str, Any]) -> None:
        try:
            self.api.post(f"/submissions/{submission.market_id}/transition/", body)
        except MarketUnreachable:
            # Documented as idempotent: what we asked for may stand already.
            verdict = {"APPROVE": "approved", "REJECT": "rejected"}[body["action"]]
            answer = self.api.get(f"/submissions/{submission.market_id}/")
            if submission_state(answer["status"]) != verdict:
                raise

    def bonus(self, entry: Entry) -> str:
        """Set up, then pay. As long as nothing was set up, nothing can have been paid."""
        assert entry.submission is not None
        study = entry.submission.posting.market_id
        line = f"{entry.submission.market_id},{money(entry.reward_cents)}"
        try:
            payment = self.api.post("/submissions/bonus-payments/", {"study_id": study, "csv_bonuses": line})
        except MarketUnreachable:
            raise MarketRefused(_("Prolific did not take the bonus: nothing was paid. Try again later.")) from None
        try:
            self.api.post(f"/bulk-bonus-payments/{payment['id']}/pay/")
        except MarketUnreachableUnsent:
            raise MarketRefused(_("Prolific could not be reached to pay: nothing was paid. Try again later.")) from None
        return str(payment["id"])

    def bonuses(self, posting: Posting) -> Iterator[PaidBonus]:
        """By submission, without reasons: Prolific keeps none. So a doubtful bonus is for a person to tell."""
        submissions = posting.submissions.filter(entries__kind=Entry.Kind.BONUS).distinct()
        for market_id in submissions.values_list("market_id", flat=True):
            for cents in self.api.get(f"/submissions/{market_id}/").get("bonus_payments") or []:
                yield PaidBonus(submission_id=market_id, cents=int(cents), reason="")

    # Reports of changes

    def subscribe(self, address: str) -> Subscription | None:
        """A workspace has one secret, which other programs may rely on: it is asked for before one is made."""
        workspace = settings.PROLIFIC_WORKSPACE
        if not workspace:
            return None
        secrets = self.api.get("/hooks/secrets/", workspace_id=workspace).get("results") or []
        secret = secrets[0] if secrets else self.api.post("/hooks/secrets/", {"workspace_id": workspace})
        body = {"workspace_id": workspace, "event_type": EVENT, "target_url": address}
        row, confirmation = self.api.post_with_header("/hooks/subscriptions/", body, "X-Hook-Secret")
        self.api.post(f"/hooks/subscriptions/{row['id']}/", {"secret": confirmation})
        return Subscription(row["id"], secret["value"])

    def unsubscribe(self, market_id: str) -> None:
        try:
            self.api.delete(f"/hooks/subscriptions/{market_id}/")
        except NotFound:
            return

    def report(self, secret: str, headers: Mapping[str, str], body: bytes) -> Report | None:
        return read_report(secret, headers, body)

    # A participant's way in and out

    def address(self, posting: Posting) -> str:
        """Prolific fills in who they are."""
        query = "&".join(f"{name}={{{{%{name}%}}}}" for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"))
        return f"{super().address(posting)}?{query}"

    def entry(self, posting: Posting, query: QueryDict) -> Comer:
        check_posting(posting, query.get("STUDY_ID", ""))
        return Comer(query.get("SESSION_ID", ""), query.get("PROLIFIC_PID", ""))

    def way_out(self, submission: Submission, outcome: str) -> WayOut | None:
        codes = submission.posting.details.get("codes") or codes_of(submission.posting)
        code = codes.get(outcome) or codes.get(_INSTEAD.get(outcome, ""), "")
        return WayOut(f"{COMPLETE}?{urlencode({'cc': code})}", code) if code else None

    # People

    def exclude(self, batch: Batch, workers: Sequence[Worker]) -> None:
        ids = [worker.external_id for worker in workers if worker.crowd == self.name]
        if ids:
            self._add(_excluded(batch), ids)

    def block(self, worker: Worker, reason: str) -> None:
        """Into the group that every later study of ours blocks."""
        self._add(BLOCKED, [worker.external_id])

    def unblock(self, worker: Worker) -> None:
        if group := self._group(BLOCKED):
            self.api.delete(f"/participant-groups/{group}/participants/", {"participant_ids": [worker.external_id]})

    def _add(self, name: str, ids: Sequence[str]) -> None:
        group = self._group(name)
        if group is None:
            workspace = settings.PROLIFIC_WORKSPACE
            if not workspace:
                raise MarketRefused(_("Participant groups need a workspace: set PROLIFIC_WORKSPACE. Nothing was done."))
            group = self.api.post("/participant-groups/", {"name": name, "workspace_id": workspace})["id"]
        self.api.post(f"/participant-groups/{group}/participants/", {"participant_ids": list(ids)})

    def _group(self, name: str) -> str | None:
        """The id of our participant group of that name."""
        if not settings.PROLIFIC_WORKSPACE:
            return None
        groups = self.api.pages("/participant-groups/", workspace_id=settings.PROLIFIC_WORKSPACE)
        return next((group["id"] for group in groups if group["name"] == name), None)

    def message(self, workers: Sequence[Worker], subject: str, text: str) -> Iterable[str]:
        """One message to all, about the study that each took part in last; who took part in none is not reached."""
        by_study: dict[str, list[str]] = {}
        missed = []
        for worker in workers:
            last = worker.submissions.exclude(posting__market_id="").order_by("-pk").first()
            if last is None:
                missed.append(worker.external_id)
            else:
                by_study.setdefault(last.posting.market_id, []).append(worker.external_id)
        for study, ids in by_study.items():
            try:
                self.api.post("/messages/bulk/", {"ids": ids, "body": f"{subject}\n\n{text}", "study_id": study})
            except NotFound:
                missed += ids
        return missed


def _excluded(batch: Batch) -> str:
    return f"Pyramidion: excluded from batch {batch.pk}"
