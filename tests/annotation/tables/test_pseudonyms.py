"""No page, API answer, export or log line for non-admins holds a worker's own id.

The addresses are taken from the site itself, so that a new page is looked at without being listed here. Workers have
ids that can't be overlooked, and everything they could leak into is filled: judgments of both kinds, filters, scores,
reports, exports in every table, shape and form.
"""

import io
import logging
import zipfile
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import pandas as pd
import pytest
from django.apps import apps
from django.core.management import call_command
from django.test import Client
from django.urls import get_resolver

from annotation.accounts.api_tokens import issue_token
from annotation.judging.leases import lease_task
from annotation.judging.submit import submit_judgments
from annotation.models import Assignment, Export, FilterDecision, Job, Role, Score, Study, Worker
from annotation.protocols import of as protocol_of
from annotation.results.scoring_job import store_scores
from annotation.studies.batches import create_batch
from annotation.tables.frames import summaries_frame
from annotation.transfer.exporting.jobs import start_export
from annotation.transfer.exporting.options import USUAL, ExportOptions
from annotation.transfer.exporting.writers import FORMS
from annotation.transfer.shapes import SHAPES
from tests.factories import make_batch, make_member, make_study

pytestmark = pytest.mark.django_db(transaction=True)

RAW = "RAWWORKERID"
# What an analyst must have seen in full, so that the scan is known to have looked at something.
SEEN = {
    *("study", "quality", "quality-worker", "quality-download", "report", "report-file", "report-folder", "metric"),
    *("explorer", "explorer-document", "exports", "export-file", "datasheet", "job", "collect", "rounds", "scus"),
    *("list_judgments", "list_assignments", "list_workers", "get_quality", "get_report", "get_export_file"),
}


class Lines(logging.Handler):
    """Every log line, whoever writes it."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.text: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.text.append(self.format(record))


@pytest.fixture
def lines() -> Iterator[Lines]:
    handler, root = Lines(), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    logging.getLogger("django.db.backends").setLevel(logging.INFO)  # the statements themselves, off in production
    yield handler
    root.removeHandler(handler)
    root.setLevel(level)


@pytest.fixture
def study(settings, tmp_path) -> Study:
    """Three crowd workers, one of them left out by the filter; and one person who is an annotator of the site."""
    settings.EXPORT_ROOT = str(tmp_path / "exports")
    study = make_study(documents=3, systems=2)
    batch = make_batch(study, quota=3)
    for n in range(3):
        worker = Worker.objects.create(
            study=study, crowd="mturk", external_id=f"{RAW}{n}", pseudonym=study.pseudonym("mturk", f"{RAW}{n}")
        )
        for _ in range(batch.tasks.count()):
            mine = lease_task(batch, worker)
            items = protocol_of(batch).items(mine)
            value = "0" if n == 2 else str((mine.task.summary_id + len(items)) % 2)
            submit_judgments(worker, mine.key, {item.field: value for item in items}, mine.key)
    FilterDecision.objects.create(study=study, rules=["majority-dissent"])
    frame = summaries_frame(study).assign(metric="length", value=lambda rows: [len(str(s)) for s in rows["summary"]])
    store_scores(study, frame[["doc_id", "system", "group", "metric", "value"]], {"length": "characters"})
    Score.objects.filter(document__doc_id="doc1").update(value=3)
    create_batch(study, "Rate", "likert", 1, state="open")
    return study


def routes(patterns: list, prefix: str = "", above: Mapping = MappingProxyType({})) -> Iterator[tuple[str, str, dict]]:
    for route in patterns:
        address, converters = prefix + str(route.pattern), {**above, **getattr(route.pattern, "converters", {})}
        if hasattr(route, "url_patterns"):
            yield from routes(route.url_patterns, address, converters)
        elif "(?P" not in address:
            yield address, route.name, converters


def candidates(study: Study, user) -> dict[str, list]:
    """Values for the parts of addresses, by name."""
    export = Export.objects.filter(study=study).first()
    return {
        "slug": [study.slug],
        "study": [study.slug],
        "id": [1, 2],
        "pseudonym": list(study.workers.values_list("pseudonym", flat=True)[:2]),
        "protocol": ["litepyramid"],
        "document_id": list(study.documents.values_list("pk", flat=True)[:2]),
        "key": [
            export.key if export else "none",
            *Assignment.objects.filter(worker__user=user).values_list("key", flat=True),
        ],
        "name": ["length"],
    }


def file_names(study: Study) -> dict[str, list[str]]:
    """The files behind the addresses that end in a name."""
    found = study.stored_results.filter(name="report").values_list("content", flat=True).first() or {}
    figures = [figure["name"] for section in found.get("sections", []) for figure in section["figures"]]
    exported = list(Export.objects.filter(study=study).first().files.values_list("name", flat=True))
    return {
        "quality-download": ["agreement.csv", "workers.csv", "contested.csv", "workers.svg", "systems.svg"],
        "report-file": [f"{name}.csv" for name in figures],
        "export-file": exported,
        "get_export_file": exported,
        "datasheet-file": ["datasheet.md", "card.md"],
    }


def values_of(part: str, converter: object, known: dict[str, list]) -> list:
    """An address part that is new here: `thing_id` is the first Thing there is, anything else a word."""
    if part in known:
        return known[part]
    if part.endswith("_id"):
        names = {model.__name__.lower(): model for model in apps.get_app_config("annotation").get_models()}
        model = names.get(part.removesuffix("_id").replace("_", ""))
        first = model.objects.values_list("pk", flat=True).first() if model else None
        return [first or 1]
    return [1] if type(converter).__name__ == "IntConverter" else ["none"]


def addresses(study: Study, user) -> Iterator[tuple[str, str]]:
    known, files = candidates(study, user), file_names(study)
    for route, name, converters in routes(get_resolver().url_patterns):
        found = [route]
        for part, converter in converters.items():
            tail = f":{part}>"
            found = [
                address.replace(
                    next(piece for piece in (f"<{part}>", *_typed(address, tail)) if piece in address), str(value)
                )
                for address in found
                for value in values_of(part, converter, {**known, "name": files.get(name, known["name"])})
            ]
        yield from ((name, f"/{address}") for address in found)


def _typed(address: str, tail: str) -> list[str]:
    return [f"<{kind}{tail}" for kind in ("int", "str", "slug", "path", "uuid") if f"<{kind}{tail}" in address]


def content_of(answer) -> str:
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return text_of(body) + str(dict(answer.headers))


def text_of(body: bytes) -> str:
    """What is inside, also inside archives and Parquet files."""
    if body.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            return "".join(name + text_of(archive.read(name)) for name in archive.namelist())
    if body.startswith(b"PAR1"):
        return pd.read_parquet(io.BytesIO(body)).to_csv()
    return body.decode("utf-8", "replace")


def visit(study: Study, role: str, lines: Lines) -> set[str]:
    """Open every address as somebody of this role, on the site and with a token; returns the names that answered."""
    user = make_member(study, role)
    web, token = Client(raise_request_exception=False), issue_token(user, "x", ["read", "write", "admin"], 7).token
    web.force_login(user)
    reached, leaks = set(), []
    for name, address in addresses(study, user):
        headers = {"Authorization": f"Bearer {token}"} if address.startswith("/api/") else {}
        answer = web.get(address, headers=headers)
        text = content_of(answer)
        assert answer.status_code != 500, address
        leaks += [f"{role}: {address}"] if RAW in text else []
        reached |= {name} if answer.status_code == 200 else set()
    assert leaks == []
    assert [line for line in lines.text if RAW in line] == []
    return reached


def test_nothing_for_non_admins_or_in_the_log_holds_a_raw_worker_id(study, lines, tmp_path):
    analyst = make_member(study, Role.ANALYST)
    for form in FORMS:
        start_export(study, analyst, ExportOptions.checked(USUAL, SHAPES if form == "csv" else (), form))
    assert set(Job.objects.values_list("state", flat=True)) == {"done"}
    web = Client()
    web.force_login(analyst)
    for page in ("quality", "report", "explorer"):  # worked out before the scan
        assert web.get(f"/studies/{study.slug}/{page}/?metric=length").status_code == 200
    assert visit(study, Role.ANALYST, lines) >= SEEN
    assert visit(study, Role.ANNOTATOR, lines) >= {"home", "list_judgments", "tokens"}
    call_command("export_study", str(tmp_path / "folder"), name=study.name, verbosity=0)
    files = [path for folder in ("exports", "folder") for path in (tmp_path / folder).rglob("*") if path.is_file()]
    assert len(files) > 3 * len(USUAL)
    pseudonym = study.workers.filter(crowd="mturk").first().pseudonym
    texts = {str(path.relative_to(tmp_path)): text_of(path.read_bytes()) for path in files}
    assert [name for name, text in texts.items() if RAW in text] == []
    assert sum(pseudonym in text for text in texts.values()) > len(FORMS)


def test_the_scan_would_find_one(study, lines):
    admin = make_member(study, Role.ADMIN)
    token = issue_token(admin, "x", ["admin"], 7).token
    answer = Client().get(f"/api/v1/studies/{study.slug}/workers/raw", headers={"Authorization": f"Bearer {token}"})
    assert RAW in content_of(answer)
    export = start_export(study, admin, ExportOptions.checked(["judgments"], (), "parquet", True, True))
    web = Client()
    web.force_login(admin)
    assert RAW in content_of(web.get(f"/studies/{study.slug}/exports/{export.key}/everything.zip"))
    logging.getLogger("annotation").warning("worker %s", f"{RAW}0")
    assert RAW in lines.text[-1]
