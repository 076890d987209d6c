"""What a call costs: counted tokens before it, the endpoint's own count after it. In millionths of the currency.

A price is for a million tokens, so a token costs so many millionths.
"""

import json
import re
from decimal import ROUND_CEILING, Decimal
from typing import Any

from annotation.models import Judge

PIECE = re.compile(r"[A-Za-z]{1,4}|\d|[^\W\dA-Za-z]|[^\w\s]|_")
TEMPLATE_TOKENS = 200
"""What an endpoint puts around the messages, at the most."""


def count_tokens(text: str) -> int:
    """Pieces of up to four letters, digits and signs: a little more than the tokenizers of large models make."""
    return sum(1 for _match in PIECE.finditer(text))


def text_of(request: dict[str, Any]) -> str:
    """All that an endpoint reads."""
    form = request.get("response_format")
    return "\n".join(
        [*(message["content"] for message in request.get("messages", [])), json.dumps(form) if form else ""]
    )


def cost(judge: Judge, tokens_in: int, tokens_out: int) -> int:
    """Rounded up."""
    micros = tokens_in * judge.price_in + tokens_out * judge.price_out
    return int(Decimal(micros).to_integral_value(rounding=ROUND_CEILING))


def most(judge: Judge, request: dict[str, Any]) -> int:
    """The most that a call can cost: no tokenizer makes more tokens than there are bytes."""
    if judge.is_free:
        return 0
    return cost(judge, len(text_of(request).encode()) + TEMPLATE_TOKENS, judge.options["max_tokens"])


def usage(answer: dict[str, Any]) -> tuple[int, int] | None:
    """Tokens in and out, as the endpoint counted them; None where it doesn't tell."""
    counts = answer.get("usage")
    try:
        tokens = int(counts["prompt_tokens"]), int(counts["completion_tokens"])  # type: ignore[index]
    except (KeyError, TypeError, ValueError):
        return None
    return tokens if min(tokens) >= 0 else None
