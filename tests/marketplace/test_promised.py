"""Nothing that others rely on has changed: the marketplace's names as they were written down."""

import pytest

from tests.promised.lists import LISTS, promised


@pytest.mark.parametrize("name", LISTS["marketplace"])
def test_the_names_that_others_rely_on_stand(name):
    assert LISTS["marketplace"][name]() == promised("marketplace")[name]
