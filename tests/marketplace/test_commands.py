"""The marketplace from the command line."""

import os
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.marketplace import demo
from annotation.marketplace.models import AccessKey, Account, AuditEntry, Requester
from annotation.marketplace.people import access_keys
from tests.marketplace import wire

ROOT = Path(__file__).resolve().parents[2]


def test_a_requester_with_money_and_a_key(db, capsys):
    call_command("market_requester", "Lab", "--top-up", "12.50")
    variables = dict(line.split("=", 1) for line in capsys.readouterr().out.split())
    key = AccessKey.objects.get()
    assert variables == {"AWS_ACCESS_KEY_ID": key.key_id, "AWS_SECRET_ACCESS_KEY": access_keys.secret_of(key)}
    assert Requester.objects.get(name="Lab").available_cents == 1250
    call_command("market_requester", "Lab")
    assert Requester.objects.count() == 1
    assert set(AuditEntry.objects.values_list("action", flat=True)) == {"requester joined", "top-up", "key issued"}


def test_a_bad_amount_is_a_sentence_and_makes_nothing(db):
    with pytest.raises(CommandError, match="not an amount"):
        call_command("market_requester", "Lab", "--top-up", "lots")
    assert not Requester.objects.exists()


def test_an_operator(db, monkeypatch):
    monkeypatch.setenv("OPERATOR_PASSWORD", "correct horse battery")
    call_command("market_operator", "olga")
    assert Account.objects.get(username="olga").is_operator
    with pytest.raises(CommandError):
        call_command("market_operator", "olga")


def test_the_demo_comes_once_and_in_demo_mode_only(db, settings):
    first, second = demo.load_demo(), demo.load_demo()
    assert first == second
    assert Account.objects.count() == 3
    settings.DEMO = False
    with pytest.raises(CommandError, match="demo mode only"):
        call_command("market_demo")
    call_command("market_demo", "--if-demo")


def test_the_site_starts_it_with_its_own_settings(tmp_path):
    """From the site's manage.py, an action runs on the marketplace's database."""
    database = tmp_path / "market.sqlite3"
    environment = {
        **os.environ,
        "MARKETPLACE_DATABASE_URL": f"sqlite:///{database}",
        "DJANGO_SETTINGS_MODULE": "deploy.settings",
        "DATABASE_URL": f"sqlite:///{tmp_path}/site.sqlite3",
        "SECRET_KEY": "x",
    }
    market = {**environment, "DJANGO_SETTINGS_MODULE": "deploy.marketplace_settings"}
    migrate = [sys.executable, "-m", "django", "migrate", "--verbosity", "0"]
    subprocess.run(migrate, cwd=ROOT, env=market, check=True)
    command = [sys.executable, "manage.py", "marketplace", "requester", "Lab", "--top-up", "5"]
    process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert "AWS_SECRET_ACCESS_KEY=" in process.stdout
    assert database.exists()
    assert not (tmp_path / "site.sqlite3").exists()


def test_the_front_door(tmp_path):
    """`manage.py marketplace` on a fresh machine: it serves, and the key it shows opens the API."""
    with socket.socket() as free_port:
        free_port.bind(("127.0.0.1", 0))
        port = free_port.getsockname()[1]
    environment = {
        **os.environ,
        "MARKETPLACE_DATABASE_URL": f"sqlite:///{tmp_path}/market.sqlite3",
        "MARKETPLACE_STATIC_ROOT": str(tmp_path / "static"),
        "DJANGO_SETTINGS_MODULE": "deploy.marketplace_settings",
        "MARKETPLACE_WEB_PROCESSES": "1",
    }
    command = [sys.executable, "manage.py", "marketplace", "--bind", f"127.0.0.1:{port}"]
    server = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        lines = []
        for line in server.stdout:
            lines.append(line)
            if "Booting worker" in line:
                break
        variables = dict(line.strip().split("=", 1) for line in lines if line.startswith("AWS_"))
        key = access_keys.IssuedKey(variables["AWS_ACCESS_KEY_ID"], variables["AWS_SECRET_ACCESS_KEY"])
        answer = wire.call(f"http://127.0.0.1:{port}", key, "GetAccountBalance")
        assert answer.body == {"AvailableBalance": "1000.00", "OnHoldBalance": "0.00"}
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60) as page:
            assert page.status == 200
    finally:
        server.terminate()
        server.wait(30)
        server.stdout.close()
