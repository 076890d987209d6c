"""Settings come from the environment; what is missing or wrong stops the start with a sentence that names it."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from deploy.environment import Environment, database, demo_secret

ROOT = Path(__file__).resolve().parents[2]
PRODUCTION = {
    "SECRET_KEY": "x7" * 40 + "!pqrstuvw",
    "ALLOWED_HOSTS": "pyramidion.example.org",
    "DATABASE_URL": "sqlite:////tmp/none.sqlite3",
    "ENV_FILE": os.devnull,
    "PATH": os.environ["PATH"],
}


def manage(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", ["SECRET_KEY", "ALLOWED_HOSTS", "DATABASE_URL"])
def test_outside_the_demo_a_missing_setting_stops_the_start_and_is_named(name):
    result = manage("check", **{**PRODUCTION, name: ""})
    assert result.returncode != 0
    assert result.stderr.startswith(f"{name} is not set")
    assert "Traceback" not in result.stderr


def test_the_demo_on_other_ports_knows_its_own_addresses():
    names = ("SITE_URL", "MTURK_ENDPOINT_URL", "MTURK_ALLOWED_ENDPOINTS", "MARKET_ORIGINS")
    script = f"from deploy import settings; print([getattr(settings, name) for name in {names}])"
    environment = {"DEMO": "yes", "ENV_FILE": os.devnull, "SECRET_KEY": "x", "PATH": os.environ["PATH"]}
    environment |= {"BIND": "0.0.0.0:9000", "MARKETPLACE_BIND": "127.0.0.1:9001"}
    words = [sys.executable, "-c", script]
    output = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout
    market = "http://127.0.0.1:9001"
    assert ast.literal_eval(output) == ["http://127.0.0.1:9000", market, [market], [market, "http://localhost:9001"]]


def test_production_settings_pass_djangos_deployment_check():
    result = manage("check", "--deploy", "--fail-level", "WARNING", **PRODUCTION)
    assert result.returncode == 0, result.stderr
    assert "no issues" in result.stdout


def test_demo_accounts_are_refused_in_production(tmp_path):
    result = manage("load_demo", **{**PRODUCTION, "DATABASE_URL": f"sqlite:///{tmp_path}/db.sqlite3"})
    assert result.returncode == 2
    assert "demo mode only" in result.stderr


def test_a_demo_account_is_nobody_in_production(db, settings, client):
    from annotation.models import User

    user = User.objects.create_user("annotator", password="demo", is_demo=True)
    assert client.login(username="annotator", password="demo")
    settings.DEMO = False
    assert client.get("/").context["user"].is_anonymous  # the running session ends too
    assert not client.login(username="annotator", password="demo")
    user.is_demo = False
    user.save()
    assert client.login(username="annotator", password="demo")


def test_a_postgres_address_is_read_with_its_password_and_options():
    read = database("postgres://me:p%40ss@db.example:6432/study?sslmode=require")
    assert read["ENGINE"] == "django.db.backends.postgresql"
    assert (read["USER"], read["PASSWORD"], read["HOST"], read["PORT"], read["NAME"]) == (
        "me", "p@ss", "db.example", "6432", "study",
    )  # fmt: skip
    assert read["OPTIONS"] == {"sslmode": "require"}


def test_sqlite_paths_are_relative_or_absolute():
    assert database("sqlite:///var/x.sqlite3")["NAME"] == "var/x.sqlite3"
    assert database("sqlite:////srv/x.sqlite3")["NAME"] == "/srv/x.sqlite3"


@pytest.mark.parametrize("url", ["mysql://x/y", "nonsense", "postgres://host/", "sqlite:///"])
def test_another_address_is_refused_with_a_sentence(url):
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL"):
        database(url)


@pytest.mark.django_db
def test_sqlite_runs_with_wal_foreign_keys_and_a_busy_timeout():
    from django.db import connection

    if connection.vendor != "sqlite":
        pytest.skip("about SQLite only")
    with connection.cursor() as cursor:
        answers = [
            cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "foreign_keys", "busy_timeout")
        ]
    assert answers == ["wal", 1, 20_000]


def test_flags_and_numbers_say_what_they_take():
    environment = Environment({"DEMO": "perhaps", "LEASE_MINUTES": "-3"})
    with pytest.raises(ImproperlyConfigured, match="DEMO is 'perhaps'"):
        environment.flag("DEMO")
    with pytest.raises(ImproperlyConfigured, match="LEASE_MINUTES is '-3'"):
        environment.number("LEASE_MINUTES", 30)


def test_the_environment_wins_over_the_file(tmp_path, monkeypatch):
    file = tmp_path / "env"
    file.write_text("# a comment\nONE_OF_OURS=file\nOTHER_OF_OURS = spaced \n")
    monkeypatch.setenv("ONE_OF_OURS", "environment")
    env = Environment.load(file)
    assert (env.text("ONE_OF_OURS"), env.text("OTHER_OF_OURS")) == ("environment", "spaced")


def test_quotes_around_a_value_are_taken_off_as_systemd_does(tmp_path):
    file = tmp_path / "env"
    file.write_text(
        'DOUBLE_OF_OURS="postgres://a@b/c"\nSINGLE_OF_OURS=\'x y\'\nODD_OF_OURS="half\nINNER_OF_OURS=a"b"\n'
    )
    env = Environment.load(file)
    read = [env.text(f"{name}_OF_OURS") for name in ("DOUBLE", "SINGLE", "ODD", "INNER")]
    assert read == ["postgres://a@b/c", "x y", '"half', 'a"b"']


def test_the_demo_key_is_made_once(tmp_path):
    assert demo_secret(tmp_path / "var" / "secret") == demo_secret(tmp_path / "var" / "secret")
    assert [path.name for path in (tmp_path / "var").iterdir()] == ["secret"]
