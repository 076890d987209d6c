"""The words of each document, indexed by the database's own text search: FTS5 on SQLite, tsvector on PostgreSQL."""

from django.db import migrations


def make(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        if schema_editor.connection.vendor == "postgresql":
            cursor.execute("CREATE TABLE annotation_documentwords (id bigint PRIMARY KEY, words tsvector NOT NULL)")
            cursor.execute("CREATE INDEX document_words ON annotation_documentwords USING gin (words)")
        else:
            cursor.execute(
                "CREATE VIRTUAL TABLE annotation_documentwords USING fts5"
                "(words, tokenize='unicode61 remove_diacritics 2')"
            )


def drop(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("DROP TABLE annotation_documentwords")


class Migration(migrations.Migration):
    dependencies = [("annotation", "0010_explorer")]
    operations = [migrations.RunPython(make, drop)]
