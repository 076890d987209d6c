"""What an annotator has chosen for the work page: keys for answers, the size of texts."""

from collections.abc import Mapping
from typing import Any

from annotation.models import Worker

MOST_KEYS = 20  # protocols, and answers of one
SMALLEST, LARGEST = 1.0, 2.0


def store_preferences(worker_id: int, posted: Any) -> None:
    """Keep what can be read of it; the rest is dropped, as a save of answers must not fail because of it."""
    if not isinstance(posted, Mapping):
        return
    preferences: dict[str, Any] = {}
    if keys := _keys(posted.get("keys")):
        preferences["keys"] = keys
    size = posted.get("size")
    if isinstance(size, (int, float)) and SMALLEST < size <= LARGEST:
        preferences["size"] = size
    Worker.objects.filter(pk=worker_id).update(preferences=preferences)


def _keys(posted: Any) -> dict[str, dict[str, str]]:
    """By protocol, the key of each answer."""
    protocols = {name: _mapping(keys) for name, keys in list(_mapping(posted).items())[:MOST_KEYS]}
    return {
        str(name)[:30]: {
            str(value)[:20]: key
            for value, key in list(keys.items())[:MOST_KEYS]
            if isinstance(key, str) and len(key) == 1 and key.isprintable()
        }
        for name, keys in protocols.items()
        if keys
    }


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
