"""Operations on money and events."""

from annotation.marketplace.api.paging import page
from annotation.marketplace.api.registry import operation
from annotation.marketplace.api.render import Document, bonus_document
from annotation.marketplace.books import money
from annotation.marketplace.errors import BadParameter
from annotation.marketplace.hits import assignments, hits
from annotation.marketplace.models import BonusPayment, Requester
from annotation.marketplace.people import notices

from .hits import own_hit


@operation("GetAccountBalance")
def get_account_balance(requester: Requester, params: Document) -> Document:
    requester.refresh_from_db(fields=["available_cents", "held_cents"])
    return {
        "AvailableBalance": money.dollars(requester.available_cents),
        "OnHoldBalance": money.dollars(requester.held_cents),
    }


@operation("SendBonus")
def send_bonus(requester: Requester, params: Document) -> None:
    assignments.send_bonus(
        requester,
        params["WorkerId"],
        params["AssignmentId"],
        money.cents(params["BonusAmount"]),
        params["Reason"],
        params.get("UniqueRequestToken"),
    )


@operation("ListBonusPayments")
def list_bonus_payments(requester: Requester, params: Document) -> Document:
    if "HITId" not in params and "AssignmentId" not in params:
        raise BadParameter("Either HITId or AssignmentId is required.")
    rows = BonusPayment.objects.select_related("worker", "assignment").filter(requester=requester)
    if "HITId" in params:
        rows = rows.filter(assignment__hit=own_hit(requester, params["HITId"]))
    if "AssignmentId" in params:
        rows = rows.filter(assignment=assignments.own_assignment(requester, params["AssignmentId"]))
    listing = page(requester, "ListBonusPayments", params, rows)
    return listing.document("BonusPayments", [bonus_document(payment) for payment in listing.rows])


@operation("UpdateNotificationSettings")
def update_notification_settings(requester: Requester, params: Document) -> None:
    hits.set_notification(requester, params["HITTypeId"], params.get("Notification"), params.get("Active"))


@operation("SendTestEventNotification")
def send_test_event_notification(requester: Requester, params: Document) -> None:
    notices.send_test(requester, params["Notification"], params["TestEventType"])
