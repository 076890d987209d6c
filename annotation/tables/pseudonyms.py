"""Worker ids that slipped into a study's own columns: exports show the pseudonym instead."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from django.db.models import QuerySet
from django.db.models.fields.json import KeyTextTransform

from annotation.models import Study, Worker

from .stream import Column

WORDS = re.compile(r"[\w-]+|[^\W_]+")
PARTS = re.compile(r"[^\W_]+")
NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")
SHORTEST = 4  # inside other values an id such as 7 or w1 of somebody else may be anything
LONGEST = 200  # characters of a value that is remembered: texts would fill the memory and seldom come twice


class Pseudonymizer:
    """Replaces raw worker ids of a study in a value: every id that is the whole value, the row's own worker wherever
    it stands as a word or part, and others inside a longer value such as hit7_A1B2C3 where they are long enough."""

    def __init__(self, study: Study) -> None:
        # A direct worker's id is an account's number: it names nobody, and would be found in every other number.
        workers = Worker.objects.filter(study=study).exclude(crowd=Worker.DIRECT)
        pairs = workers.values_list("external_id", "pseudonym")
        self.names = {raw_id.casefold(): pseudonym for raw_id, pseudonym in pairs if raw_id and raw_id != pseudonym}
        self.cache: dict[tuple[str, str], str] = {}

    def __call__(self, value: Any, own_id: str = "") -> Any:
        """The value without ids; `own_id` is the raw id of the row's worker."""
        if not self.names:
            return value
        if isinstance(value, str):
            if len(value) > LONGEST:
                return self._replace_ids(value, own_id)
            if len(self.cache) > 50_000:
                self.cache.clear()
            if (value, own_id) not in self.cache:
                self.cache[value, own_id] = self._replace_ids(value, own_id)
            return self.cache[value, own_id]
        if isinstance(value, list):
            return [self(inner, own_id) for inner in value]
        return {name: self(inner, own_id) for name, inner in value.items()} if isinstance(value, dict) else value

    def measures(self, rows: "QuerySet[Any, Any]", columns: Sequence[Column]) -> set[str]:
        """Columns of plain numbers of which some are nobody's id: they measure something, and stay as they are."""
        if not any(NUMBER.fullmatch(name) for name in self.names):
            return set()
        return {column.name for column in columns if column.type == "string" and self._measures(rows, column.name)}

    def _measures(self, rows: "QuerySet[Any, Any]", name: str) -> bool:
        cells = rows.order_by().values_list(KeyTextTransform(name, "extra"), flat=True).distinct()
        values = {str(cell) for cell in cells if cell not in (None, "")}
        return all(map(NUMBER.fullmatch, values)) and not values <= self.names.keys()

    def _replace_ids(self, text: str, own_id: str) -> str:
        if pseudonym := self.names.get(text.strip().casefold()):
            return pseudonym
        if not self._may_hold(text.casefold(), own_id.casefold()):
            return text
        if (pseudonym := self.names.get(own_id.casefold())) and not NUMBER.fullmatch(text):
            text = _alone(own_id).sub(pseudonym, text)
        text = WORDS.sub(lambda match: self._word(match.group(), SHORTEST), text)
        return PARTS.sub(lambda match: self._part(match.group()), text)

    def _may_hold(self, folded: str, own_id: str) -> bool:
        """Nearly all values hold no id, and are told by this, which is quick."""
        raw_ids = self.names.keys()
        return bool(own_id and own_id in folded) or not (
            raw_ids.isdisjoint(WORDS.findall(folded)) and raw_ids.isdisjoint(PARTS.findall(folded))
        )

    def _word(self, word: str, shortest: int) -> str:
        return self.names.get(word.casefold(), word) if len(word) >= shortest else word

    def _part(self, word: str) -> str:
        """Inside a longer word only ids that can't be a plain number or a short word."""
        return word if word.isdigit() else self._word(word, SHORTEST + 1)


def without_ids(study: Study, rows: "QuerySet[Any, Any]", columns: Sequence[Column], *id_path: str) -> list[Column]:
    """The columns with pseudonyms instead of worker ids; `id_path` leads to the raw id of the row's worker."""
    pseudonymize = Pseudonymizer(study) if any(column.may_hold_ids for column in columns) else None
    if pseudonymize is None or not pseudonymize.names:
        return list(columns)
    measures = pseudonymize.measures(rows, [column for column in columns if column.paths == ("extra",)])
    return [
        column.then(pseudonymize, *id_path) if column.may_hold_ids and column.name not in measures else column
        for column in columns
    ]


@lru_cache(maxsize=10_000)
def _alone(name: str) -> re.Pattern[str]:
    """The name with no letter or digit around it."""
    return re.compile(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", re.IGNORECASE)
