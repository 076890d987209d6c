"""The deployment files are sound. That what they say works is shown by `make containers` (containers.py)."""

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import yaml

from .containers import CONTAINERFILE, DEPLOY, ROOT, example_settings, instructions, services

KEYS = {
    *("image", "build", "command", "env_file", "environment", "restart", "read_only", "tmpfs", "cap_drop"),
    *("security_opt", "stop_grace_period", "secrets", "volumes", "healthcheck", "deploy", "depends_on", "ports"),
}


def test_the_containerfile_passes_hadolint():
    program = Path(sys.executable).parent / "hadolint"
    process = subprocess.run([program, CONTAINERFILE], capture_output=True, text=True, check=False)
    assert process.stdout == ""
    assert process.returncode == 0


def test_the_containerfile_copies_everything_the_program_is():
    copied = " ".join(arguments for word, arguments in instructions(CONTAINERFILE.read_text()) if word == "COPY")
    for name in ("analysis", "scoring", "annotation", "deploy", "fixtures", "manage.py", "requirements.txt"):
        assert name in copied.split()


def test_the_compose_file_is_sound():
    compose_file = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    by_name = services()
    assert {"database", "migrate", "web", "worker", "marketplace", "proxy"} <= set(by_name)
    for name, service in by_name.items():
        assert set(service) <= KEYS, name
        assert set(service.get("depends_on", {})) <= set(by_name)
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert source in compose_file["volumes"] or (DEPLOY / source).is_file(), volume
    assert set(by_name["proxy"]["environment"]) <= set(re.findall(r"\{\$(\w+)", (DEPLOY / "Caddyfile").read_text()))


def test_containers_can_write_exports_and_backups():
    by_name = services()
    folders = re.search(r"mkdir -p (.*?) &&", dict(instructions(CONTAINERFILE.read_text()))["RUN"])[1].split()
    for name, places in {
        "web": {"EXPORT_ROOT", "BACKUP_DIR"},
        "worker": {"EXPORT_ROOT"},
        "marketplace": {"BACKUP_DIR"},
    }.items():
        mounted = {volume.split(":")[1] for volume in by_name[name]["volumes"]}
        assert by_name[name]["read_only"]
        assert {by_name[name]["environment"][place] for place in places} == mounted
        assert {path.removeprefix("/srv/pyramidion/") for path in mounted} <= set(folders)  # and chown -R var follows


def run_backup_unit(folder: Path, **environment: str) -> list[int]:
    """The exit codes of the unit's commands in their order; systemd stops at the first that fails."""
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "bin" / "python").symlink_to(sys.executable)
    (folder / "manage.py").symlink_to(ROOT / "manage.py")
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{site_packages()}", "ENV_FILE": os.devnull}
    codes = []
    for line in re.findall(r"^ExecStart=(.*)$", (DEPLOY / "systemd" / "pyramidion-backup.service").read_text(), re.M):
        words = shlex.split(line.replace("$$", "$").replace("%%", "%"))
        codes.append(subprocess.run(words, cwd=folder, env={**env, **environment}, check=False).returncode)
        if codes[-1]:
            break
    return codes


def site_packages() -> str:
    return sysconfig.get_paths()["purelib"]


@pytest.mark.parametrize("market", ["none", "empty", "there", "broken"])
def test_the_nightly_backup_runs_with_and_without_a_marketplace(market, tmp_path):
    backups = tmp_path / "backups"
    backups.mkdir()
    old = backups / "site-old.tar"
    old.write_text("old")
    os.utime(old, (0, 0))
    site = {
        "SECRET_KEY": "k" * 50,
        "ALLOWED_HOSTS": "lab.edu",
        "DATABASE_URL": f"sqlite:///{tmp_path}/site.sqlite3",
        "BACKUP_DIR": str(backups),
    }
    # As in a copy of env.example: the address has a default, the key has none.
    key = {"MARKETPLACE_SECRET_KEY": "" if market == "empty" else "m" * 50, "MARKETPLACE_ALLOWED_HOSTS": "market.edu"}
    url = "sqlite:////proc/none.sqlite3" if market == "broken" else f"sqlite:///{tmp_path}/market.sqlite3"
    marketplace = {} if market == "none" else {**key, "MARKETPLACE_DATABASE_URL": url}
    codes = run_backup_unit(tmp_path / "srv", **site, **marketplace)
    kinds = {file.name.split("-")[0] for file in backups.iterdir() if file != old}
    assert codes == ([0, 2] if market == "broken" else [0, 0, 0])
    assert old.exists() == (market == "broken")
    assert kinds == ({"site", "marketplace"} if market == "there" else {"site"})


def test_an_upgrade_collects_static_files_of_both_products():
    steps = (ROOT / "docs" / "operating.md").read_text().split("## Upgrade")[1].split("\n## ")[0]
    for unit in ("pyramidion-web", "pyramidion-marketplace"):
        before = steps.split(f"systemctl reload {unit}")[0].rpartition("```sh")[2]
        assert {"backup", "migrate", "collectstatic"} <= set(before.split()), unit


def test_gunicorn_writes_no_access_log_of_its_own(monkeypatch):
    monkeypatch.setenv("ACCESS_LOG", "-")
    for name in ("gunicorn.py", "marketplace_gunicorn.py"):
        assert runpy.run_path(str(DEPLOY / name)).get("accesslog") is None


def test_the_units_name_files_and_commands_that_exist():
    for unit in sorted((DEPLOY / "systemd").glob("*.service")):
        text = unit.read_text()
        for path in re.findall(r"(?:--config |manage\.py |\b)(deploy/\w+\.py|manage\.py)", text):
            assert (ROOT / path).is_file(), f"{unit.name}: {path}"
        for command in re.findall(r"manage\.py (\w+)", text):
            assert command in {"migrate", "collectstatic", "worker", "backup"}
    if program := shutil.which("systemd-analyze"):
        timer = DEPLOY / "systemd" / "pyramidion-backup.timer"
        calendar = re.search(r"OnCalendar=(.*)", timer.read_text())[1]
        process = subprocess.run([program, "calendar", calendar], capture_output=True, text=True, check=False)
        assert process.returncode == 0, process.stderr


def test_the_example_settings_cut_no_service_off_from_the_proxy():
    settings = {**example_settings(), **services()["web"]["environment"]}
    assert settings["BIND"] == "0.0.0.0:8000"
    assert settings["MARKETPLACE_BIND"] == "0.0.0.0:8001"
    assert example_settings()["BIND"] == ""  # and nothing that was copied says otherwise
