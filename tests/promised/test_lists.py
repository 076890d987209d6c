"""Nothing that others rely on has changed: names as they were written down, files of an earlier version."""

import inspect

import pytest

from .lists import LISTS, promised

METRICS = pytest.param("metrics", marks=pytest.mark.needs("torch"))  # versions stand in their signatures


@pytest.mark.parametrize("name", [METRICS, *(name for name in LISTS["site"] if name != "metrics")])
def test_the_names_that_others_rely_on_stand(name):
    assert LISTS["site"][name]() == promised("site")[name]


def test_what_was_signed_before_is_still_good():
    """Workers' addresses and the keys of failed sign-ins are made with these words; queues and sessions name paths."""
    from annotation import accounts, jobs
    from annotation.accounts import throttle
    from annotation.crowds.seats import tokens

    assert tokens.SALT == "annotation.crowds.tokens"
    assert 'f"annotation.safety.{kind}"' in inspect.getsource(throttle)
    assert jobs.run_job.module_path == "annotation.jobs.run_job"
    assert f"{accounts.__name__}.{accounts.AccountBackend.__name__}" == "annotation.accounts.AccountBackend"
