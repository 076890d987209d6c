"""Which answers count: submitted, and where a market brokered them, confirmed by it."""

from django.db.models import Q

from annotation.models import Assignment
from annotation.models.crowds import Submission


def counted(prefix: str = "") -> Q:
    """The condition on assignments, reached through `prefix` such as "assignment__"."""
    confirmed = Q(**{f"{prefix}submission__isnull": True}) | Q(
        **{f"{prefix}submission__state__in": Submission.CONFIRMED}
    )
    return Q(**{f"{prefix}state": Assignment.State.SUBMITTED}) & confirmed
