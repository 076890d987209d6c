"""Failures of a call before or beside its operation, by the names AWS gives them."""


class CallFailed(Exception):
    """Refused at the door. `kind` is the `__type` clients see."""

    def __init__(self, kind: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status


def unsigned() -> CallFailed:
    return CallFailed("MissingAuthenticationTokenException", "Missing Authentication Token", 403)


def incomplete(message: str) -> CallFailed:
    return CallFailed("IncompleteSignatureException", message, 403)


def bad_signature(message: str) -> CallFailed:
    return CallFailed("InvalidSignatureException", message, 403)


def unknown_key() -> CallFailed:
    return CallFailed("UnrecognizedClientException", "The access key is unknown or was revoked.", 403)


def denied(message: str) -> CallFailed:
    return CallFailed("AccessDeniedException", message, 403)


def unknown_operation(name: str) -> CallFailed:
    return CallFailed("UnknownOperationException", f"There is no operation {name!r} in this service.")


def unreadable(message: str) -> CallFailed:
    return CallFailed("SerializationException", message)
