"""Operations by name: `@operation` registers a function under its own name in CamelCase of the service model."""

from collections.abc import Callable
from typing import Any

from annotation.marketplace.models import Requester

Handler = Callable[[Requester, dict[str, Any]], dict[str, Any] | None]
HANDLERS: dict[str, Handler] = {}


def operation(name: str) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        HANDLERS[name] = handler
        return handler

    return register
