"""Public ids, shaped like Amazon's: capitals and digits, so that clients' patterns (`^[A-Z0-9]+$`) hold."""

import secrets
import string

ALPHABET = string.ascii_uppercase + string.digits


def _letters(count: int) -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(count))


def entity_id() -> str:
    """Id of a HIT, HIT type, assignment, qualification type or request."""
    return "3" + _letters(29)


def customer_id() -> str:
    """Id of a worker or requester (`^A[A-Z0-9]+$`)."""
    return "A" + _letters(13)


def access_key_id() -> str:
    return "AKIA" + _letters(16)


def invitation_code() -> str:
    return secrets.token_urlsafe(12)
