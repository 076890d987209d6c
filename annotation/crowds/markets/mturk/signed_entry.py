"""Did the market itself send this worker? MTurk's protocol doesn't say; our own marketplace signs the frame's address.

The marketplace (annotation/marketplace/people/access_keys.py) signs with every key of the requester that is in force,
and we know one of their secrets. Neither imports the other: what is signed stands in both, and a test compares them
over the wire.
"""

import hashlib
import hmac
import logging

from django.conf import settings
from django.http import QueryDict
from django.utils.translation import gettext_lazy

from annotation.common.errors import Refused
from annotation.crowds.base import MarketRefused

from .endpoint import access_key

SIGNED = ("assignmentId", "hitId", "workerId")
logger = logging.getLogger(__name__)


class NotSentByMarket(Refused):
    status = 403
    sentence = gettext_lazy(
        "Nothing shows that the market itself sent you, so nothing was opened and nothing was changed. Open the task "
        "again from your work on the market's own pages. Should this come up there, please return the task."
    )


def check_sent_by_market(query: QueryDict) -> None:
    """The address must carry the market's signature, where it signs (MTURK_SIGNED_ENTRY). Raises NotSentByMarket."""
    if not settings.MTURK_SIGNED_ENTRY:
        return
    expected = entry_signature(*(query.get(name, "") for name in SIGNED))
    signatures = query.getlist("signature")
    if not any(hmac.compare_digest(expected.encode(), signature.encode()) for signature in signatures):
        raise NotSentByMarket


def entry_signature(assignment_id: str, hit_id: str, worker_id: str) -> str:
    """What the market signs with our key for this worker."""
    try:
        _key, secret = access_key()
    except MarketRefused as refusal:
        logger.error("No worker of the market can be let in: %s", refusal)
        raise NotSentByMarket from refusal
    text = "\n".join(["frame", assignment_id, hit_id, worker_id])
    return hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()
