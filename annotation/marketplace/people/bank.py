"""Where workers want to be paid: entered by themselves, kept encrypted, read for a payout list alone."""

import json
import re
from dataclasses import asdict, dataclass

from annotation.common import clock
from annotation.common.private import seal, unseal
from annotation.marketplace.errors import BadParameter
from annotation.marketplace.models import BankDetails, Worker

from . import record

PURPOSE = "annotation.marketplace.bank_details"
IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
ACCOUNT = re.compile(r"[0-9]{4,20}")
BANK = re.compile(r"[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?|[0-9]{6,12}")
LONGEST_NAME = 70  # what banks take


@dataclass(frozen=True)
class Bank:
    holder: str
    account: str
    """An IBAN, or an account's number."""
    bank: str
    """BIC, routing number or sort code; needed where the account is no IBAN."""


def read_bank(holder: str, account: str, bank: str) -> Bank:
    """The same without blanks. BadParameter says what is wrong; nothing is kept then."""
    holder = " ".join(holder.split())
    account, bank = ("".join(text.split()).upper() for text in (account, bank))
    if not 2 <= len(holder) <= LONGEST_NAME or not holder.isprintable():
        raise BadParameter(f"Write the account holder's name, with at most {LONGEST_NAME} letters. Nothing was saved.")
    if account[:1].isalpha():
        if not IBAN.fullmatch(account) or not is_iban(account):
            raise BadParameter("This is no IBAN: a figure or letter in it is wrong. Nothing was saved.")
    elif not ACCOUNT.fullmatch(account):
        raise BadParameter("The account is an IBAN, or a number of 4 to 20 figures. Nothing was saved.")
    elif not bank:
        raise BadParameter("With an account number, the bank's number or BIC is needed. Nothing was saved.")
    if bank and not BANK.fullmatch(bank):
        raise BadParameter("The bank is a BIC of 8 or 11 letters and figures, or a number. Nothing was saved.")
    return Bank(holder, account, bank)


def is_iban(text: str) -> bool:
    """ISO 13616: with its first four signs behind, and letters as numbers from 10, the rest by 97 is 1."""
    return int("".join(str(int(sign, 36)) for sign in text[4:] + text[:4])) % 97 == 1


def keep_bank(worker: Worker, bank: Bank) -> None:
    """In place of what was there. The log says that it changed, and not to what."""
    facts = {
        "sealed": seal(json.dumps(asdict(bank)), PURPOSE),
        "ending": bank.account[-4:],
        "set_at": clock.now(),
    }
    BankDetails.objects.update_or_create(worker=worker, defaults=facts)
    record(worker.account, "bank details", worker.worker_id)


def remove_bank(worker: Worker) -> None:
    if BankDetails.objects.filter(worker=worker).delete()[0]:
        record(worker.account, "bank details removed", worker.worker_id)


def bank_of(worker: Worker) -> Bank | None:
    """None where there is nothing, or nothing that this market's secret key opens."""
    row = BankDetails.objects.filter(worker=worker).first()
    text = unseal(row.sealed, PURPOSE) if row else None
    return Bank(**json.loads(text)) if text else None
