"""UniqueRequestToken: the same call sent again within 24 hours is told so, and does nothing."""

from django.db import IntegrityError, transaction

from annotation.common import clock
from annotation.marketplace.errors import AlreadyDone
from annotation.marketplace.models import HIT, Requester, RequestToken

from .lifecycle import TOKEN_LIFE


def check_token(requester: Requester, kind: str, token: str | None) -> None:
    """Raises AlreadyDone, with the HIT's id in the message, when the token was used in the last 24 hours."""
    if token is None:
        return
    used_token = RequestToken.objects.filter(requester=requester, kind=kind, token=token).select_related("hit").first()
    if used_token is None:
        return
    if used_token.used_at > clock.now() - TOKEN_LIFE:
        raise AlreadyDone(_sentence(kind, used_token.hit.hit_id))
    used_token.delete()


def use_token(requester: Requester, kind: str, token: str | None, hit: HIT) -> None:
    """Note the token in the same transaction as what it stands for; two at once can't both pass. Raises AlreadyDone."""
    if token is None:
        return
    facts = {"requester": requester, "kind": kind, "token": token}
    try:
        with transaction.atomic():
            RequestToken.objects.create(**facts, hit=hit, used_at=clock.now())
    except IntegrityError:
        check_token(requester, kind, token)  # raises, unless the first use was more than a day ago
        RequestToken.objects.create(**facts, hit=hit, used_at=clock.now())


def _sentence(kind: str, hit_id: str) -> str:
    did = {"hit": "created", "extend": "extended", "bonus": "paid a bonus for"}[kind]
    return f"The HIT {hit_id} already exists: a call with this UniqueRequestToken has {did} it. Nothing was done twice."
