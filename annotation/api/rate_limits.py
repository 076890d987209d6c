"""How many requests a token may make in a minute. Counted in the database, so that every process sees the same."""

from dataclasses import dataclass

from django.conf import settings
from django.db.models import Case, F, Value, When
from django.http import HttpRequest
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext

from annotation.common import clock
from annotation.common.throttle import address_of
from annotation.models.tokens import ApiToken, RateCount

from .problems import Problem


@dataclass(frozen=True)
class Rate:
    """Where a token stands in this minute."""

    limit: int
    count: int
    seconds_left: int

    @property
    def headers(self) -> dict[str, str]:
        return {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(max(self.limit - self.count, 0)),
            "RateLimit-Reset": str(self.seconds_left),
        }


def count_token(token: ApiToken) -> Rate:
    """One more request of this token; 429 beyond the limit."""
    return _checked(_count(f"token:{token.pk}", settings.API_PER_MINUTE))


def count_stranger(request: HttpRequest) -> Rate:
    """One more request without a valid token. The address is kept as a digest, for a minute's worth of counting."""
    address = address_of(request)
    return _checked(_count(f"address:{salted_hmac('api', address).hexdigest()}", settings.API_PER_MINUTE))


def _checked(rate: Rate) -> Rate:
    if rate.count > rate.limit:
        sentence = gettext("More than %(n)d requests in a minute. Wait %(s)d seconds.")
        headers = {"Retry-After": str(rate.seconds_left), **rate.headers}
        raise Problem(429, sentence % {"n": rate.limit, "s": rate.seconds_left}, "too-fast", headers)
    return rate


def _count(key: str, limit: int) -> Rate:
    """Two queries: one that counts, whoever else counts at the same time, and one that reads."""
    seconds = int(clock.now().timestamp())
    minute = seconds // 60
    n_updated = RateCount.objects.filter(key=key).update(
        count=Case(When(minute=minute, then=F("count") + 1), default=Value(1)), minute=minute
    )
    if not n_updated:
        RateCount.objects.bulk_create([RateCount(key=key, minute=minute)], ignore_conflicts=True)
    count = RateCount.objects.values_list("count", flat=True).get(key=key)
    return Rate(limit, count, 60 - seconds % 60)
