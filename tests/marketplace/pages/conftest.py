"""A worker and a requester for the tests of the pages. The site's pass reads this file too, and has no such models."""

import pytest


@pytest.fixture
def wanda():
    from .visitors import a_worker

    return a_worker("wanda", country="US")


@pytest.fixture
def lab():
    from .visitors import a_requester

    return a_requester()
