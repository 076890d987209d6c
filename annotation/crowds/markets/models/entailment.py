"""Judges of the kind `nli`: a model on this machine says whether each SCU follows from the summary. It is free."""

import json
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from annotation.common.private import is_foreign_place
from annotation.crowds.base import MarketRefused


def check(name: str) -> None:
    """MarketRefused unless the model is here, may be read, and tells entailment."""
    if is_foreign_place(name, settings.MODEL_FOLDERS):
        raise MarketRefused(
            _(
                "“%(place)s” is in no folder that models are read from on this site. Nothing was started: name a "
                "model, or ask whoever runs the site to add its folder to MODEL_FOLDERS."
            )
            % {"place": name[:100]}
        )
    from scoring.errors import ScoringError
    from scoring.models.entailment import readiness

    try:
        ready = readiness(name)
    except (ScoringError, ImportError, OSError, ValueError) as error:
        raise MarketRefused(_("%(error)s Nothing was started.") % {"error": str(error)[:300]}) from None
    if not ready.ok:
        raise MarketRefused(_("%(error)s Nothing was started.") % {"error": ready.missing})


def ask(request: dict[str, Any]) -> dict[str, Any]:
    """What the model says of the request, in the form in which a language model answers, so that it is read alike."""
    from scoring.models.entailment import entailed, fingerprint

    names, claims = zip(*request["claims"].items(), strict=True)
    results = entailed(request["model"], request["premise"], claims)
    probabilities = {name: round(result.probability, 6) for name, result in zip(names, results, strict=True)}
    return {
        "fingerprint": fingerprint(request["model"]),
        "cut": any(result.is_cut for result in results),
        "probabilities": probabilities,
        "choices": [
            {
                "finish_reason": "stop",
                "message": {"content": json.dumps({name: int(p > 0.5) for name, p in probabilities.items()})},
            }
        ],
    }
