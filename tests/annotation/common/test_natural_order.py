"""Ids stand in the order in which people count."""

import pytest

from annotation.common.text import natural_key
from annotation.models import Document
from tests.factories import make_study


def test_numbers_in_names_count():
    names = ["doc-10", "doc-9", "2", "10", "1", "0", "007", "7", "b2-c10", "b2-c9", "x"]
    ordered = ["0", "1", "2", "007", "7", "10", "b2-c9", "b2-c10", "doc-9", "doc-10", "x"]
    assert sorted(names, key=natural_key) == ordered


@pytest.mark.django_db
def test_documents_keep_that_order_however_they_are_stored():
    study = make_study(documents=0)
    Document.objects.create(study=study, doc_id="10", source="")
    Document.objects.bulk_create(Document(study=study, doc_id=name, source="") for name in ("2", "0", "1"))
    assert list(study.documents.order_by("sort_key").values_list("doc_id", flat=True)) == ["0", "1", "2", "10"]
