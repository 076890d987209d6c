"""What the market refuses, each with the sentence its caller sees and the TurkErrorCode that clients look for."""

PREFIX = "AWS.MechanicalTurk."


class Refused(Exception):
    """Something was asked that can't be done. Nothing was changed."""

    status = 409
    code = "InvalidRequest"
    sentence = "This can't be done now. Nothing was changed."

    def __init__(self, sentence: str = "") -> None:
        super().__init__(sentence or self.sentence)

    @property
    def turk_error_code(self) -> str:
        return PREFIX + self.code


class BadParameter(Refused):
    status = 422
    code = "ParameterValidationError"
    sentence = "A parameter is not valid."


class BadXML(BadParameter):
    code = "XMLParseError"
    sentence = "The XML can't be read."


class NotSupported(Refused):
    status = 422
    code = "OperationNotSupported"
    sentence = "This marketplace doesn't do that."


class DoesNotExist(Refused):
    """Unknown, or another requester's: a stranger must not learn which."""

    status = 404
    code = "DoesNotExist"


class HITDoesNotExist(DoesNotExist):
    code = "HITDoesNotExist"


class HITTypeDoesNotExist(DoesNotExist):
    code = "HITTypeDoesNotExist"


class HITLayoutDoesNotExist(DoesNotExist):
    code = "HITLayoutDoesNotExist"


class AssignmentDoesNotExist(DoesNotExist):
    code = "AssignmentDoesNotExist"


class QualificationTypeDoesNotExist(DoesNotExist):
    code = "QualificationTypeDoesNotExist"


class QualificationDoesNotExist(DoesNotExist):
    code = "QualificationDoesNotExist"


class QualificationRequestDoesNotExist(DoesNotExist):
    code = "QualificationRequestDoesNotExist"


class WorkerDoesNotExist(DoesNotExist):
    code = "WorkerDoesNotExist"


class InvalidHITState(Refused):
    code = "InvalidHITState"


class InvalidAssignmentState(Refused):
    code = "InvalidAssignmentState"


class InvalidQualificationState(Refused):
    code = "InvalidQualificationState"


class InvalidMaximumAssignmentsIncrease(Refused):
    code = "InvalidMaximumAssignmentsIncrease"


class QualificationTypeAlreadyExists(Refused):
    code = "QualificationTypeAlreadyExists"


class AlreadyDone(Refused):
    """The same UniqueRequestToken came again within 24 hours."""

    code = "HitAlreadyExists"


class SentBefore(Refused):
    """The same form came again: a double click, or a page sent anew."""

    sentence = (
        "This form was sent before, and counted then. Nothing was changed now; for another one, load the page anew."
    )


class InsufficientFunds(Refused):
    code = "InsufficientFunds"
    sentence = "Your available balance is too low for this. Nothing was changed; ask the operator for a top-up."


# What a worker can run into


class NotQualified(Refused):
    status = 403
    code = "QualificationsNotMet"
    sentence = "You don't have the qualifications that this HIT asks for."


class Blocked(Refused):
    status = 403
    code = "WorkerBlocked"
    sentence = "This requester doesn't take work from you. Other requesters do."


class NoneLeft(Refused):
    code = "NoHITsAvailable"
    sentence = "This HIT has no place left. Nothing was taken; look for another one."


class AlreadyTaken(Refused):
    code = "AlreadyAccepted"
    sentence = "You have worked on this HIT already. Each worker does it once."


class TooManyAtOnce(Refused):
    code = "MaximumAssignmentsAccepted"
    sentence = "You hold as many assignments as one worker may. Submit or return one first."


class NotYours(DoesNotExist):
    code = "AssignmentDoesNotExist"
    sentence = "There is no such assignment of yours. Nothing was changed."


class GivenBack(Refused):
    code = "AssignmentReturned"
    sentence = "You gave this HIT back, so it could not be submitted. If a place is left, accept it again."


class TimeIsUp(Refused):
    code = "AssignmentAbandoned"
    sentence = "The time for this assignment has ended, so it could not be submitted."


class AlreadySubmitted(Refused):
    code = "AlreadySubmitted"
    sentence = "You have submitted this assignment already. Your first answers are kept; nothing was changed."


class TooSoon(Refused):
    code = "RetryDelay"
    sentence = "You have asked for this qualification before and can't ask again yet."
