"""The client and the notebook in docs/examples run as they stand, against a live server."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from annotation.accounts.api_tokens import issue_token
from annotation.models import User
from tests.annotation.demo_study import load_written

pytestmark = pytest.mark.django_db(transaction=True)

EXAMPLES = Path(__file__).resolve().parents[3] / "docs" / "examples"


def cells(notebook: Path) -> list[str]:
    notebook_cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in notebook_cells if cell["cell_type"] == "code"]


def test_the_notebook_goes_from_a_token_to_a_figure(live_server, tmp_path):
    study = load_written()
    token = issue_token(User.objects.get(username="analyst"), "notebook", ["read", "write"], 7).token
    code = cells(EXAMPLES / "token-to-figure.ipynb")
    # The client's writing half, and its answer to what is refused, in the same process.
    code.append(
        "from client import ApiError\n"
        "print(study.score('rouge-2-f')['message'])\n"
        "assert study.report()['verdict']\n"
        "try:\n    client.study('nothing').client.call('GET', '/studies/nothing')\n"
        "except ApiError as error:\n    print(error)\n"
    )
    figure = tmp_path / "figure.svg"
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("DJANGO")},
        "PYRAMIDION_URL": live_server.url,
        "PYRAMIDION_TOKEN": token,
        "PYRAMIDION_STUDY": study.slug,
        "FIGURE": str(figure),
    }
    process = subprocess.run(
        [sys.executable, "-c", "\n\n".join(code)],
        cwd=EXAMPLES,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    assert "3,360 judgments by" in process.stdout  # fixtures/README.md
    assert "rouge-1-r" in process.stdout
    assert "scores are stored" in process.stdout
    assert "404: There is no such study" in process.stdout
    assert figure.read_text().startswith("<svg")
    # The axis says Kendall's tau, so it must be that which was worked out (Pearson's r is the library's default).
    assert "Kendall" in figure.read_text()
    assert any('coefficient="kendall"' in cell for cell in code)
    assert "litepyramid_recall" not in process.stdout


def test_the_client_needs_nothing_but_the_standard_library():
    tree = ast.parse((EXAMPLES / "client.py").read_text())
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert {str(name).split(".")[0] for name in modules} <= set(sys.stdlib_module_names)
