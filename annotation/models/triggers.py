"""Rules that a constraint can't say, kept by the database itself.

- `Task.live` follows its assignments, so that `task_quota_kept` holds whoever writes them.
- A judgment's content never changes: only `is_current` may, when a revision follows it.
- `Study.committed_cents` follows its ledger, so that `study_budget_kept` holds; an entry's amounts never change.
- `JudgeRun.committed_micros` follows its calls, so that `judge_run_cap_kept` holds; a judge's version never changes.
- What the record of who changed what says never changes.
- What an annotator extracted never changes either, and an SCU keeps its words once it has been judged.

Made after every `migrate` and not in a migration: SQLite drops a table's triggers when a migration rebuilds it, and
refuses to rebuild a table that a trigger of another one names; so they are gone while migrations run.
"""

from typing import Any

from django.db import connections

_LIVE = "({row}.state IN ('leased', 'submitted'))"
_OLD, _NEW = _LIVE.format(row="OLD"), _LIVE.format(row="NEW")
_CONTENT = ("assignment_id", "summary_id", "unit", "value", "scale_min", "scale_max", "revision", "submitted_at")
_REFUSAL = "A judgment is never overwritten: add a revision instead."

_EXTRACTED = "assignment_id, revision, text, spans, submitted_at"
_EXTRACTED_REFUSAL = "What was extracted is never overwritten: add a revision instead."
_UNIT = "document_id, scu_id, text"
_UNIT_REFUSAL = "An SCU that has been judged keeps its words: freeze a new version of the list instead."
_JUDGED = """EXISTS (SELECT 1 FROM annotation_judgment j JOIN annotation_summary s ON s.id = j.summary_id
    WHERE s.document_id = OLD.document_id AND j.unit = OLD.scu_id)"""

_AMOUNTS = "study_id, batch_id, kind, token, reward_cents, fee_cents, promised_cents, paid_cents"
_ENTRY_REFUSAL = "The amounts of a ledger entry never change: write another entry instead."
_MONEY = "CASE WHEN {row}.state = 'failed' THEN 0 ELSE {row}.promised_cents + {row}.paid_cents END"
_OLD_MONEY, _NEW_MONEY = _MONEY.format(row="OLD"), _MONEY.format(row="NEW")
_JUDGE = "study_id, name, version, kind, endpoint, model, prompt, options, digest"
_JUDGE_REFUSAL = "A judge never changes: make a new version instead."
_CALL = "run_id, assignment_id, sample, attempt, token, request"
_CALL_REFUSAL = "What a model was asked is never overwritten."
_RECORD = "at, user_id, name, study_id, action, facts, request"
_RECORD_REFUSAL = "The record of what was done is only ever added to."

_SQLITE = [
    f"""CREATE TRIGGER assignment_takes_place AFTER INSERT ON annotation_assignment WHEN {_NEW}
    BEGIN UPDATE annotation_task SET live = live + 1 WHERE id = NEW.task_id; END""",
    f"""CREATE TRIGGER assignment_moves AFTER UPDATE OF state, task_id ON annotation_assignment
    WHEN {_OLD} <> {_NEW} OR OLD.task_id <> NEW.task_id
    BEGIN
      UPDATE annotation_task SET live = live - 1 WHERE id = OLD.task_id AND {_OLD};
      UPDATE annotation_task SET live = live + 1 WHERE id = NEW.task_id AND {_NEW};
    END""",
    f"""CREATE TRIGGER assignment_frees_place AFTER DELETE ON annotation_assignment WHEN {_OLD}
    BEGIN UPDATE annotation_task SET live = live - 1 WHERE id = OLD.task_id; END""",
    f"""CREATE TRIGGER judgment_append_only BEFORE UPDATE OF {", ".join(_CONTENT)} ON annotation_judgment
    BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END""",
    f"""CREATE TRIGGER extracted_append_only BEFORE UPDATE OF {_EXTRACTED} ON annotation_extractedunit
    BEGIN SELECT RAISE(ABORT, '{_EXTRACTED_REFUSAL}'); END""",
    f"""CREATE TRIGGER unit_keeps_its_words BEFORE UPDATE OF {_UNIT} ON annotation_contentunit
    WHEN (OLD.text <> NEW.text OR OLD.scu_id <> NEW.scu_id OR OLD.document_id <> NEW.document_id) AND {_JUDGED}
    BEGIN SELECT RAISE(ABORT, '{_UNIT_REFUSAL}'); END""",
    f"""CREATE TRIGGER entry_commits AFTER INSERT ON annotation_entry
    BEGIN UPDATE annotation_study SET committed_cents = committed_cents + {_NEW_MONEY} WHERE id = NEW.study_id; END""",
    f"""CREATE TRIGGER entry_moves AFTER UPDATE OF state ON annotation_entry
    WHEN {_OLD_MONEY} <> {_NEW_MONEY}
    BEGIN
      UPDATE annotation_study SET committed_cents = committed_cents + {_NEW_MONEY} - {_OLD_MONEY}
      WHERE id = NEW.study_id;
    END""",
    f"""CREATE TRIGGER entry_leaves AFTER DELETE ON annotation_entry
    BEGIN UPDATE annotation_study SET committed_cents = committed_cents - {_OLD_MONEY} WHERE id = OLD.study_id; END""",
    f"""CREATE TRIGGER entry_amounts_stay BEFORE UPDATE OF {_AMOUNTS} ON annotation_entry
    WHEN {" OR ".join(f"OLD.{name} <> NEW.{name}" for name in _AMOUNTS.split(", "))}
    BEGIN SELECT RAISE(ABORT, '{_ENTRY_REFUSAL}'); END""",
    """CREATE TRIGGER judge_call_commits AFTER INSERT ON annotation_judgecall
    BEGIN UPDATE annotation_judgerun SET committed_micros = committed_micros + NEW.micros WHERE id = NEW.run_id; END""",
    """CREATE TRIGGER judge_call_moves AFTER UPDATE OF micros ON annotation_judgecall WHEN OLD.micros <> NEW.micros
    BEGIN
      UPDATE annotation_judgerun SET committed_micros = committed_micros + NEW.micros - OLD.micros
      WHERE id = NEW.run_id;
    END""",
    """CREATE TRIGGER judge_call_leaves AFTER DELETE ON annotation_judgecall
    BEGIN UPDATE annotation_judgerun SET committed_micros = committed_micros - OLD.micros WHERE id = OLD.run_id; END""",
    f"""CREATE TRIGGER judge_call_stays BEFORE UPDATE OF {_CALL} ON annotation_judgecall
    BEGIN SELECT RAISE(ABORT, '{_CALL_REFUSAL}'); END""",
    f"""CREATE TRIGGER judge_stays BEFORE UPDATE OF {_JUDGE} ON annotation_judge
    BEGIN SELECT RAISE(ABORT, '{_JUDGE_REFUSAL}'); END""",
    f"""CREATE TRIGGER record_stays BEFORE UPDATE OF {_RECORD} ON annotation_auditevent
    BEGIN SELECT RAISE(ABORT, '{_RECORD_REFUSAL}'); END""",
]

_POSTGRES = [
    f"""CREATE OR REPLACE FUNCTION pyramidion_count_places() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP <> 'INSERT' AND {_OLD} THEN
        IF TG_OP = 'UPDATE' AND {_NEW} AND OLD.task_id = NEW.task_id THEN RETURN NULL; END IF;
        UPDATE annotation_task SET live = live - 1 WHERE id = OLD.task_id;
      END IF;
      IF TG_OP <> 'DELETE' AND {_NEW} THEN
        UPDATE annotation_task SET live = live + 1 WHERE id = NEW.task_id;
      END IF;
      RETURN NULL;
    END $$""",
    """CREATE OR REPLACE TRIGGER assignment_counts AFTER INSERT OR DELETE OR UPDATE OF state, task_id
    ON annotation_assignment FOR EACH ROW EXECUTE FUNCTION pyramidion_count_places()""",
    f"""CREATE OR REPLACE FUNCTION pyramidion_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION '{_REFUSAL}' USING ERRCODE = 'integrity_constraint_violation'; END $$""",
    f"""CREATE OR REPLACE TRIGGER judgment_append_only BEFORE UPDATE OF {", ".join(_CONTENT)}
    ON annotation_judgment FOR EACH ROW EXECUTE FUNCTION pyramidion_append_only()""",
    f"""CREATE OR REPLACE FUNCTION pyramidion_extracted_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION '{_EXTRACTED_REFUSAL}' USING ERRCODE = 'integrity_constraint_violation'; END $$""",
    f"""CREATE OR REPLACE TRIGGER extracted_append_only BEFORE UPDATE OF {_EXTRACTED}
    ON annotation_extractedunit FOR EACH ROW EXECUTE FUNCTION pyramidion_extracted_append_only()""",
    f"""CREATE OR REPLACE FUNCTION pyramidion_unit_keeps_its_words() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF {_JUDGED} THEN
        RAISE EXCEPTION '{_UNIT_REFUSAL}' USING ERRCODE = 'integrity_constraint_violation';
      END IF;
      RETURN NEW;
    END $$""",
    """CREATE OR REPLACE TRIGGER unit_keeps_its_words BEFORE UPDATE OF document_id, scu_id, text
    ON annotation_contentunit FOR EACH ROW
    WHEN (OLD.text <> NEW.text OR OLD.scu_id <> NEW.scu_id OR OLD.document_id <> NEW.document_id)
    EXECUTE FUNCTION pyramidion_unit_keeps_its_words()""",
    f"""CREATE OR REPLACE FUNCTION pyramidion_commit_money() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE change bigint := 0;
    BEGIN
      IF TG_OP <> 'DELETE' THEN change := {_NEW_MONEY}; END IF;
      IF TG_OP <> 'INSERT' THEN change := change - ({_OLD_MONEY}); END IF;
      IF change <> 0 THEN
        UPDATE annotation_study SET committed_cents = committed_cents + change
        WHERE id = COALESCE(NEW.study_id, OLD.study_id);
      END IF;
      RETURN NULL;
    END $$""",
    """CREATE OR REPLACE TRIGGER entry_commits AFTER INSERT OR DELETE OR UPDATE OF state
    ON annotation_entry FOR EACH ROW EXECUTE FUNCTION pyramidion_commit_money()""",
    f"""CREATE OR REPLACE FUNCTION pyramidion_entry_amounts_stay() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION '{_ENTRY_REFUSAL}' USING ERRCODE = 'integrity_constraint_violation'; END $$""",
    f"""CREATE OR REPLACE TRIGGER entry_amounts_stay BEFORE UPDATE OF {_AMOUNTS} ON annotation_entry FOR EACH ROW
    WHEN ({" OR ".join(f"OLD.{name} <> NEW.{name}" for name in _AMOUNTS.split(", "))})
    EXECUTE FUNCTION pyramidion_entry_amounts_stay()""",
    """CREATE OR REPLACE FUNCTION pyramidion_commit_calls() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE change bigint := 0;
    BEGIN
      IF TG_OP <> 'DELETE' THEN change := NEW.micros; END IF;
      IF TG_OP <> 'INSERT' THEN change := change - OLD.micros; END IF;
      IF change <> 0 THEN
        UPDATE annotation_judgerun SET committed_micros = committed_micros + change
        WHERE id = COALESCE(NEW.run_id, OLD.run_id);
      END IF;
      RETURN NULL;
    END $$""",
    """CREATE OR REPLACE TRIGGER judge_call_commits AFTER INSERT OR DELETE OR UPDATE OF micros
    ON annotation_judgecall FOR EACH ROW EXECUTE FUNCTION pyramidion_commit_calls()""",
    f"""CREATE OR REPLACE FUNCTION pyramidion_judge_call_stays() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION '{_CALL_REFUSAL}' USING ERRCODE = 'integrity_constraint_violation'; END $$""",
    f"""CREATE OR REPLACE TRIGGER judge_call_stays BEFORE UPDATE OF {_CALL}
    ON annotation_judgecall FOR EACH ROW EXECUTE FUNCTION pyramidion_judge_call_stays()""",
    f"""CREATE OR REPLACE FUNCTION pyramidion_judge_stays() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION '{_JUDGE_REFUSAL}' USING ERRCODE = 'integrity_constraint_violation'; END $$""",
    f"""CREATE OR REPLACE TRIGGER judge_stays BEFORE UPDATE OF {_JUDGE}
    ON annotation_judge FOR EACH ROW EXECUTE FUNCTION pyramidion_judge_stays()""",
    f"""CREATE OR REPLACE FUNCTION pyramidion_record_stays() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION '{_RECORD_REFUSAL}' USING ERRCODE = 'integrity_constraint_violation'; END $$""",
    """CREATE OR REPLACE TRIGGER record_stays BEFORE UPDATE ON annotation_auditevent
    FOR EACH ROW EXECUTE FUNCTION pyramidion_record_stays()""",
]


# PostgreSQL takes going through the table for cheap: it doesn't count that the words lie outside of it, compressed.
_WITH_WORDS = """
CREATE OR REPLACE FUNCTION annotation_documents_with(asked tsquery) RETURNS SETOF bigint
LANGUAGE sql STABLE ROWS 100 SET enable_seqscan = off SET enable_indexscan = off
AS $$ SELECT id FROM annotation_documentwords WHERE words @@ asked $$
"""


def install_words(using: str = "default") -> None:
    """The table of documents' words, where no migration has made it (tests make tables straight from the models),
    and how PostgreSQL looks words up in it."""
    connection = connections[using]
    with connection.cursor() as cursor:
        if "annotation_documentwords" not in connection.introspection.table_names(cursor):
            _make_words(connection.vendor, cursor)
        if connection.vendor == "postgresql":
            cursor.execute(_WITH_WORDS)


def _make_words(vendor: str, cursor: Any) -> None:
    if vendor == "postgresql":
        cursor.execute("CREATE TABLE annotation_documentwords (id bigint PRIMARY KEY, words tsvector NOT NULL)")
        cursor.execute("CREATE INDEX document_words ON annotation_documentwords USING gin (words)")
    else:
        options = "words, tokenize='unicode61 remove_diacritics 2'"
        cursor.execute(f"CREATE VIRTUAL TABLE annotation_documentwords USING fts5({options})")


def drop_triggers(using: str = "default") -> None:
    """Take the triggers away on SQLite, which can't rebuild a table that a trigger of another one names."""
    connection = connections[using]
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            for name in _names():
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}")


def _names() -> list[str]:
    return [statement.split()[2] for statement in _SQLITE]  # CREATE TRIGGER name …


def install_triggers(using: str = "default", **_: Any) -> None:
    """Make the triggers anew on one database; safe to repeat."""
    connection = connections[using]
    if connection.vendor == "sqlite":
        statements = [*(f"DROP TRIGGER IF EXISTS {name}" for name in _names()), *_SQLITE]
    else:
        statements = _POSTGRES
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
