"""The deployment files are sound. That what they say works is shown by `make containers` (containers.py)."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from .containers import DEPLOY, ROOT, instructions, services

KEYS = {
    *("image", "build", "command", "env_file", "environment", "restart", "read_only", "tmpfs", "cap_drop"),
    *("security_opt", "stop_grace_period", "secrets", "volumes", "healthcheck", "deploy", "depends_on", "ports"),
}


def test_the_containerfile_passes_hadolint():
    program = Path(sys.executable).parent / "hadolint"
    done = subprocess.run([program, DEPLOY / "Containerfile"], capture_output=True, text=True, check=False)
    assert done.stdout == ""
    assert done.returncode == 0


def test_the_containerfile_copies_everything_the_program_is():
    copied = " ".join(rest for word, rest in instructions((DEPLOY / "Containerfile").read_text()) if word == "COPY")
    for name in ("analysis", "scoring", "annotation", "deploy", "fixtures", "manage.py", "requirements.txt"):
        assert name in copied.split()


def test_the_compose_file_is_sound():
    whole = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    known = services()
    assert {"database", "migrate", "web", "worker", "marketplace", "proxy"} <= set(known)
    for name, service in known.items():
        assert set(service) <= KEYS, name
        assert set(service.get("depends_on", {})) <= set(known)
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert source in whole["volumes"] or (DEPLOY / source).is_file(), volume
    assert set(known["proxy"]["environment"]) <= set(re.findall(r"\{\$(\w+)", (DEPLOY / "Caddyfile").read_text()))


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
        done = subprocess.run([program, "calendar", calendar], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
