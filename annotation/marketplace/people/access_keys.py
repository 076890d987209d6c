"""Requesters' access keys.

SigV4 is a shared-secret scheme: to verify a signature the server needs the plain secret, so hashing it is no option.
The secret is therefore derived, HMAC(SECRET_KEY, key id and salt), and stored nowhere: a stolen database alone signs
nothing. A new MARKETPLACE_SECRET_KEY makes every key void.
"""

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Coalesce

from annotation.common import clock
from annotation.marketplace.errors import DoesNotExist
from annotation.marketplace.models import AccessKey, Account, Requester

from . import check_form, record

SECRET_LENGTH = 40
MOST_SIGNATURES = 10
"""Web servers take no address of any length. The keys used last sign."""


@dataclass(frozen=True)
class IssuedKey:
    """A new key with its secret: shown once, then gone."""

    key_id: str
    secret: str


def issue_key(requester: Requester, label: str = "", actor: Account | None = None, form: str = "") -> IssuedKey:
    """A new key, once per `form`."""
    with transaction.atomic():
        check_form(requester, requester.requester_id, form)
        key = AccessKey.objects.create(
            requester=requester, salt=secrets.token_hex(32), label=label, created_at=clock.now()
        )
        record(actor, "key issued", requester.requester_id, key=key.key_id, label=label, form=form)
    return IssuedKey(key.key_id, secret_of(key))


def revoke_key(requester: Requester, key_id: str, actor: Account | None = None) -> None:
    """From now on nothing signed with this key is taken. Revoking twice changes nothing."""
    key = AccessKey.objects.filter(requester=requester, key_id=key_id).first()
    if key is None:
        raise DoesNotExist("There is no such key of yours. Nothing was changed.")
    if key.revoked_at is None:
        key.revoked_at = clock.now()
        key.save(update_fields=["revoked_at"])
        record(actor, "key revoked", requester.requester_id, key=key_id)


def secret_of(key: AccessKey) -> str:
    purpose = hmac.new(settings.SECRET_KEY.encode(), b"marketplace access keys", hashlib.sha256).digest()
    derived = hmac.new(purpose, f"{key.key_id}:{key.salt}".encode(), hashlib.sha512).digest()
    return base64.b64encode(derived, altchars=b"Aa").decode()[:SECRET_LENGTH]


def frame_signatures(requester: Requester, assignment_id: str, hit_id: str, worker_id: str) -> list[str]:
    """By these the requester's page knows that this market sent this worker: one for each of their keys in force.

    So a key can be changed for another without a moment in which nobody gets in.
    """
    text = "\n".join(["frame", assignment_id, hit_id, worker_id]).encode()
    valid = requester.access_keys.filter(revoked_at=None).order_by(Coalesce("last_used_at", "created_at").desc(), "pk")
    return [hmac.new(secret_of(key).encode(), text, hashlib.sha256).hexdigest() for key in valid[:MOST_SIGNATURES]]
