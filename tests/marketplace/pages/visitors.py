"""People who sign in, for the tests of the pages."""

from django.test import Client

from annotation.marketplace import people
from annotation.marketplace.books import books
from annotation.marketplace.models import Account, Requester, Worker

PASSWORD = "a-long-word-for-tests"


def sign_in(account: Account) -> Client:
    client = Client()
    client.force_login(account)
    return client


def text(answer) -> str:
    return answer.content.decode()


def a_worker(name: str = "wanda", **facts) -> Worker:
    return people.make_worker(people.make_account(name, PASSWORD, email=f"{name}@example.org"), **facts)


def a_requester(name: str = "rita", cents: int = 100_00) -> Requester:
    requester = people.make_requester("Summaries Lab", people.make_account(name, PASSWORD))
    if cents:
        books.top_up(requester, cents, "play money")
    return requester


def an_operator(name: str = "olga") -> Account:
    return people.make_account(name, PASSWORD, is_operator=True)
