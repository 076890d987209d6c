"""Making, finding and revoking API tokens. A token is shown once; the database holds its digest only."""

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import QuerySet
from django.utils.translation import gettext

from annotation.common import clock
from annotation.common.errors import Refused
from annotation.models import Study, User
from annotation.models.tokens import ApiToken, Scope

from . import AccountBackend

PREFIX = "pyr_"
DAYS = (7, 30, 90, 365)
MOST = 20  # living tokens per person
STALE = timedelta(minutes=1)  # how exactly "last used" is kept: a write per minute, not per request


@dataclass(frozen=True)
class Issued:
    """A new token: the row, and the words that are shown this once."""

    row: ApiToken
    token: str


def digest_of(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def issue_token(user: User, name: str, scopes: Iterable[str], days: int, study: Study | None = None) -> Issued:
    """A new token of this person. Refused says what is wrong; then nothing is made."""
    valid_scopes = [scope for scope in Scope.values if scope in set(scopes)]
    if not valid_scopes:
        raise Refused(gettext("Choose at least one thing the token may do. No token was made."))
    if days not in DAYS:
        raise Refused(gettext("A token lives 7, 30, 90 or 365 days. No token was made."))
    now = clock.now()
    if living_tokens(user).count() >= MOST:
        raise Refused(gettext("You have %(n)d living tokens. Revoke one first. No token was made.") % {"n": MOST})
    token = PREFIX + secrets.token_urlsafe(32)
    row = ApiToken.objects.create(
        user=user,
        name=name.strip()[:80] or gettext("Token"),
        start=token[:10],
        digest=digest_of(token),
        scopes=valid_scopes,
        study=study,
        created_at=now,
        expires_at=now + timedelta(days=days),
    )
    return Issued(row, token)


def living_tokens(user: User) -> QuerySet[ApiToken]:
    return ApiToken.objects.filter(user=user, revoked_at=None, expires_at__gt=clock.now())


def revoke_token(user: User, token_id: int) -> None:
    """It opens nothing from now on. Revoking twice changes nothing."""
    if not ApiToken.objects.filter(user=user, pk=token_id).exists():
        raise Refused(gettext("There is no such token of yours. Nothing was changed."))
    ApiToken.objects.filter(user=user, pk=token_id, revoked_at=None).update(revoked_at=clock.now())


def find_token(token: str) -> ApiToken | None:
    """The living token with these words, of a person who may sign in; its use is noted."""
    row = ApiToken.objects.select_related("user", "study").filter(digest=digest_of(token)).first()
    now = clock.now()
    if row is None or not row.is_alive(now) or not AccountBackend().user_can_authenticate(row.user):
        return None
    if row.last_used_at is None or now - row.last_used_at > STALE:
        ApiToken.objects.filter(pk=row.pk).update(last_used_at=now)
    return row
