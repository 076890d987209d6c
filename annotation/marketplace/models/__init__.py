"""The market's data. The rules live in the database: see each model's constraints."""

from .books import BankDetails, BonusPayment, Payout, PayoutLine, PayoutList, Pot, Transfer
from .hits import HIT, Assignment, HITLayout, HITType, RequestToken, ReviewRecord
from .messages import Message, Notice
from .people import (
    AccessKey,
    Account,
    AuditEntry,
    FeeRates,
    Invitation,
    MarketSettings,
    Requester,
    SignInFailures,
    Worker,
)
from .qualifications import Qualification, QualificationRequest, QualificationType, WorkerBlock

__all__ = [
    "HIT",
    "AccessKey",
    "Account",
    "Assignment",
    "AuditEntry",
    "BankDetails",
    "BonusPayment",
    "FeeRates",
    "HITLayout",
    "HITType",
    "Invitation",
    "MarketSettings",
    "Message",
    "Notice",
    "Payout",
    "PayoutLine",
    "PayoutList",
    "Pot",
    "Qualification",
    "QualificationRequest",
    "QualificationType",
    "RequestToken",
    "Requester",
    "ReviewRecord",
    "SignInFailures",
    "Transfer",
    "Worker",
    "WorkerBlock",
]
