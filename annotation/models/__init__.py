"""The data model. The rules live in the database: see each model's constraints and `annotation/triggers.py`."""

from .study import FilterDecision, Membership, Role, Study, User, Worker
from .texts import ContentUnit, Document, Reference, Score, Summary, System
from .work import Assignment, Batch, Judgment, Task

__all__ = [
    "Assignment",
    "Batch",
    "ContentUnit",
    "Document",
    "FilterDecision",
    "Judgment",
    "Membership",
    "Reference",
    "Role",
    "Score",
    "Study",
    "Summary",
    "System",
    "Task",
    "User",
    "Worker",
]
