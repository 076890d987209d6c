"""Workers are paid in one go: a list, a file with what a bank needs, a mark for all of it or none, once."""

import csv
import io

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from annotation.marketplace import people
from annotation.marketplace.books.books import record_payout
from annotation.marketplace.books.payouts import make_list, mark_paid, withdraw_list
from annotation.marketplace.errors import BadParameter, InsufficientFunds
from annotation.marketplace.models import AuditEntry, BankDetails, Payout, PayoutLine, PayoutList, Worker
from annotation.marketplace.people.bank import bank_of, is_iban, keep_bank, read_bank
from tests.marketplace.pages.test_operator import earned
from tests.marketplace.pages.visitors import PASSWORD, a_requester, a_worker, an_operator, sign_in, text

pytestmark = pytest.mark.django_db
IBAN = "DE89 3704 0044 0532 0130 00"  # the example of ISO 13616's registry
BARE = IBAN.replace(" ", "")


@pytest.fixture
def lab():
    return a_requester()


@pytest.fixture
def operator():
    return an_operator()


@pytest.fixture
def client(operator) -> Client:
    return sign_in(operator)


def payable(name: str, lab, cents: int = 500) -> Worker:
    worker = a_worker(name)
    earned(worker, lab, cents)
    keep_bank(worker, read_bank(f"{name.title()} Writer", IBAN, "COBADEFF"))
    worker.refresh_from_db()
    return worker


def bank_file(client: Client, payout_list: PayoutList) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text(client.get(f"/operator/payouts/{payout_list.pk}/bank.csv")))))


def test_a_list_has_what_a_bank_needs_and_is_marked_in_one_go(client, lab, operator):
    wanda, wilma = payable("wanda", lab, 500), payable("wilma", lab, 250)
    poor = a_worker("nobank")
    earned(poor, lab, 100)
    simulated = people.make_worker(people.make_account("sim7-careful-1", PASSWORD), country="US")
    earned(simulated, lab, 100)
    page = text(client.get("/operator/payouts/"))
    assert "2 workers with an account can be paid $7.50" in " ".join(page.split())
    answer = client.post("/operator/payouts/", {"least": "0.01"})
    payout_list = PayoutList.objects.get()
    assert answer["Location"] == f"/operator/payouts/{payout_list.pk}/"
    rows = bank_file(client, payout_list)
    assert {row["worker_id"] for row in rows} == {wanda.worker_id, wilma.worker_id}
    [row] = [row for row in rows if row["worker_id"] == wanda.worker_id]
    assert (row["holder"], row["account"], row["bank"]) == ("Wanda Writer", BARE, "COBADEFF")
    assert (row["amount"], row["currency"]) == ("5.00", "USD")
    assert row["reference"] == f"Payout {payout_list.pk} {wanda.worker_id}"
    earned(wanda, lab, 300)  # comes on the next list
    client.post(f"/operator/payouts/{payout_list.pk}/", {"action": "paid", "reference": "SEPA 17"})
    wanda.refresh_from_db()
    wilma.refresh_from_db()
    assert (wanda.owed_cents, wilma.owed_cents) == (300, 0)
    assert sorted(Payout.objects.values_list("cents", flat=True)) == [250, 500]
    assert f"SEPA 17, payout {payout_list.pk}" in text(sign_in(wanda.account).get("/earnings/"))
    actions = set(AuditEntry.objects.filter(actor=operator).values_list("action", flat=True))
    assert {"payout list", "payout list fetched", "payout list paid"} <= actions


def test_a_second_click_pays_nobody_twice(client, lab, operator):
    wanda = payable("wanda", lab)
    payout_list = make_list(operator)
    for _ in range(2):
        client.post(f"/operator/payouts/{payout_list.pk}/", {"action": "paid", "reference": "SEPA 17"})
    wanda.refresh_from_db()
    assert (wanda.paid_out_cents, Payout.objects.count()) == (500, 1)
    for end in (lambda: mark_paid(payout_list, "SEPA 18", operator), lambda: withdraw_list(payout_list, operator)):
        with pytest.raises(BadParameter, match=r"is paid already\. Nothing was changed"):
            end()
    assert PayoutList.objects.get().reference == "SEPA 17"


def test_what_was_paid_meanwhile_stops_the_whole_list(lab, operator):
    wanda, wilma = payable("wanda", lab), payable("wilma", lab)
    payout_list = make_list(operator)
    record_payout(wilma, 1, "Cash", operator)
    with pytest.raises(InsufficientFunds, match=rf"{wilma.worker_id} is owed less .* Nothing of the list was recorded"):
        mark_paid(payout_list, "SEPA 17", operator)
    wanda.refresh_from_db()
    payout_list.refresh_from_db()
    assert (wanda.paid_out_cents, payout_list.state, Payout.objects.count()) == (0, "open", 1)
    withdraw_list(payout_list, operator)
    assert sorted(make_list(operator).lines.values_list("cents", flat=True)) == [499, 500]


def test_nobody_stands_on_two_lists_that_wait(lab, operator):
    payable("wanda", lab)
    payout_list = make_list(operator)
    with pytest.raises(BadParameter, match="No list was made"):
        make_list(operator)
    line = payout_list.lines.get()
    with pytest.raises(IntegrityError), transaction.atomic():
        PayoutLine.objects.create(payout_list=payout_list, worker=line.worker, cents=1)
    assert PayoutList.objects.count() == 1


def test_small_amounts_can_wait(client, lab, operator):
    payable("wanda", lab, 499)
    wilma = payable("wilma", lab, 500)
    client.post("/operator/payouts/", {"least": "5"})
    assert [line.worker for line in PayoutLine.objects.all()] == [wilma]
    assert "is not an amount" in text(client.post("/operator/payouts/", {"least": "-1"}, follow=True))


def test_a_mark_needs_the_banks_reference(client, lab, operator):
    payable("wanda", lab)
    payout_list = make_list(operator)
    page = client.post(f"/operator/payouts/{payout_list.pk}/", {"action": "paid", "reference": " "}, follow=True)
    assert "Write the bank&#x27;s reference" in text(page)
    assert not Payout.objects.exists()


# The worker's own account


def test_a_worker_enters_changes_and_removes_the_account(lab):
    wanda = a_worker("wanda")
    browser = sign_in(wanda.account)
    form = {"action": "keep", "holder": "Wanda Writer", "account_number": IBAN, "bank": ""}
    assert browser.post("/account/bank/", form).status_code == 302
    assert bank_of(wanda).account == BARE
    page = text(browser.get("/account/bank/"))
    assert "ends in <strong>3000</strong>" in page
    assert BARE not in page
    assert browser.get("/account/data.json").json()["bank"]["account"] == BARE
    assert BARE not in str(list(BankDetails.objects.values())) + str(list(AuditEntry.objects.values()))
    browser.post("/account/bank/", {"action": "remove"})
    assert bank_of(wanda) is None
    assert "3000" not in text(browser.get("/account/bank/"))


@pytest.mark.parametrize(
    ("holder", "account", "bank", "words"),
    [
        ("", IBAN, "", "This field is required"),
        ("W", IBAN, "", "account holder"),
        ("Wanda", "DE89 3704 0044 0532 0130 01", "", "no IBAN"),
        ("Wanda", "DE89", "", "no IBAN"),
        ("Wanda", "12", "", "4 to 20 figures"),
        ("Wanda", "12345678", "", "the bank&#x27;s number or BIC is needed"),
        ("Wanda", "12345678", "short", "a BIC of 8 or 11"),
        ("Wanda", "=1+1", "", "4 to 20 figures"),
    ],
)
def test_what_no_bank_takes_is_refused_and_nothing_is_kept(holder, account, bank, words):
    wanda = a_worker("wanda")
    form = {"action": "keep", "holder": holder, "account_number": account, "bank": bank}
    answer = sign_in(wanda.account).post("/account/bank/", form)
    assert (answer.status_code, words in text(answer)) == (422, True)
    assert not BankDetails.objects.exists()


def test_an_account_number_with_its_bank_is_taken():
    assert read_bank("Wanda Writer", "1234 5678", "021000021").account == "12345678"


def test_ibans_are_checked_by_their_figures():
    # Examples of the registry of ISO 13616: Germany, Britain, France.
    assert all(map(is_iban, (BARE, "GB29NWBK60161331926819", "FR1420041010050500013M02606")))
    assert not is_iban(BARE.replace("532", "523"))


def test_another_secret_key_opens_no_account(settings, lab, operator, client):
    wanda = payable("wanda", lab)
    payout_list = make_list(operator)
    settings.SECRET_KEY = "another"
    assert bank_of(wanda) is None
    [row] = payout_list.lines.all()
    assert row.cents == 500


def test_only_the_operator_sees_lists(lab, operator):
    wanda = payable("wanda", lab)
    payout_list = make_list(operator)
    for address in ("", f"{payout_list.pk}/", f"{payout_list.pk}/bank.csv"):
        assert sign_in(wanda.account).get(f"/operator/payouts/{address}").status_code == 403
        assert Client().get(f"/operator/payouts/{address}").status_code == 302
    assert sign_in(wanda.account).post("/operator/payouts/").status_code == 403
    assert sign_in(operator).get("/operator/payouts/999/").status_code == 404
    assert sign_in(operator).get("/account/bank/").status_code == 403
