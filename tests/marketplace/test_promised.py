"""Nothing that others rely on has changed: the marketplace's names as they were written down."""

import pytest

from tests.promised.lists import LISTS, promised


@pytest.mark.parametrize("name", LISTS["marketplace"])
def test_the_names_that_others_rely_on_stand(name):
    assert LISTS["marketplace"][name]() == promised("marketplace")[name]


def test_what_was_signed_before_is_still_good():
    from annotation.marketplace import people
    from annotation.marketplace.pages import frame

    assert frame.SALT == "annotation.marketplace.frame"
    assert people.AccountBackend.__module__ == "annotation.marketplace.people"
