"""Words that both sides of the attack know."""

HIDDEN = "HIDDENWORD"
"""In everything that belongs to the other study, requester and worker: no answer may hold it."""
