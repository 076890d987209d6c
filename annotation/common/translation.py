"""What `analysis` and `scoring` say in English, in the reader's language. What has no translation stays English."""

import json
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext

from analysis.sentence import Grouped, Sentence, Value


def translated(text: str) -> str:
    """A text of those libraries as this reader reads it."""
    if not isinstance(text, Sentence):
        return gettext(text)
    return gettext(text.template) % {name: _translated_value(value) for name, value in text.values.items()}


def _translated_value(value: Value) -> str:
    if isinstance(value, Grouped):
        return number_format(int(value), force_grouping=True)
    return translated(value) if isinstance(value, Sentence) else str(value)


def with_sentences(content: Any) -> Any:
    """Stored JSON in which every sentence that was written down as template and values is one again."""
    if isinstance(content, list):
        return [with_sentences(item) for item in content]
    if not isinstance(content, dict):
        return content
    if content.keys() == {"template", "values"}:
        return Sentence.from_json(content)
    return {name: with_sentences(item) for name, item in content.items()}


def to_column(text: str) -> str:
    """A text as a column keeps it: a sentence as JSON, any other as it is."""
    return json.dumps(text.as_json(), ensure_ascii=False) if isinstance(text, Sentence) else text


def from_column(text: str) -> str:
    """What `to_column` wrote down."""
    return Sentence.from_json(json.loads(text)) if text.startswith('{"template"') else text
