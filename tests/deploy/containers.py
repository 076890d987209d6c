"""Runs what Containerfile and compose.yaml say, in fresh folders instead of containers: `make containers`.

Two web hosts and two workers, each from a folder of its own, against one database, behind the proxy with TLS. With
`--whole` also the steps that change the machine (apt-get, pip into a new environment), as root.
"""

import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import yaml

from tests import postgres

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
CONTAINERFILE = DEPLOY / "containers" / "Containerfile"
MACHINE = ("apt-get", "rm -rf /var/lib/apt", "pip install", "useradd", "chown")


def instructions(text: str) -> list[tuple[str, str]]:
    """The Containerfile's (word, rest) pairs, continued lines joined."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    continued = "\n".join(lines).replace("\\\n", " ")
    return [(line.split(" ", 1)[0], " ".join(line.split(" ", 1)[1].split())) for line in continued.splitlines() if line]


def build(folder: Path, *, full_build: bool) -> list[str]:
    """Do the Containerfile's COPY and RUN steps in a folder; returns the commands that ran."""
    ran: list[str] = []
    python = Path(sys.executable).parent
    if full_build:
        subprocess.run([sys.executable, "-m", "venv", folder / ".venv"], check=True)
        python = folder / ".venv" / "bin"
    clean = {name: value for name, value in os.environ.items() if name in ("HOME", "LANG", "TMPDIR")}
    env = {**clean, "PATH": f"{python}:{os.environ['PATH']}", "PIP_ARGUMENTS": ""}
    for word, arguments in instructions(CONTAINERFILE.read_text()):
        if word == "COPY":
            *sources, target = arguments.split()
            for source in sources:
                _copy(ROOT / source, folder / target)
        elif word == "RUN":
            for command in arguments.split(" && "):
                if full_build or not command.startswith(MACHINE):
                    subprocess.run(["/bin/sh", "-c", command], cwd=folder, env=env, check=True)
                    ran.append(command)
    return ran


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)


def services() -> dict[str, dict]:
    """The services of the compose file, with what they share filled in."""
    compose_services: dict[str, dict] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    return compose_services


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Site:
    """The services of compose.yaml, running here."""

    folder: Path
    web: list[int] = field(default_factory=list)
    https: int = 0
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)

    def get(self, host: str, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
        """An answer through the proxy, over TLS."""
        connection = socket.create_connection(("127.0.0.1", self.https), timeout=20)
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with context.wrap_socket(connection, server_hostname=host) as secure:
            lines = [f"GET {path} HTTP/1.1", f"Host: {host}", "Connection: close"]
            lines += [f"{name}: {value}" for name, value in headers.items()]
            secure.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
            response = b"".join(iter(lambda: secure.recv(65536), b""))
        head, _, body = response.partition(b"\r\n\r\n")
        first, *header_lines = head.decode().split("\r\n")
        return int(first.split()[1]), {k.lower(): v for k, v in (line.split(": ", 1) for line in header_lines)}, body

    def stop(self) -> dict[str, int]:
        """TERM to all, the proxy last; their exit codes."""
        order = sorted(self.running, key=lambda name: name == "proxy")
        for name in order:
            self.running[name].send_signal(signal.SIGTERM)
        return {name: self.running[name].wait(30) for name in order}


@contextmanager
def databases() -> Iterator[tuple[str, str]]:
    """What the database service would hold: the site's database, and by first-start.sql the marketplace's."""
    url = postgres.find()
    if url is None:
        raise RuntimeError("No PostgreSQL answers on 127.0.0.1:5432.")
    mark = uuid.uuid4().hex[:8]
    names = [f"pyramidion_{mark}", f"marketplace_{mark}"]
    first = (DEPLOY / "containers" / "first-start.sql").read_text().replace("marketplace;", f"{names[1]};")
    with psycopg.connect(url.replace("postgres:", "postgresql:", 1), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {names[0]}")
        connection.execute(first)
        try:
            server = url.rpartition("/")[0]
            yield f"{server}/{names[0]}", f"{server}/{names[1]}"
        finally:
            for name in names:
                connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def compose(folder: Path, *, full_build: bool = False) -> Iterator[Site]:
    """Every service of compose.yaml, each replica in a folder of its own."""
    replicas = [folder / f"host-{n}" for n in (1, 2)]
    for replica in replicas:
        replica.mkdir(parents=True)
    build(replicas[0], full_build=full_build)
    shutil.copytree(replicas[0], replicas[1], symlinks=True, dirs_exist_ok=True)
    with databases() as (site_url, market_url):
        site = Site(folder, [free_port(), free_port()], free_port())
        site.environment = _environment(site, site_url, market_url, replicas[0])
        try:
            _start(site, replicas)
            yield site
        finally:
            for process in site.running.values():
                if process.poll() is None:
                    process.kill()
                    process.wait()


def example_settings() -> dict[str, str]:
    """env.example as it is: what `env_file` of compose.yaml gives every service before anything is filled in."""
    lines = (DEPLOY / "env.example").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


def _environment(site: Site, site_url: str, market_url: str, replica: Path) -> dict[str, str]:
    python = replica / ".venv" / "bin"
    path = f"{python if python.is_dir() else Path(sys.executable).parent}:{os.environ['PATH']}"
    clean = {name: value for name, value in os.environ.items() if name in ("HOME", "LANG", "TMPDIR")}
    market = free_port()
    return {
        **example_settings(),
        **clean,
        "PATH": path,
        "ENV_FILE": os.devnull,
        "DEMO": "no",
        "SECRET_KEY": uuid.uuid4().hex * 2 + "-aXbYcZ",
        "MARKETPLACE_SECRET_KEY": uuid.uuid4().hex * 2 + "-dEfGhI",
        "ALLOWED_HOSTS": "pyramidion.lab.edu",
        "MARKETPLACE_ALLOWED_HOSTS": "market.lab.edu",
        "DATABASE_URL": site_url,
        "MARKETPLACE_DATABASE_URL": market_url,
        "BEHIND_PROXY": "yes",
        "BACKGROUND": "worker",
        "SITE_URL": "https://pyramidion.lab.edu",
        "WEB_PROCESSES": "1",
        "MARKETPLACE_WEB_PROCESSES": "1",
        "MARKETPLACE_BIND": f"127.0.0.1:{market}",
        "SITE_NAME": "pyramidion.lab.edu",
        "MARKETPLACE_NAME": "market.lab.edu",
        "TLS_MODE": "internal",
        "HTTP_PORT": str(free_port()),
        "HTTPS_PORT": str(site.https),
        "SITE_UPSTREAM": " ".join(f"127.0.0.1:{port}" for port in site.web),
        "MARKETPLACE_UPSTREAM": f"127.0.0.1:{market}",
        "XDG_DATA_HOME": str(site.folder / "caddy"),
        "XDG_CONFIG_HOME": str(site.folder / "caddy"),
    }


def _start(site: Site, replicas: list[Path]) -> None:
    by_name = services()
    for name in ("migrate", "migrate-marketplace"):
        subprocess.run(
            by_name[name]["command"], cwd=replicas[0], env=site.environment, check=True, stdout=subprocess.DEVNULL
        )
    for n, replica in enumerate(replicas):
        _spawn(site, f"web-{n + 1}", by_name["web"]["command"], replica, BIND=f"127.0.0.1:{site.web[n]}")
        _spawn(site, f"worker-{n + 1}", by_name["worker"]["command"], replica)
    _spawn(site, "marketplace", by_name["marketplace"]["command"], replicas[0])
    proxy = [
        str(DEPLOY / "Caddyfile") if word == "/etc/caddy/Caddyfile" else word for word in by_name["proxy"]["command"]
    ]
    _spawn(site, "proxy", proxy, site.folder)
    probe = by_name["marketplace"]["healthcheck"]["test"][1:]
    checks = [["python", "-m", "deploy.monitoring.probe", str(port)] for port in site.web]
    checks.append(
        [site.environment["MARKETPLACE_BIND"].rpartition(":")[2] if word == "8001" else word for word in probe]
    )
    for check in checks:
        _until(
            lambda check=check: (
                subprocess.run(check, cwd=replicas[0], env=site.environment, check=False).returncode == 0
            )
        )
    _until(lambda: site.get("pyramidion.lab.edu", "/readyz")[0] == 200)


def _spawn(site: Site, name: str, command: list[str], folder: Path, **variables: str) -> None:
    log = open(site.folder / f"{name}.log", "wb")  # noqa: SIM115  the process keeps it
    site.running[name] = subprocess.Popen(
        command, cwd=folder, env={**site.environment, **variables}, stdout=log, stderr=subprocess.STDOUT
    )


def _until(is_ready: object, seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            if is_ready():  # type: ignore[operator]
                return
        except OSError:
            pass
        if time.monotonic() > end:
            raise TimeoutError("A service did not become ready; its log is in the folder.")
        time.sleep(0.3)


JOB = """
import sys, time, django; django.setup()
from annotation import jobs
from annotation.models import Job, Study
job = jobs.start_job(Study.objects.create(name="Two hosts"), "explore", {}, None)
end = time.monotonic() + 90
while not Job.objects.get(pk=job.pk).is_over and time.monotonic() < end: time.sleep(0.2)
print(Job.objects.get(pk=job.pk).state)
"""


def problems(site: Site) -> Iterator[str]:
    """What is not as it should be, while everything runs."""
    status, headers, _ = site.get("pyramidion.lab.edu", "/sign-in/", **{"Accept-Encoding": "gzip"})
    if status != 200 or headers.get("content-encoding") != "gzip":
        yield f"the site answers {status}, {headers.get('content-encoding', 'not compressed')}"
    if "max-age=31536000" not in headers.get("strict-transport-security", ""):
        yield "no HSTS"
    if site.get("market.lab.edu", "/readyz")[0] != 200:
        yield "the marketplace does not answer through the proxy"
    env = {**site.environment, "DJANGO_SETTINGS_MODULE": "deploy.settings"}
    command, folder = ["python", "-c", JOB], site.folder / "host-2"
    process = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if process.stdout.split()[-1:] != ["done"]:
        yield f"a job asked for on one host was not done: {process.stdout}{process.stderr[-300:]}"


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        with compose(Path(name), full_build="--whole" in sys.argv) as site:
            faults = list(problems(site))
            codes = site.stop()
        faults += [f"{service} ended with {code}" for service, code in codes.items() if code]
        log = (Path(name) / "web-1.log").read_text().splitlines()
    lines = [json.loads(line) for line in log if line.startswith("{")]
    faults += [] if any(line.get("route") == "ready" for line in lines) else ["the log has no line for a request"]
    for fault in faults:
        print(f"WRONG  {fault}")
    print(
        f"{len(codes)} services ran as the files say and ended in good order." if not faults else "Not as it should be."
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
