"""The data model. The rules live in the database: see each model's constraints and `annotation/models/triggers.py`."""

from .crowds import Entry, MarketHook, MarketToken, Posting, Schedule, Submission, WorkerFigures
from .explorer import Disagreement, Dropped, Exploration, HumanScore
from .exports import Export, ExportFile
from .guidance import Consent, GuidanceText, PracticeDraft, PracticeItem, PracticePlan, PracticeRun
from .jobs import Job, MetricRun, StoredResult
from .judges import Judge, JudgeCall, JudgeRun
from .safety import AuditEvent, Invitation, SecondFactor, SignInFailures
from .study import FilterDecision, Membership, Role, Study, User, Worker
from .texts import REFERENCE_GROUP, WHOLE_SYSTEM, ContentUnit, Document, Reference, Score, Summary, System
from .tokens import ApiToken, RateCount, Scope
from .units import ExtractedUnit, SecondLook, UnitList
from .work import Assignment, Batch, Flag, Judgment, Task

__all__ = [
    "REFERENCE_GROUP",
    "WHOLE_SYSTEM",
    "ApiToken",
    "Assignment",
    "AuditEvent",
    "Batch",
    "Consent",
    "ContentUnit",
    "Disagreement",
    "Document",
    "Dropped",
    "Entry",
    "Exploration",
    "Export",
    "ExportFile",
    "ExtractedUnit",
    "FilterDecision",
    "Flag",
    "GuidanceText",
    "HumanScore",
    "Invitation",
    "Job",
    "Judge",
    "JudgeCall",
    "JudgeRun",
    "Judgment",
    "MarketHook",
    "MarketToken",
    "Membership",
    "MetricRun",
    "Posting",
    "PracticeDraft",
    "PracticeItem",
    "PracticePlan",
    "PracticeRun",
    "RateCount",
    "Reference",
    "Role",
    "Schedule",
    "Scope",
    "Score",
    "SecondFactor",
    "SecondLook",
    "SignInFailures",
    "StoredResult",
    "Study",
    "Submission",
    "Summary",
    "System",
    "Task",
    "UnitList",
    "User",
    "Worker",
    "WorkerFigures",
]
