"""The documented limits of a parameter. Each check raises BadParameter with a sentence that names it."""

from .errors import BadParameter

DAY = 24 * 3600


def check_length(name: str, text: str, maximum: int, minimum: int = 1) -> None:
    if not minimum <= len(text) <= maximum or (minimum and not text.strip()):
        raise BadParameter(f"{name} has {len(text)} characters; {minimum} to {maximum} are allowed.")


def check_range(name: str, value: int, minimum: int, maximum: int) -> None:
    if not minimum <= value <= maximum:
        raise BadParameter(f"{name} is {value}; {minimum} to {maximum} are allowed.")
