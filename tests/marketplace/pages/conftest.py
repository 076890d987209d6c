"""A worker and a requester for the tests of the pages."""

import pytest

from .visitors import a_requester, a_worker


@pytest.fixture
def wanda():
    return a_worker("wanda", country="US")


@pytest.fixture
def lab():
    return a_requester()
