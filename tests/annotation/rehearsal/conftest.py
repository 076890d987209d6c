"""A rehearsal runs against the live market of the crowds' tests."""

from tests.annotation.crowds.conftest import desk, live_market

__all__ = ["desk", "live_market"]
