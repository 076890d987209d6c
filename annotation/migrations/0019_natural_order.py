from django.db import migrations, models

import annotation.models.texts
from annotation.common.text import natural_key


def fill(apps, schema_editor):
    """The order of documents that were here before."""
    documents = apps.get_model("annotation", "Document").objects.using(schema_editor.connection.alias)
    portion = []
    for document in documents.only("pk", "doc_id").iterator(2000):
        document.sort_key = natural_key(document.doc_id)
        portion.append(document)
        if len(portion) == 2000:
            documents.bulk_update(portion, ["sort_key"])
            portion = []
    documents.bulk_update(portion, ["sort_key"])


class Migration(migrations.Migration):
    dependencies = [("annotation", "0018_pinned")]

    operations = [
        migrations.AddField(
            "document",
            "sort_key",
            annotation.models.texts.SortKeyField(default="", editable=False, max_length=700),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.AddIndex("document", models.Index(fields=["study", "sort_key"], name="document_by_sort_key")),
    ]
