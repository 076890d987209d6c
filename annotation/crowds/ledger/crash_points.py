"""Named points at which a test can end the process, as a power cut would. They do nothing outside of tests.

FAULT_POINT=publish:answered@3 ends it the third time that point is passed; in demo mode only.
"""

import os
import signal
from collections import Counter

from django.conf import settings

_passed: Counter[str] = Counter()


def point(name: str) -> None:
    """Pass by. A test that named this point kills the process here: no clean-up, no rollback by our own code."""
    crash_point = os.environ.get("FAULT_POINT", "")
    if not crash_point or not settings.DEMO:
        return
    target, _, times = crash_point.partition("@")
    if target == name:
        _passed[name] += 1
        if _passed[name] >= int(times or 1):
            os.kill(os.getpid(), signal.SIGKILL)
