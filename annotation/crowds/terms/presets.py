"""The terms of published studies, to begin with. Source of each: the paper, and what its released files say."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from .requirements import (
    ENGLISH_SPEAKING,
    approval_at_least,
    approved_at_least,
    approved_more_than,
    located_in,
)

DAY = 24 * 3600
# REALSumm: approval rate of at least 99 %, more than 5,000 approved HITs, an English-speaking place.
_CAREFUL = [approval_at_least(99), approved_more_than(5000), located_in(ENGLISH_SPEAKING)]

PRESETS: dict[str, dict[str, Any]] = {
    "realsumm": {
        "title": _("REALSumm: 4 workers per summary, $0.20 abstractive, $0.15 extractive"),
        "source": "Bhandari et al. 2020",
        "protocol": "litepyramid",
        "quota": 4,
        "terms": {
            "reward_cents": 20,
            "reward_by_group": {"abs": 20, "ext": 15},
            "title": "Which statements does a short summary make?",
            "description": "Read a summary of a news article and mark which of up to 16 statements it makes.",
            "keywords": "summary, reading, news, English, text",
            "duration_seconds": 90 * 60,
            "lifetime_seconds": DAY,
            "auto_approve_seconds": 3 * DAY,
            "requirements": _CAREFUL,
            "minutes": 2,
        },
    },
    "summeval": {
        "title": _("SummEval: 5 workers per summary, $12 an hour"),
        "source": "Fabbri et al. 2021",
        "protocol": "likert",
        "quota": 5,
        "terms": {
            "reward_cents": 200,  # 12 USD an hour at ten minutes for an article and five summaries
            "title": "Rate five summaries of a news article",
            "description": "Read a news article and rate five summaries of it on four scales.",
            "keywords": "summary, rating, reading, news, English",
            "duration_seconds": 90 * 60,
            "lifetime_seconds": 7 * DAY,
            "auto_approve_seconds": 3 * DAY,
            "requirements": [approved_at_least(10_000), approval_at_least(97), located_in(("US", "GB", "AU"))],
            "minutes": 10,
        },
    },
    "litepyramid-1": {
        "title": _("LitePyramid, phase 1: 2 workers write the facts of a reference, $0.50"),
        "source": "Shapira et al. 2019",
        "protocol": "scu",
        "quota": 2,
        "terms": {
            "reward_cents": 50,
            "title": "Write down the single facts of a short text",
            "description": "Read a short text and write its facts as single, self-contained sentences.",
            "keywords": "writing, reading, summary, news, English",
            "duration_seconds": 90 * 60,
            "lifetime_seconds": 7 * DAY,
            "auto_approve_seconds": 2 * DAY,
            "requirements": _CAREFUL,
            "minutes": 5,
        },
    },
    "litepyramid-2": {
        "title": _("LitePyramid, phase 2: 5 workers per summary, $0.45"),
        "source": "Shapira et al. 2019",
        "protocol": "litepyramid",
        "quota": 5,
        "terms": {
            "reward_cents": 45,
            "title": "Which statements does a summary make?",
            "description": "Read a summary and mark which of the statements it makes.",
            "keywords": "summary, reading, news, English, text",
            "duration_seconds": 90 * 60,
            "lifetime_seconds": 7 * DAY,
            "auto_approve_seconds": 2 * DAY,
            "requirements": _CAREFUL,
            "minutes": 4,
        },
    },
}
