"""The demo's marketplace leaves its requester's key for the site beside it, readable by nobody else."""

import stat

import pytest
from django.core.management import call_command

from annotation.marketplace.demo import load_demo


@pytest.mark.django_db
def test_the_key_is_left_once_and_stays_the_same(tmp_path, capsys) -> None:
    file = tmp_path / "var" / "marketplace-key"
    for _ in range(2):
        call_command("market_demo", "--if-demo", "--key-file", str(file))
        key = load_demo().key
        assert file.read_text().split() == [key.key_id, key.secret]
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
