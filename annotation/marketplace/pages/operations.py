"""The 39 operations in our own words: what each does here, and where that differs from Amazon's service.

Parameters and their limits are read from botocore's service model, which is the contract.
"""

from dataclasses import dataclass
from typing import Any

from botocore.model import Shape

from annotation.marketplace.api.contract import service_model

GROUPS = ("HITs", "Assignments", "Qualifications", "Workers", "Money", "Events")


@dataclass(frozen=True)
class Operation:
    """One operation, for its page."""

    name: str
    group: str
    does: str
    differs: str = ""
    """Empty: as at Amazon's."""
    is_refused: bool = False
    """It answers every call with a RequestError."""


@dataclass(frozen=True)
class Parameter:
    name: str
    kind: str
    required: bool
    limits: str


TOKENS = "The UniqueRequestToken lives 24 hours, as at Amazon's; each kind of call has tokens of its own."
POLICY = "Review policies are the two that Amazon's documents; a HIT grows by them to at most 25 assignments."
ALL = (
    Operation(
        "CreateHIT",
        "HITs",
        "Publishes one HIT and holds its whole price. HITs with the same properties share a HIT type.",
        f"{TOKENS} A HITLayoutId is one that you keep under Layouts. {POLICY} Patterns in questions are RE2's. "
        "An ExternalURL may be http as well as https.",
    ),
    Operation(
        "CreateHITWithHITType",
        "HITs",
        "Publishes one HIT of a type that you made with CreateHITType, and holds its whole price.",
        f"{TOKENS} A HITLayoutId is one that you keep under Layouts. {POLICY}",
    ),
    Operation("CreateHITType", "HITs", "Names properties that HITs share. The same values give the same HITTypeId."),
    Operation(
        "CreateAdditionalAssignmentsForHIT",
        "HITs",
        "Adds places to a HIT and holds their price. A HIT made with fewer than 10 can't grow to 10 or more.",
    ),
    Operation("GetHIT", "HITs", "Gives one HIT of yours with its counters."),
    Operation("ListHITs", "HITs", "Lists your HITs, newest first, in pages that stay stable while you read."),
    Operation("ListReviewableHITs", "HITs", "Lists your HITs that are Reviewable, or those that are Reviewing."),
    Operation("ListHITsForQualificationType", "HITs", "Lists your HITs that require a qualification type."),
    Operation(
        "UpdateExpirationForHIT",
        "HITs",
        "Moves the end of a HIT. A time in the past ends it now, and releases the money of its open places.",
    ),
    Operation("UpdateHITReviewStatus", "HITs", "Moves a HIT from Reviewable to Reviewing, or back."),
    Operation(
        "UpdateHITTypeOfHIT",
        "HITs",
        "Gives a HIT the properties of another type.",
        "Work under way keeps the reward it was promised; the difference is held or released at once.",
    ),
    Operation(
        "DeleteHIT",
        "HITs",
        "Disposes of a HIT that is Reviewable and fully judged. Without this, it goes after 120 days.",
    ),
    Operation(
        "ListReviewPolicyResultsForHIT",
        "HITs",
        "Gives what the review policies of a HIT found and did.",
        "Scores are rounded down; an extended HIT judges nobody before the new answers are in.",
    ),
    Operation("GetAssignment", "Assignments", "Gives one submitted assignment with its answers and its HIT."),
    Operation("ListAssignmentsForHIT", "Assignments", "Lists what was submitted for a HIT, by status, oldest first."),
    Operation(
        "ApproveAssignment",
        "Assignments",
        "Approves and pays from what was held. Approving again is refused. OverrideRejection works for 30 days.",
    ),
    Operation(
        "RejectAssignment",
        "Assignments",
        "Rejects with a reason that the worker reads, and releases the money.",
    ),
    Operation(
        "GetFileUploadURL",
        "Assignments",
        "Gave the address of a file that a worker uploaded.",
        "This market takes no uploads, so every call is answered with a RequestError. Let your own page take the file.",
        is_refused=True,
    ),
    Operation(
        "CreateQualificationType",
        "Qualifications",
        "Makes a qualification: granted at once, by you, or by a test with or without an answer key.",
        "Tests are QuestionForm; applets and file uploads in them are refused.",
    ),
    Operation("GetQualificationType", "Qualifications", "Gives a qualification type of yours or of the market."),
    Operation(
        "UpdateQualificationType",
        "Qualifications",
        "Changes a qualification type. A new test replaces test, duration and answer key together.",
    ),
    Operation(
        "DeleteQualificationType",
        "Qualifications",
        "Nobody can ask for it or require it any more; open requests are rejected.",
        "At Amazon's this took up to 48 hours; here it counts at once.",
    ),
    Operation("ListQualificationTypes", "Qualifications", "Searches qualification types by words."),
    Operation(
        "AssociateQualificationWithWorker", "Qualifications", "Gives a worker a qualification, or another score."
    ),
    Operation(
        "DisassociateQualificationFromWorker", "Qualifications", "Takes a qualification from a worker, and tells them."
    ),
    Operation("GetQualificationScore", "Qualifications", "Gives a worker's score in a qualification of yours."),
    Operation("ListWorkersWithQualificationType", "Qualifications", "Lists who has a qualification of yours."),
    Operation(
        "ListQualificationRequests",
        "Qualifications",
        "Lists workers who ask for your qualifications, with their test answers.",
    ),
    Operation("AcceptQualificationRequest", "Qualifications", "Grants what a worker asked for."),
    Operation("RejectQualificationRequest", "Qualifications", "Turns a request down; the worker reads the reason."),
    Operation("CreateWorkerBlock", "Workers", "From now on this worker neither sees nor takes your HITs."),
    Operation("DeleteWorkerBlock", "Workers", "Takes a block away."),
    Operation("ListWorkerBlocks", "Workers", "Lists whom you have blocked, and why."),
    Operation(
        "NotifyWorkers",
        "Workers",
        "Writes to up to 100 workers whose work you have judged.",
        "Messages arrive in the inbox on this site; there is no e-mail.",
    ),
    Operation(
        "GetAccountBalance",
        "Money",
        "Gives your available balance: what is not held for HITs.",
        "OnHoldBalance is given as well.",
    ),
    Operation("SendBonus", "Money", "Pays a worker beyond the reward, for an assignment they have submitted.", TOKENS),
    Operation("ListBonusPayments", "Money", "Lists bonuses of a HIT or an assignment."),
    Operation(
        "UpdateNotificationSettings",
        "Events",
        "Says which events of a HIT type you want to hear of, and where.",
        "There are no SQS queues or SNS topics here: give an http(s) address on a host that the operator has allowed, "
        "or Transport Email for the inbox on this site, and mail to your own address where the operator sends mail.",
    ),
    Operation(
        "SendTestEventNotification",
        "Events",
        "Sends one event now, to try out the destination.",
        "Goes to an http(s) address, or to the inbox on this site and your own mail.",
    ),
)
BY_NAME = {operation.name: operation for operation in ALL}


def parameters(name: str) -> list[Parameter]:
    """What the operation takes, required ones first."""
    shape = service_model().operation_model(name).input_shape
    if shape is None:
        return []
    required = set(shape.metadata.get("required", []))
    rows = [Parameter(key, _kind(member), key in required, _limits(member)) for key, member in shape.members.items()]
    return sorted(rows, key=lambda parameter: not parameter.required)


def results(name: str) -> list[str]:
    shape = service_model().operation_model(name).output_shape
    return list(shape.members) if shape is not None else []


def _kind(shape: Shape) -> str:
    if shape.type_name == "list":
        return f"list of {shape.member.name}"
    return "text" if shape.type_name == "string" else shape.type_name


def _limits(shape: Shape) -> str:
    facts: dict[str, Any] = shape.metadata
    words = []
    if getattr(shape, "enum", None):
        words.append("one of " + ", ".join(shape.enum))
    low, high = facts.get("min"), facts.get("max")
    if low is not None or high is not None:
        words.append(f"{low if low is not None else '…'} to {high if high is not None else '…'}")
    if facts.get("pattern"):
        words.append(f"pattern {facts['pattern']}")
    return "; ".join(words)
