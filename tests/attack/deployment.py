"""A deployment to attack: two scratch databases, both products behind the proxy, people of every role."""

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

import psycopg
import urllib3

from benchmarks.site._ports import free_port, wait_for
from tests import postgres

urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)  # the proxy's certificate is its own
ROOT = Path(__file__).resolve().parents[2]
SITE, MARKET = "site.localhost", "market.localhost"
PRODUCTS = {"site": "deploy.settings", "market": "deploy.marketplace_settings"}


class Deployment:
    """Runs between start() and stop(); `facts` has what prepare.py tells of each product."""

    def __init__(self, server: str) -> None:
        self.server = server
        self.folder = Path(tempfile.mkdtemp(prefix="attack-"))
        self.databases = {name: f"attack_{name}_{uuid.uuid4().hex[:8]}" for name in PRODUCTS}
        self.ports = {name: free_port() for name in ("site", "market", "http", "https")}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.serving: dict[str, set[str]] = {}
        self.facts: dict[str, dict[str, Any]] = {}

    @property
    def environment(self) -> dict[str, str]:
        address = self.server.rpartition("/")[0]
        return {
            **os.environ,
            "ENV_FILE": os.devnull,
            "DEMO": "no",
            "HTTPS": "yes",
            "BEHIND_PROXY": "yes",
            "SECRET_KEY": "k" * 50 + self.databases["site"],
            "ALLOWED_HOSTS": SITE,
            "DATABASE_URL": f"{address}/{self.databases['site']}",
            "BIND": f"127.0.0.1:{self.ports['site']}",
            "STATIC_ROOT": str(self.folder / "static"),
            "EXPORT_ROOT": str(self.folder / "exports"),
            "SITE_URL": self.origin(SITE),
            "MARKET_ORIGINS": self.origin(MARKET),
            "MTURK_SIGNED_ENTRY": "yes",
            "MTURK_ENDPOINT_URL": self.origin(MARKET),
            "AWS_ACCESS_KEY_ID": "AKIAATTACK",
            "AWS_SECRET_ACCESS_KEY": "s" * 40,
            "MARKETPLACE_SECRET_KEY": "m" * 50 + self.databases["market"],
            "MARKETPLACE_ALLOWED_HOSTS": MARKET,
            "MARKETPLACE_DATABASE_URL": f"{address}/{self.databases['market']}",
            "MARKETPLACE_BIND": f"127.0.0.1:{self.ports['market']}",
            "MARKETPLACE_STATIC_ROOT": str(self.folder / "market-static"),
            "MARKETPLACE_URL": self.origin(MARKET),
            "MARKETPLACE_TICK_SECONDS": "5",
            "API_PER_MINUTE": "1000000",
            "LOG_LEVEL": "WARNING",
        }

    def origin(self, host: str) -> str:
        return f"https://{host}:{self.ports['https']}"

    def start(self) -> None:
        self._databases("CREATE DATABASE {name}")
        for name in PRODUCTS:
            self.facts[name] = self.ask(name, "prepare")
        self._spawn("site", [sys.executable, "-m", "gunicorn", "--config", "deploy/gunicorn.py", "deploy.wsgi"])
        market = [sys.executable, "-m", "gunicorn", "--config", "deploy/marketplace_gunicorn.py"]
        self._spawn("market", [*market, "deploy.marketplace_wsgi"])
        self._spawn(
            "proxy", ["caddy", "run", "--config", "deploy/Caddyfile", "--adapter", "caddyfile"], **self._proxy()
        )
        wait_for(self.ports["site"], self.ports["market"], self.ports["https"])
        for host in (SITE, MARKET):
            self._until_ready(host)
        self.serving = {name: self._children(name) for name in PRODUCTS}

    def ask(self, product: str, action: str) -> dict[str, Any]:
        """What prepare.py says, in a process with the product's own settings."""
        command = [sys.executable, "-m", "tests.attack.prepare", product, action]
        environment = {**self.environment, "DJANGO_SETTINGS_MODULE": PRODUCTS[product]}
        run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        if run.returncode:
            raise RuntimeError(f"{product} {action} failed: {run.stderr[-2000:]}")
        return dict(json.loads(run.stdout.splitlines()[-1]))

    def stop(self) -> None:
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            process.wait(30)
        self._databases("DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        shutil.rmtree(self.folder)

    def problems(self) -> list[str]:
        """Processes that ended, also those that gunicorn replaced, and tracebacks in their logs."""
        ended = [f"{name} ended" for name, process in self.processes.items() if process.poll() is not None]
        ended += [f"{name}'s process {pid} ended" for name in PRODUCTS for pid in self._gone(name)]
        return ended + [f"{name}: {line}" for name in ("site", "market") for line in self._tracebacks(name)]

    def _gone(self, name: str) -> set[str]:
        return self.serving[name] - self._children(name)

    def _children(self, name: str) -> set[str]:
        """The processes that answer requests for a product."""
        pid = self.processes[name].pid
        children = Path(f"/proc/{pid}/task/{pid}/children")
        return set(children.read_text().split()) if children.exists() else set()

    def _tracebacks(self, name: str) -> list[str]:
        """A refusal may be logged with its story; a fault of ours is an error."""
        lines = (self.folder / f"{name}.log").read_text(errors="replace").splitlines()
        return [line[:3000] for line in lines if "Traceback" in line and '"level": "WARNING"' not in line][:3]

    def _spawn(self, name: str, command: list[str], **variables: str) -> None:
        log = open(self.folder / f"{name}.log", "wb")  # noqa: SIM115  the process keeps it
        environment = {**self.environment, "DJANGO_SETTINGS_MODULE": PRODUCTS.get(name, ""), **variables}
        self.processes[name] = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)

    def _proxy(self) -> dict[str, str]:
        return {
            "HOME": str(self.folder),
            "XDG_DATA_HOME": str(self.folder / "caddy"),
            "XDG_CONFIG_HOME": str(self.folder / "caddy"),
            "SITE_NAME": SITE,
            "MARKETPLACE_NAME": MARKET,
            "TLS_MODE": "internal",
            "HTTP_PORT": str(self.ports["http"]),
            "HTTPS_PORT": str(self.ports["https"]),
            "SITE_UPSTREAM": f"127.0.0.1:{self.ports['site']}",
            "MARKETPLACE_UPSTREAM": f"127.0.0.1:{self.ports['market']}",
        }

    def _databases(self, statement: str) -> None:
        address = self.server.replace("postgres:", "postgresql:", 1)
        with psycopg.connect(address, autocommit=True) as connection:
            for name in self.databases.values():
                connection.execute(statement.format(name=name))

    def _until_ready(self, host: str, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if pool_of(self, host).request("GET", "/readyz", headers={"Host": self.host(host)}).status == 200:
                    return
            except urllib3.exceptions.HTTPError:
                pass
            time.sleep(0.3)
        raise RuntimeError(f"{host} did not become ready.")

    def host(self, name: str) -> str:
        return f"{name}:{self.ports['https']}"


def pool_of(deployment: Deployment, host: str, come_from: str = "127.0.0.1") -> urllib3.HTTPSConnectionPool:
    """Connections to the proxy, for one of its names; its certificate is known to nobody."""
    return urllib3.HTTPSConnectionPool(
        "127.0.0.1",
        deployment.ports["https"],
        maxsize=16,
        cert_reqs="CERT_NONE",
        server_hostname=host,
        assert_hostname=False,
        retries=False,
        timeout=60,
        source_address=(come_from, 0),
    )


def find_server() -> str | None:
    return postgres.find() if shutil.which("caddy") else None


def random_seed() -> int:
    return int(os.environ.get("ATTACK_SEED") or secrets.randbelow(10**6))
