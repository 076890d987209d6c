"""Names that people and files give, as parts of an address: any name works, whatever characters it has.

A slash ends a part of an address even when it is escaped, and browsers take "." and ".." away. So a slash is
written ~1, a tilde ~0, and a name of dots alone ~2.
"""

DOTS = {".": "~2", "..": "~2~2"}


def to_address(name: str) -> str:
    return DOTS.get(name) or name.replace("~", "~0").replace("/", "~1")


def from_address(part: str) -> str:
    """The name that `to_address` wrote."""
    return part.replace("~2", ".").replace("~1", "/").replace("~0", "~")
