"""Before anything is started: a taken port, a folder that can't be written, a Python or a home of another time."""

import ast
import os
import shutil
import socket
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from django.core.management import CommandError

from annotation.common import libraries
from deploy.environment import Environment
from deploy.setup import start

ROOT = Path(__file__).resolve().parents[2]


def test_a_taken_port_is_named_with_what_to_do():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        sentence = start.refusal(Environment({"BIND": "127.0.0.1:0", "MARKETPLACE_BIND": address}))
    assert sentence.startswith(f"The marketplace can't listen on {address}: another program does.")
    assert "MARKETPLACE_BIND=127.0.0.1:" in sentence


def test_nothing_is_brought_where_the_operator_does_not_allow_it(monkeypatch):
    monkeypatch.setattr(libraries, "missing", lambda part: ["torch==1"])
    assert start.bring_the_rest(Environment({"DEMO": "no"})) is None
    assert start.bring_the_rest(Environment({"DEMO": "yes", "INSTALL_LIBRARIES": "no"})) is None
    processes = {"site": ["a"], "worker": ["b"]}
    assert start.commands(Environment({}), processes) == processes


def test_the_worker_waits_for_its_libraries_and_the_site_does_not(monkeypatch):
    monkeypatch.setattr(libraries, "missing", lambda part: ["altair==1"])
    words = start.commands(Environment({"DEMO": "yes"}), {"site": ["a"], "worker": ["b"]})
    assert words == {"site": ["a"], "worker": [sys.executable, "-m", "deploy.setup.start", "b"]}


def test_a_process_that_lacks_a_library_nobody_may_install_is_left_out_with_a_sentence(monkeypatch, capsys):
    monkeypatch.setattr(libraries, "missing", lambda part: ["botocore==1"])
    monkeypatch.setattr(start, "find_spec", lambda name: None)
    processes = {"site": ["a"], "worker": ["b"], "marketplace": ["c"]}
    words = start.commands(Environment({"DEMO": "yes", "INSTALL_LIBRARIES": "no"}), processes)
    assert words == {"site": ["a"], "worker": ["b"]}
    assert capsys.readouterr().err == (
        "The marketplace is not started: it needs botocore, and INSTALL_LIBRARIES is off. "
        "`make site` brings it; the rest runs without.\n"
    )
    monkeypatch.undo()  # botocore is here: nothing is left out
    assert start.commands(Environment({"DEMO": "yes", "INSTALL_LIBRARIES": "no"}), processes) == processes


def test_the_marketplace_without_its_library_says_so_in_a_sentence(monkeypatch):
    module = "annotation.marketplace.management.commands.marketplace"
    monkeypatch.setattr(f"{module}.find_spec", lambda name: None)
    with pytest.raises(CommandError, match=r"The marketplace needs botocore .* Nothing was started"):
        import_module(module).Command().handle(action="serve", words=[], bind=None, top_up=None)


@pytest.mark.parametrize(("allowed", "code"), [(">=3.11,<3.99", 0), (">=3.90,<3.99", 1), (">=3.1,<3.3", 1)])
def test_a_python_too_old_or_too_new_is_refused_in_a_sentence(tmp_path, allowed, code):
    (tmp_path / "deploy" / "setup").mkdir(parents=True)
    shutil.copy(ROOT / "deploy" / "setup" / "python_version.py", tmp_path / "deploy" / "setup")
    (tmp_path / "pyproject.toml").write_text(f'requires-python = "{allowed}"\n')
    command = [sys.executable, tmp_path / "deploy" / "setup" / "python_version.py"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == code
    assert ("Pyramidion runs on Python 3." in result.stderr) == bool(code)


def test_python_2_can_read_what_refuses_it():
    tree = ast.parse((ROOT / "deploy" / "setup" / "python_version.py").read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert [
        node.name for node in functions if node.returns or any(argument.annotation for argument in node.args.args)
    ] == []
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr | ast.AnnAssign)]


def prepare(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "PYRAMIDION_HOME": str(home), "DEMO": "yes", "ENV_FILE": os.devnull}
    command = [sys.executable, "manage.py", *words]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def test_a_home_is_made_ready_once_and_one_of_a_newer_program_is_left_alone(tmp_path):
    assert prepare(tmp_path, "prepare").returncode == 0
    stamp = tmp_path / "static" / ".collected"
    written = stamp.stat().st_mtime_ns
    assert prepare(tmp_path, "prepare").returncode == 0
    assert stamp.stat().st_mtime_ns == written  # nothing had changed, so nothing was collected again
    newer = "INSERT INTO django_migrations (app, name, applied) VALUES ('annotation', '9999_later', '2030-01-01')"
    code = f"from django.db import connection; connection.cursor().execute({newer!r})"
    assert prepare(tmp_path, "shell", "--verbosity", "0", "--command", code).returncode == 0
    result = prepare(tmp_path, "prepare")
    assert result.returncode == 2
    assert "was written by a newer Pyramidion (it knows annotation 9999_later)" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_home_that_can_not_be_written_is_said_in_a_sentence():
    result = prepare(Path("/proc/nowhere"), "prepare")
    assert result.returncode == 1
    assert "Nothing can be written to /proc/nowhere" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_crowd_of_the_demo_comes_in_the_demo_only():
    assert start.begin_demo(Environment({"DEMO": "no"})) is None
