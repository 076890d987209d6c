"""1,000 annotators at once on a study with 10 million judgments: no slower per task than 50 on an empty one by half.

The peer is the same site with 50 annotators and an empty study. Measured on PostgreSQL, with as many web processes as
the load benchmark has; no answer may be lost, altered or over quota. `SCALE_JUDGMENTS` makes it smaller.
"""

from __future__ import annotations

import os
import uuid

from benchmarks import Measurement
from benchmarks.site._annotators import Tally, crowd, our_pages
from benchmarks.site.load import SUMMARY, UNITS, prepare, scratch_database, served, site

JUDGMENTS = int(os.environ.get("SCALE_JUDGMENTS", "10_000_000"))
PEOPLE, LIMIT = 1000, 60.0

# A finished batch beside the one that is worked on: ten tasks per document, ten answers per task, ten units each.
FILL = """
SET session_replication_role = replica;
INSERT INTO annotation_worker (study_id, crowd, external_id, pseudonym, block_reason, preferences)
  SELECT {study}, 'import', 'old-' || n, 'w-old' || lpad(n::text, 11, '0'), '', '{{}}' FROM generate_series(1, 10) n;
INSERT INTO annotation_document (study_id, doc_id, sort_key, source, extra)
  SELECT {study}, 'old-' || n, 'old-' || n, '""'::jsonb, '{{}}'::jsonb FROM generate_series(1, {documents}) n;
INSERT INTO annotation_summary (document_id, system_id, text, extra)
  SELECT d.id, s.id, '"A short old summary."'::jsonb, '{{}}'::jsonb
  FROM annotation_document d, annotation_system s
  WHERE d.study_id = {study} AND d.doc_id LIKE 'old-%' AND s.study_id = {study};
INSERT INTO annotation_task (batch_id, document_id, summary_id, part, quota, live)
  SELECT {batch}, u.document_id, u.id, 0, 10, 10 FROM annotation_summary u JOIN annotation_document d
  ON d.id = u.document_id WHERE d.study_id = {study} AND d.doc_id LIKE 'old-%';
INSERT INTO annotation_assignment
  (task_id, worker_id, key, state, submit_key, draft, revision_keys, seed, signals, is_ahead)
  SELECT t.id, w.id, md5(t.id || '-' || w.id), 'submitted', '', '{{}}', '[]', 0, '{{}}', false
  FROM annotation_task t, annotation_worker w
  WHERE t.batch_id = {batch} AND w.study_id = {study} AND w.crowd = 'import';
INSERT INTO annotation_judgment
  (assignment_id, summary_id, unit, value, scale_min, scale_max, revision, is_current, is_check)
  SELECT a.id, t.summary_id, 'scu' || lpad(n::text, 2, '0'), n % 2, 0, 1, 1, true, false
  FROM annotation_assignment a JOIN annotation_task t ON t.id = a.task_id, generate_series(0, 9) n
  WHERE t.batch_id = {batch};
ANALYZE;
"""


def run() -> Measurement:
    empty = _once(50, 0)
    large = _once(PEOPLE, JUDGMENTS)
    note = f"seconds per task; {PEOPLE} annotators, {JUDGMENTS:,} judgments: {large.per_second:.0f} tasks a second, "
    note += f"p95 {large.p95 * 1000:.0f} ms; 50 and none: {empty.per_second:.0f}, p95 {empty.p95 * 1000:.0f} ms"
    return Measurement(1 / large.per_second, 1 / empty.per_second, claim=0.5, note=note)


def _once(people: int, judgments: int) -> Tally:
    task = {"name": uuid.uuid4().hex[:8], "tasks": 4000, "people": people, "units": UNITS, "summary": SUMMARY}
    with scratch_database() as url, served("ours", url) as server:
        batch = prepare("ours", url, task)
        if judgments:
            _fill(url, batch["batch"], judgments)
        tally = crowd(server.port, batch["cookies"], our_pages(batch["batch"], list(UNITS)), LIMIT)
        problems = site(url, "check", {"batch": batch["batch"], "acknowledged": tally.acknowledged})
        if problems or tally.errors:
            raise RuntimeError(f"The site broke its promise: {(problems + tally.errors)[:3]}")
    return tally


def _fill(url: str, batch: int, judgments: int) -> None:
    import psycopg

    with psycopg.connect(url.replace("postgres:", "postgresql:", 1)) as database:
        row = database.execute("SELECT study_id FROM annotation_batch WHERE id = %s", (batch,)).fetchone()
        assert row is not None
        old = database.execute(
            "INSERT INTO annotation_batch (study_id, name, protocol, role, round, crowd, state, scale_min, scale_max,"
            " options, terms, is_chosen, created_at) VALUES (%s, 'Old', 'litepyramid', 'crowd', 1, 'direct', 'closed',"
            " 0, 1, '{}', '{}', false, now()) RETURNING id",
            (row[0],),
        ).fetchone()
        assert old is not None
        database.execute(FILL.format(study=row[0], batch=old[0], documents=judgments // 1000).encode())
