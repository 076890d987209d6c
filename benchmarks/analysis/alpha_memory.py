"""Claim: ordinal alpha with 100 values on 26,000 units stays under 500 MB, the whole process counted.

The krippendorff package needs 6.4 GB for it (units × values × values), so that such a table is left to our own alpha;
too much to measure everywhere, so the peer is the promised limit.
"""

from __future__ import annotations

import subprocess
import sys

from benchmarks import Measurement

LIMIT = 500.0
CODE = """
import resource
from analysis.agreement import agreement
from benchmarks.analysis._ratings import judgments, ratings
value = agreement(judgments(ratings(26_000, 4, 100)), level="ordinal")[0].value
assert 0.5 < value < 0.9, value
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def run() -> Measurement:
    process = subprocess.run([sys.executable, "-c", CODE], check=True, capture_output=True, text=True)
    return Measurement(float(process.stdout), LIMIT, 1, "MB", "promised limit; ordinal, 26,000 units, 100 values")
