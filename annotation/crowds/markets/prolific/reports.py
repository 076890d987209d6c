"""What Prolific sends to our address when a submission changes: signed, and to be read once.

https://docs.prolific.com/api-reference/webhooks/verifying: the signature is the HMAC-SHA256 of the timestamp's text and
the body as it came, in base64; X-Event-ID is the same for a report that is sent again.
"""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import UTC, datetime

from annotation.crowds.base import Report

EVENT = "submission.status.change"


def read_report(secret: str, headers: Mapping[str, str], body: bytes) -> Report | None:
    """The report; None where somebody else signed it, or nobody."""
    timestamp, signature = (headers.get(f"X-Prolific-Request-{name}", "") for name in ("Timestamp", "Signature"))
    key = headers.get("X-Event-ID", "") or signature
    if not is_signed(secret, timestamp, body, signature) or not timestamp.isdecimal() or len(timestamp) > 12:
        return None
    try:
        content = json.loads(body)
        market_ids = [content.get(name) for name in ("resource_id", "study_id", "submission_id")]
    except (ValueError, RecursionError, AttributeError):
        return None
    names = tuple(str(market_id)[:100] for market_id in market_ids if market_id)
    return Report(key[:100], datetime.fromtimestamp(int(timestamp), UTC), names)


def is_signed(secret: str, timestamp: str, body: bytes, signature: str) -> bool:
    digest = hmac.new(secret.encode(), timestamp.encode("utf-8", "replace") + body, hashlib.sha256).digest()
    return hmac.compare_digest(base64.b64encode(digest), signature.encode("utf-8", "replace"))
