"""Nothing that others rely on has changed: names as they were written down, files of an earlier version."""

import pytest

from .lists import LISTS, promised


@pytest.mark.parametrize("name", LISTS["site"])
def test_the_names_that_others_rely_on_stand(name):
    assert LISTS["site"][name]() == promised("site")[name]
