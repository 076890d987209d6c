"""What can go wrong for a person, each with the sentence that person sees, in their language."""

from django.db import InterfaceError, OperationalError
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

DATABASE_IS_GONE = (OperationalError, InterfaceError)
"""Locked, restarting or unreachable: nothing is wrong with the request, which is answered with 503."""
RETRY_SECONDS = 10


class Refused(Exception):
    """Something was asked that can't be done. Nothing was changed, unless the sentence says so."""

    status = 409
    sentence: str | Promise = _("This can't be done now. Nothing was changed.")

    def __init__(self, sentence: str | Promise = "") -> None:
        super().__init__(str(sentence or self.sentence))


class NoTaskLeft(Refused):
    sentence = _("There is no task left for you in this batch. Thank you; look in again later.")


class BatchNotOpen(Refused):
    sentence = _("This batch is not open at the moment. What you saved is kept; look in again later.")


class NotYours(Refused):
    status = 404  # a stranger must not learn that it exists
    sentence = _("There is no such assignment of yours. Nothing was changed.")


class Blocked(Refused):
    status = 403
    sentence = _("You can't take part in this study any more. What you gave is kept.")


class AlreadySubmitted(Refused):
    sentence = _("You have submitted this task already. Your first answers are kept; nothing was changed.")


class BadAnswers(Refused):
    status = 422
    sentence = _("The answers are not complete. Nothing was submitted.")
