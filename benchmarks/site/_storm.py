"""The parts of the storm: a PostgreSQL of our own that may be restarted, web hosts that may be killed, annotators
who try again, and a paymaster who is killed in the middle of paying."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from benchmarks.site._annotators import FIELD, Answer, Browser, Tally
from benchmarks.site._ports import free_port
from benchmarks.site.load import ROOT, environment

PATIENCE = 60.0  # seconds in which a retry must work


class Postgres:
    """A cluster of our own: the one of the machine is not ours to restart."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder / "cluster", free_port()
        programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        if not programs:
            raise RuntimeError("The storm needs PostgreSQL's own programs: apt-get install postgresql.")
        self.bin = programs[-1].parent

    def run(self, *words: str) -> None:
        command = list(words)
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            command = ["runuser", "-u", "postgres", "--", *command]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")

    def start(self) -> None:
        self.folder.mkdir(parents=True)
        if os.geteuid() == 0:
            for folder in (self.folder, *self.folder.parents[:2]):
                if str(folder) not in ("/", "/tmp"):
                    folder.chmod(0o755)
            shutil.chown(self.folder, "postgres", "postgres")
        self.run(str(self.bin / "initdb"), "-D", str(self.folder), "--auth=trust", "-U", "postgres", "--no-sync")
        self.control("start")

    def control(self, verb: str) -> None:
        options = f"-p {self.port} -k /tmp -c listen_addresses=127.0.0.1 -c max_connections=200"
        self.run(
            str(self.bin / "pg_ctl"), "-D", str(self.folder), "-m", "fast", "-w", "-o", options, "-l", "/dev/null", verb
        )

    def database(self, name: str) -> str:
        import psycopg

        with psycopg.connect(f"postgresql://postgres@127.0.0.1:{self.port}/postgres", autocommit=True) as database:
            database.execute(f"CREATE DATABASE {name}")
        return f"postgres://postgres@127.0.0.1:{self.port}/{name}"


class Host:
    """One web host: gunicorn with two processes. It can be killed and started again."""

    def __init__(self, url: str, **variables: str) -> None:
        self.port, self.url, self.variables = free_port(), url, variables
        self.kills = 0
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "gunicorn", "--config", "deploy/gunicorn.py", "deploy.wsgi"]
        env = {**environment(self.url, self.port), **self.variables}
        self.master = subprocess.Popen(command, cwd=ROOT, env=env, stderr=subprocess.DEVNULL, process_group=0)

    def processes(self) -> list[int]:
        children = Path(f"/proc/{self.master.pid}/task/{self.master.pid}/children")
        return [int(pid) for pid in children.read_text().split()] if children.exists() else []

    def kill_one(self, draw: random.Random) -> None:
        if children := self.processes():
            os.kill(draw.choice(children), signal.SIGKILL)
            self.kills += 1

    def kill_all(self) -> None:
        os.killpg(self.master.pid, signal.SIGKILL)
        self.master.wait()
        self.kills += 1

    def stop(self) -> None:
        if self.master.poll() is None:
            self.master.terminate()
            self.master.wait(30)


class Patient(Browser):
    """An annotator whose browser tries again, on whichever host answers, as behind a proxy."""

    def __init__(self, ports: list[int], cookie: str, tally: Tally) -> None:
        super().__init__(ports[0], cookie, tally)
        self.ports = ports
        self.troubles = 0

    async def until_answered(self, method: str, path: str, body: bytes = b"", kind: str = "") -> Answer:
        """Again and again, until there is an answer that is no error of ours; OSError when patience ends."""
        end = time.perf_counter() + PATIENCE
        while True:
            try:
                words = {"kind": kind} if kind else {}
                answer = await self.ask(method, path, body, **words)
                if answer.status < 500:
                    return answer
            except OSError:
                pass
            self.troubles += 1
            if time.perf_counter() > end:
                raise OSError(f"{method} {path.split('/')[1]}: no retry worked for {PATIENCE:.0f} seconds")
            self.close()
            self.port = self.ports[self.troubles % len(self.ports)]
            await asyncio.sleep(0.2)


async def annotate(
    ports: list[int], cookies: list[str], batches: list[int], questions: int, seconds: float
) -> tuple[Tally, int]:
    """Everybody works until the time is up, on one batch after the other in turns; what was begun is finished."""
    tally, end = Tally(), time.perf_counter() + seconds
    people = [Patient(ports, cookie, tally) for cookie in cookies]

    async def work(number: int, person: Patient) -> None:
        for turn in count(number):
            if time.perf_counter() >= end:
                return
            start = time.perf_counter()
            try:
                if not await _one_task(person, number, batches[turn % len(batches)], questions):
                    return
                tally.tasks.append(time.perf_counter() - start)
            except OSError as error:
                tally.errors.append(str(error))

    began = time.perf_counter()
    await asyncio.gather(*(work(number, person) for number, person in enumerate(people)))
    tally.seconds = time.perf_counter() - began
    return tally, sum(person.troubles for person in people)


async def _one_task(person: Patient, number: int, batch: int, questions: int) -> bool:
    lease = await person.until_answered("POST", f"/work/batch/{batch}/")
    place = lease.headers.get("location", "")
    if not place.startswith("/work/"):
        return False
    key = place.split("/")[2]
    page = await person.until_answered("GET", place)
    if page.headers.get("location", "").endswith("receipt/"):
        return True  # an earlier submit of ours had arrived after all
    fields = list(dict.fromkeys(FIELD.findall(page.body)))
    if page.status != 200 or len(fields) != questions:
        raise OSError(f"page: {page.status}, {len(fields)} questions")
    answers = {name.decode(): str((number + position) % 2) for position, name in enumerate(fields)}
    body = json.dumps({"answers": answers, "submit_key": key}).encode()
    submitted = await person.until_answered("POST", f"{place}submit/", body, "application/json")
    if submitted.status != 200:
        raise OSError(f"submit: {submitted.status}")
    person.tally.acknowledged[key] = answers
    return True


@contextmanager
def running(command: list[str], env: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
