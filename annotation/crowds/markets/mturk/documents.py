"""Reads what a worker handed in on the market: QuestionFormAnswers, the MTurk API's XML for the fields of a form."""

from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from lxml import etree

from annotation.common import clock
from annotation.crowds.base import Listed, MarketRefused, MarketUnreachable, Posted
from annotation.crowds.ledger import batch_tag
from annotation.models import Batch, Posting, Submission


def read_answers(xml: str) -> dict[str, str]:
    """Field -> text; several selections are joined by |. What can't be read is no answer."""
    # No entities, no network, no files: the fields are strangers' words.
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(xml.encode(), parser)
    except etree.XMLSyntaxError:
        return {}
    return {
        name: "|".join(text for child in answer if _name(child) != "QuestionIdentifier" and (text := child.text or ""))
        for answer in root
        if _name(answer) == "Answer" and (name := _identifier(answer))
    }


def _identifier(answer: "etree._Element") -> str:
    return next((child.text or "" for child in answer if _name(child) == "QuestionIdentifier"), "")


def _name(element: "etree._Element") -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


BUSY = {"ThrottlingException", "Throttling", "RequestLimitExceeded", "TooManyRequestsException", "ServiceFault"}
PROOF = {  # what a whole answer has
    "create_hit_type": "HITTypeId",
    "create_hit_with_hit_type": "HIT",
    "create_qualification_type": "QualificationType",
    "get_account_balance": "AvailableBalance",
    "get_assignment": "Assignment",
    "get_hit": "HIT",
    "list_assignments_for_hit": "Assignments",
    "list_bonus_payments": "BonusPayments",
    "list_hits": "HITs",
    "list_qualification_types": "QualificationTypes",
}
STATES = {
    "Submitted": Submission.State.SUBMITTED,
    "Approved": Submission.State.APPROVED,
    "Rejected": Submission.State.REJECTED,
}


class TurkRefused(MarketRefused):
    """The market's refusal, with its TurkErrorCode."""

    def __init__(self, sentence: str = "", code: str = "") -> None:
        super().__init__(sentence)
        self.code = code.rpartition(".")[2]


def posted_from(hit: dict[str, Any]) -> Posted:
    available = hit["NumberOfAssignmentsAvailable"] if hit["HITStatus"] == "Assignable" else 0
    state = Posting.State.EXPIRED if hit["Expiration"] <= clock.now() else Posting.State.OPEN
    if hit["HITStatus"] == "Disposed":
        state = Posting.State.CLOSED
    return Posted(
        market_id=hit["HITId"],
        market_type=hit["HITTypeId"],
        expires_at=hit["Expiration"],
        places=hit["MaxAssignments"],
        state=state,
        claimable=available + hit["NumberOfAssignmentsPending"],
    )


def listed_from(assignment: dict[str, Any]) -> Listed:
    return Listed(
        market_id=assignment["AssignmentId"],
        worker_id=assignment["WorkerId"],
        state=STATES[assignment["AssignmentStatus"]],
        submitted_at=assignment.get("SubmitTime"),
        auto_approve_at=assignment.get("AutoApprovalTime"),
        decided_at=assignment.get("ApprovalTime") or assignment.get("RejectionTime"),
        answer=read_answers(assignment.get("Answer") or ""),
        reason=assignment.get("RequesterFeedback") or "",
    )


def annotation_of(batch: Batch) -> str:
    return f"pyramidion:{batch_tag(batch)}:"


def broke_off(error: Any) -> bool:
    """Whether only the beginning of a refusal arrived: botocore then takes it, as it is, for the message."""
    message = error.response.get("Error", {}).get("Message", "")
    headers = error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    promised = str(headers.get("content-length", ""))
    return message.startswith("{") and promised.isdigit() and len(message.encode()) < int(promised)


def refusal_of(error: Any) -> MarketRefused | MarketUnreachable:
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    code = error.response.get("Error", {}).get("Code", "")
    message = error.response.get("Message") or error.response.get("Error", {}).get("Message", "")
    if status >= 500 or code in BUSY:
        return MarketUnreachable(
            _("The market is out of order or too busy just now (%(code)s). Try again later.") % {"code": code}
        )
    if code != "RequestError":
        return TurkRefused(
            _("The market does not accept the access key (%(code)s): set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.")
            % {"code": code},
            code,
        )
    return TurkRefused(
        _("The market says: %(message)s") % {"message": message}, error.response.get("TurkErrorCode", "")
    )


def silence(why: str) -> str:
    return _("The market at %(endpoint)s does not answer (%(error)s). Try again later, or start it.") % {
        "endpoint": settings.MTURK_ENDPOINT_URL,
        "error": why,
    }
