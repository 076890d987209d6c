"""The marketplace's docs name every operation and every setting."""

import re
from pathlib import Path

from annotation.marketplace import errors
from annotation.marketplace.api import contract

ROOT = Path(__file__).resolve().parents[2]


def test_every_operation_has_its_section():
    page = (ROOT / "docs" / "marketplace" / "operations.md").read_text()
    assert set(re.findall(r"^### (\w+)$", page, re.M)) == set(contract.operation_names())


def test_every_error_a_requester_can_get_is_listed():
    page = (ROOT / "docs" / "marketplace" / "operations.md").read_text()
    workers_only = {"InvalidRequest", "DoesNotExist"}
    source = (ROOT / "annotation" / "marketplace" / "errors.py").read_text().split("# What a worker can run into")[0]
    codes = set(re.findall(r'code = "(\w+)"', source)) - workers_only
    assert len(codes) > 10
    assert {code for code in codes if code not in page} == set()
    assert errors.Refused().turk_error_code.startswith("AWS.MechanicalTurk.")


def test_every_setting_is_documented():
    names = ("marketplace_settings.py", "marketplace_gunicorn.py")
    code = "".join((ROOT / "deploy" / name).read_text() for name in names)
    read = set(re.findall(r'(?:env\.\w+|environ\.get)\(\s*"([A-Z_]+)"', code))
    assert {"MARKETPLACE_SECRET_KEY", "MARKETPLACE_BIND"} <= read
    example = (ROOT / "deploy" / "env.example").read_text()
    assert {name for name in read - {"ENV_FILE"} if not re.search(rf"^{name}=", example, re.M)} == set()
