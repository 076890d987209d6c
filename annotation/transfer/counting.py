"""Which answers count: submitted, and where a market brokered them, confirmed by it. The rule stands with the model."""

from annotation.models.work import counted

__all__ = ["counted"]
