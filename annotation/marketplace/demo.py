"""The demo: an account for each role, a requester with play money and a key. In demo mode only."""

from dataclasses import dataclass

from django.conf import settings
from django.db import transaction

from annotation.common.demo_accounts import PASSWORD

from . import people
from .books import books
from .errors import Refused
from .models import Account, MarketSettings, Requester
from .people import access_keys

PLAY_MONEY = 1_000_00


@dataclass(frozen=True)
class Demo:
    """What the demo's user needs to know."""

    accounts: list[str]
    key: access_keys.IssuedKey


def load_demo() -> Demo:
    """Make the demo's people; a second time changes nothing and shows the same key."""
    if not settings.DEMO:
        raise Refused("Demo accounts have public passwords and exist in demo mode only (DEMO=yes). Nothing was made.")
    with transaction.atomic():
        MarketSettings.objects.get_or_create(pk=1, defaults={"open_sign_up": True})
        operator = _account("operator", is_operator=True)
        worker = _account("worker")
        if not hasattr(worker, "worker"):
            people.make_worker(worker, country="US", is_adult=True)
        requester = _requester(operator)
        issued = requester.access_keys.filter(label="demo", revoked_at=None).first()
        key = (
            access_keys.IssuedKey(issued.key_id, access_keys.secret_of(issued))
            if issued
            else access_keys.issue_key(requester, "demo")
        )
    return Demo(["operator", "requester", "worker"], key)


def _requester(operator: Account) -> Requester:
    account = _account("requester")
    if hasattr(account, "requester"):
        return account.requester
    requester = people.make_requester("Demo requester", account)
    books.top_up(requester, PLAY_MONEY, "play money", operator)
    return requester


def _account(name: str, **flags: bool) -> Account:
    account, is_new = Account.objects.get_or_create(username=name, defaults={"is_demo": True, **flags})
    if is_new:
        account.set_password(PASSWORD)
        account.save()
    return account
