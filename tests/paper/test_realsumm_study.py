"""The whole of REALSumm through the site: imported, exported, imported again, byte for byte."""

from pathlib import Path

import pytest
from django.core.management import call_command

from annotation.models import Judgment, Study
from annotation.transfer.importing.study import study_counts

pytestmark = [pytest.mark.django_db, pytest.mark.paper]


def test_realsumm_goes_in_and_out_unchanged(shared_data: Path, tmp_path: Path, capsys):
    call_command("import_study", shared_data / "realsumm", name="realsumm")
    report = capsys.readouterr().out
    # ../shared/data/README.md and expected.json: counts of the released files.
    assert study_counts(Study.objects.get(name="realsumm")) == {
        "documents": 100, "systems": 25, "summaries": 2500, "SCUs": 1056, "check units": 544,
        "judgments": 123_888, "scores": 37_500,
    }  # fmt: skip
    assert Judgment.objects.filter(is_check=True).count() == 42_307
    assert Judgment.objects.filter(is_check=True, value=1).count() == 55
    assert "Systems pnbert_out_bert_lstm_pn and pnbert_out_bert_tf_pn have the same text for 23 of 100" in report
    assert "544 units are BLANK fillers" in report

    call_command("export_study", tmp_path / "a", name="realsumm")
    call_command("import_study", tmp_path / "a", name="again")
    call_command("export_study", tmp_path / "b", name="again")
    for name in ("documents.jsonl", "summaries.jsonl", "scus.csv", "judgments.csv", "scores.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    assert not Judgment.objects.filter(assignment__worker__pseudonym="a0001").exists()
    assert "a0001" not in (tmp_path / "a" / "judgments.csv").read_text()
