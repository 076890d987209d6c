"""The documented limits of a parameter. Each check raises BadParameter with a sentence that names it."""

from .errors import BadParameter

DAY = 24 * 3600


def check_length(name: str, text: str, most: int, least: int = 1) -> None:
    if not least <= len(text) <= most or (least and not text.strip()):
        raise BadParameter(f"{name} has {len(text)} characters; {least} to {most} are allowed.")


def check_range(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise BadParameter(f"{name} is {value}; {least} to {most} are allowed.")
