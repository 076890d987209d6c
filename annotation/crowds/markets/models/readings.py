"""Reading an answer: JSON by the schema that was asked for, and probabilities where the endpoint gives them.

What doesn't fit is left out and said, never guessed.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp
from typing import Any

from annotation.protocols.model_question import ModelItem, ModelQuestion, Reading

FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)
AROUND = " \t\n\r\"',:{}[]"
MOST_LINES, LONGEST_LINE = 100, 1000


@dataclass(frozen=True)
class Read:
    """What could be read of an answer, by the items' names; and what was wrong with the rest."""

    readings: dict[str, Reading] = field(default_factory=dict)
    problem: str = ""
    content: str = ""


def read_answer(answer: Mapping[str, Any], question: ModelQuestion, items: Sequence[ModelItem]) -> Read:
    """The readings of these items."""
    try:
        choice = answer["choices"][0]
        message = choice["message"]
        content = message.get("content") or ""
    except (KeyError, IndexError, TypeError, AttributeError):
        return Read(problem="no message")
    if message.get("refusal"):
        return Read(problem="a refusal", content=str(message["refusal"]))
    try:
        values = json.loads(_bare(content))
    except (ValueError, RecursionError, TypeError):
        cut = choice.get("finish_reason") == "length"
        return Read(problem="cut off at the limit of tokens" if cut else "no JSON", content=str(content))
    if not isinstance(values, dict):
        return Read(problem="no JSON object", content=content)
    readings, shares_of_yes = {}, answer.get("probabilities") or {}
    for item in items:
        if _fits(values.get(item.name), question):
            shares = (
                _of_yes(shares_of_yes[item.name])
                if item.name in shares_of_yes
                else _probabilities(choice, item, question)
            )
            readings[item.name] = Reading(values[item.name], shares)
    missing = [item.name for item in items if item.name not in readings]
    return Read(readings, f"wrong or missing: {', '.join(missing[:20])}" if missing else "", content)


def _bare(content: str) -> str:
    """Without the fence that some models put around JSON."""
    fenced = FENCE.fullmatch(content.strip())
    return fenced[1] if fenced else content


def _fits(value: Any, question: ModelQuestion) -> bool:
    if question.values:
        return type(value) is int and value in question.values
    is_list = isinstance(value, list) and 0 < len(value) <= MOST_LINES
    return is_list and all(isinstance(line, str) and 0 < len(line.strip()) <= LONGEST_LINE for line in value)


def _of_yes(probability: float) -> dict[int, float]:
    return {1: probability, 0: 1 - probability}


def _probabilities(choice: Mapping[str, Any], item: ModelItem, question: ModelQuestion) -> dict[int, float] | None:
    """The share of each value among the likeliest tokens where the item's value stands; None without such tokens.

    It is looked for in the tokens' own text: a server may leave some of them out of the message, such as a fence.
    """
    try:
        tokens = choice["logprobs"]["content"]
        text = "".join(token["token"] for token in tokens)
    except (KeyError, TypeError):
        return None
    places = list(re.finditer(rf'"{re.escape(item.name)}"\s*:\s*(?=-?\d)', text))
    if not places or not question.values:
        return None
    start = 0
    for token in tokens:
        start += len(token["token"])
        if places[-1].end() < start:
            return _shares(token, question)
    return None


def _shares(token: Mapping[str, Any], question: ModelQuestion) -> dict[int, float] | None:
    words = {str(value): value for value in question.values}
    shares: dict[int, float] = {}
    for candidate in token.get("top_logprobs") or []:
        word = str(candidate["token"]).strip(AROUND)
        if word in words:
            shares[words[word]] = shares.get(words[word], 0.0) + exp(float(candidate["logprob"]))
    total = sum(shares.values())
    return {value: share / total for value, share in shares.items()} if total > 0 else None
