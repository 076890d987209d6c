"""Claim: every page of an admin takes under 400 ms at p95 on a study of REALSumm's size, and none is above 300 KB.

The study has 2,500 tasks on a market, 123,888 judgments and 7,743 workers, with a filter in force; on SQLite and on
PostgreSQL. Time is by the clock from a request to its whole answer, database included. The number of queries of a page
must be the same on all its addresses, and no larger than on a study of four documents. Pages whose numbers are worked
out beforehand are measured as people find them: ready, or (Workers) with answers that came since. The peer is the
promised limit; the slowest page on the slower database is reported.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import Measurement
from benchmarks.site.load import ROOT, scratch_database

LIMIT, LARGEST = 400.0, 300_000
VISITS = 24  # of each page
SMALL = 4  # documents of the study that the number of queries is compared with
Result = dict[str, dict[str, float]]


def run() -> Measurement:
    with tempfile.TemporaryDirectory() as folder:
        results = {"SQLite": _on(f"sqlite:///{folder}/console.sqlite3")}
    with scratch_database() as url:
        results["PostgreSQL"] = _on(url)
    for database, pages in results.items():
        for name, page in pages.items():
            print(f"  {database}: {name}: {_facts(page)}", flush=True)
    pages = [page for by_name in results.values() for page in by_name.values()]
    if (largest := max(page["bytes"] for page in pages)) > LARGEST:
        raise RuntimeError(f"A page has {largest / 1000:.0f} KB, and {LARGEST / 1000:g} were promised.")
    slowest = {database: max(by_name, key=lambda name: by_name[name]["p95"]) for database, by_name in results.items()}
    notes = [f"{database}: {name} {_facts(results[database][name])}" for database, name in slowest.items()]
    note = f"p95 of {len(pages) // 2} pages; slowest: {'; '.join(notes)}; largest {largest / 1000:.0f} KB"
    return Measurement(max(page["p95"] for page in pages), LIMIT, claim=1.0, unit="ms", note=note)


def _facts(page: dict[str, float]) -> str:
    return f"{page['p95']:.0f} ms, {page['queries']:.0f} queries, {page['bytes'] / 1000:.0f} KB"


def _on(url: str) -> Result:
    # In a process of its own: Django can be set up once, and other benchmarks set up the site.
    command, env = [sys.executable, "-m", "benchmarks.site.console"], {**os.environ, "DATABASE_URL": url}
    process = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if process.returncode:
        raise RuntimeError(f"The benchmark of the console failed: {process.stderr[-800:]}")
    result: Result = json.loads(process.stdout.splitlines()[-1])
    return result


def measure() -> Result:
    """By page: the 95th percentile in milliseconds, the number of queries, the size."""
    set_up()
    from django.core.management import call_command

    from benchmarks.site._realsumm_site import make_study

    call_command("migrate", verbosity=0)
    with tempfile.TemporaryDirectory() as folder:
        small = make_study(Path(folder) / "small", "Small", SMALL)
        large = make_study(Path(folder) / "large", "Large")
    return compare(small, large)


def set_up() -> None:
    os.environ.update(DEMO="1", ENV_FILE=os.devnull, SECRET_KEY="benchmark", LOG_LEVEL="WARNING")
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()


def compare(small: Any, large: Any) -> Result:
    few = {name: _queries(small, addresses) for name, addresses in pages_of(small).items()}
    results = {}
    for name, addresses in pages_of(large).items():
        queries = _queries(large, addresses)
        if len(queries) != 1 or max(queries) > max(few[name]):
            raise RuntimeError(f"{name} asks {sorted(queries)} queries, and {sorted(few[name])} on a small study.")
        results[name] = {**_times(large, addresses), "queries": float(queries.pop())}
    return results


def pages_of(study: Any) -> dict[str, list[str]]:
    """Every page that an admin of the study can open, each with the addresses that are visited."""
    from annotation.models import Reference

    base, batch = f"/studies/{study.slug}", study.batches.order_by("pk").first()
    at_batch = f"{base}/collect/{batch.pk}"
    documents = list(study.documents.order_by("pk").values_list("pk", flat=True))
    references = Reference.objects.filter(document__in=documents[:20]).values_list("pk", flat=True)
    people = list(batch.figures.order_by("pk").values_list("worker_id", "worker__pseudonym"))
    people = people[:: max(1, len(people) // VISITS)]
    number = 1 + (batch.figures.count() - 1) // 50
    plain = ("scus", "collect", "collect/new", "guidance", "metrics", "report", "quality", "exports", "datasheet")
    sorts = ("standing", "agreement", "failed", "fast", "tasks", "name")
    return {
        "home": ["/"],
        "study": [f"{base}/"],
        **{name: [f"{base}/{name}/"] for name in (*plain, "rounds", "record", "explorer")},
        "SCU list": [f"{base}/scus/{key}/" for key in references],
        "explorer document": [f"{base}/explorer/{key}/" for key in documents[:VISITS]],
        "worker's answers": [f"{base}/quality/workers/{pseudonym}/" for _key, pseudonym in people],
        "launch": [f"{at_batch}/launch/"],
        "monitor": [f"{at_batch}/monitor/"],
        "monitor, live part": [f"{at_batch}/monitor/?live=1"],
        "workers": [f"{at_batch}/workers/?page={1 + n * number // VISITS}" for n in range(VISITS)],
        "workers in order": [
            f"{at_batch}/workers/?sort={sort}&show={show}" for sort in sorts for show in ("all", "odd")
        ],
        "workers by search": [f"{at_batch}/workers/?q={pseudonym[2:5]}" for _key, pseudonym in people],
        "worker of a batch": [f"{at_batch}/workers/{key}/" for key, _pseudonym in people],
        "ledger": [f"{base}/ledger/?page={n}" for n in range(1, VISITS)],
        "ledger of a kind": [f"{base}/ledger/?kind={kind}" for kind in ("post", "approve")],
        "ledger by task": [f"{base}/ledger/?by=task&page={n}" for n in range(1, VISITS)],
        "ledger by worker": [f"{base}/ledger/?by=worker&page={n}" for n in range(1, VISITS)],
    }


def _queries(study: Any, addresses: list[str]) -> set[int]:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    client, counts = _admin(study), set()
    client.get(addresses[0])  # fills what processes keep
    for address in addresses[:: max(1, len(addresses) // 5)]:
        with CaptureQueriesContext(connection) as captured:
            client.get(address)
        counts.add(len(captured))
    return counts


def _times(study: Any, addresses: list[str]) -> dict[str, float]:
    client = _admin(study)
    answers = [_visit(client, address) for address in _in_turn(addresses)]
    milliseconds, sizes = zip(*answers, strict=True)
    return {"p95": statistics.quantiles(milliseconds, n=20)[-1], "bytes": max(sizes)}


def _in_turn(addresses: list[str]) -> Iterator[str]:
    return (addresses[n % len(addresses)] for n in range(VISITS))


def _admin(study: Any) -> Any:
    from django.test import Client

    client = Client(SERVER_NAME="localhost")
    client.force_login(study.memberships.get().user)
    return client


def _visit(client: Any, address: str) -> tuple[float, int]:
    start = time.perf_counter()
    answer = client.get(address)
    milliseconds = (time.perf_counter() - start) * 1000
    if answer.status_code != 200:
        raise RuntimeError(f"{address} answered {answer.status_code}.")
    return milliseconds, len(answer.content)


if __name__ == "__main__":
    print(json.dumps(measure()))
