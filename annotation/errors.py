"""What can go wrong for a person, each with the sentence that person sees."""


class Refused(Exception):
    """Something was asked that can't be done. Nothing was changed, unless the sentence says so."""

    status = 409
    sentence = "This can't be done now. Nothing was changed."

    def __init__(self, sentence: str = "") -> None:
        super().__init__(sentence or self.sentence)


class NoTaskLeft(Refused):
    sentence = "There is no task left for you in this batch. Thank you; look in again later."


class BatchNotOpen(Refused):
    sentence = "This batch is not open at the moment. What you saved is kept; look in again later."


class LeaseExpired(Refused):
    sentence = (
        "Your hold on this task has ended and somebody else has taken it. Nothing was lost: what you saved is kept."
    )


class NotYours(Refused):
    status = 404  # a stranger must not learn that it exists
    sentence = "There is no such assignment of yours. Nothing was changed."


class AlreadySubmitted(Refused):
    sentence = "You have submitted this task already. Your first answers are kept; nothing was changed."


class BadAnswers(Refused):
    status = 422
    sentence = "The answers are not complete. Nothing was submitted."
