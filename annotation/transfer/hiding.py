"""Worker ids that slipped into a study's own columns: exports show the pseudonym instead."""

import re
from typing import Any

from annotation.models import Study, Worker

WORDS = re.compile(r"[\w-]+|[^\W_]+")
PARTS = re.compile(r"[^\W_]+")
SHORTEST = 4  # an id such as 7 or w1 names nobody, and stands in many other values


class Hiding:
    """Replaces every raw worker id of a study in a value, by itself or inside a longer one such as hit7_A1B2C3."""

    def __init__(self, study: Study) -> None:
        # A direct worker's id is an account's number: it names nobody, and would be found in every other number.
        workers = Worker.objects.filter(study=study).exclude(crowd=Worker.DIRECT)
        pairs = workers.values_list("external_id", "pseudonym")
        self.names = {given: shown for given, shown in pairs if given != shown and len(given) >= SHORTEST}
        self.seen: dict[str, str] = {}

    def __call__(self, value: Any) -> Any:
        if not self.names:
            return value
        if isinstance(value, str):
            if len(self.seen) > 50_000:
                self.seen.clear()
            if value not in self.seen:
                self.seen[value] = self._hidden(value)
            return self.seen[value]
        if isinstance(value, list):
            return [self(one) for one in value]
        return {name: self(one) for name, one in value.items()} if isinstance(value, dict) else value

    def _hidden(self, text: str) -> str:
        if text in self.names:
            return self.names[text]
        text = WORDS.sub(lambda found: self.names.get(found.group(), found.group()), text)
        return PARTS.sub(lambda found: self._part(found.group()), text)

    def _part(self, part: str) -> str:
        """Inside a longer word only ids that can't be a plain number or a short word."""
        return self.names.get(part, part) if len(part) >= 5 and not part.isdigit() else part
