"""Whole numbers as people type them, or as they stand in an address."""


def parse_int(text: str, otherwise: int = 0) -> int:
    """The number; `otherwise` for anything else, be it ², or more digits than a column holds."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else otherwise
