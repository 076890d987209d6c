"""The six written systems of `fixtures/demo` as a study like the demo's; its figures stand in fixtures/README."""

from pathlib import Path

from annotation.demo import fill_study, import_with_accounts
from annotation.models import Study

STUDY = "Twelve stories, six systems"
FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "demo"


def load_written() -> Study:
    """The study with the demo's accounts, batches and ROUGE-1."""
    study = import_with_accounts(FOLDER, STUDY)
    fill_study(study, ["rouge-1-f", "rouge-1-r", "rouge-1-p"])
    return study
