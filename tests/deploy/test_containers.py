"""The deployment files are sound, and what they say works: every service, from two folders against one database."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests import postgres

from .containers import DEPLOY, ROOT, compose, instructions, services

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


JOB = """
import django; django.setup()
from annotation.models import Job, Study
from annotation import jobs
import sys, time
study = Study.objects.create(name="Two hosts")
job = jobs.start_job(study, sorted(jobs.known_kinds())[0], {}, None)
end = time.monotonic() + 60
while not Job.objects.get(pk=job.pk).is_over and time.monotonic() < end: time.sleep(0.2)
print(Job.objects.get(pk=job.pk).state)
"""


@pytest.mark.skipif(shutil.which("caddy") is None, reason="needs caddy: apt-get install caddy")
def test_every_service_runs_as_the_files_say(tmp_path):
    if postgres.find() is None and not os.environ.get("CI"):
        pytest.skip("needs PostgreSQL on 127.0.0.1:5432")
    with compose(tmp_path) as site:
        status, headers, body = site.get("pyramidion.lab.edu", "/sign-in/", **{"Accept-Encoding": "gzip"})
        assert status == 200
        assert headers["content-encoding"] == "gzip"
        assert "max-age=31536000" in headers["strict-transport-security"]
        assert len(body) > 500
        assert site.get("market.lab.edu", "/readyz")[0] == 200
        # A job asked for in one folder is done by a worker, whichever folder it runs in.
        environment = {**site.environment, "DJANGO_SETTINGS_MODULE": "deploy.settings"}
        done = subprocess.run(
            ["python", "-c", JOB], cwd=tmp_path / "host-2", env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.split()[-1] in {"done", "failed"}
        codes = site.stop()
    assert codes == dict.fromkeys(codes, 0), {name: (tmp_path / f"{name}.log").read_text()[-500:] for name in codes}
    lines = [line for line in (tmp_path / "web-1.log").read_text().splitlines() if line.startswith("{")]
    assert any(json.loads(line).get("route") == "ready" for line in lines)
