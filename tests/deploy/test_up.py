"""`python -m deploy.up`: var/env reaches every process, one that ends is started again, all end together."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The program itself, with two processes of ours instead of the site and its companions, and shorter pauses.
RUN = """
import sys
from deploy import up
up.PROCESSES = {"fragile": [sys.executable, "-c", sys.argv[1]], "steady": [sys.executable, "-c", sys.argv[2]]}
up.FIRST_PAUSE = 0.3
up.refusal = lambda environment: ""  # another site may be running
up.bring_the_rest = lambda environment: None
sys.exit(up.main())
"""
NOTE = "import os, sys, time; open({file!r}, 'a').write(f'{{os.getpid()}} {{time.time()}}\\n')"


def starts(file: Path) -> list[list[str]]:
    """The process id and the time of every start that a process has noted."""
    return [line.split() for line in file.read_text().splitlines()] if file.exists() else []


def wait_until(is_true: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not is_true():
        assert time.monotonic() < end, "it did not happen within 20 seconds"
        time.sleep(0.05)


@contextmanager
def up(fragile: str, steady: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
    env = {**os.environ, **variables}
    command = [sys.executable, "-c", RUN, fragile, steady]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, env=env, text=True, **pipes) as process:
        try:
            yield process
        finally:
            process.terminate()


def test_every_process_gets_what_stands_in_the_settings_file(tmp_path):
    settings, noted = tmp_path / "env", tmp_path / "noted"
    settings.write_text("BIND=127.0.0.1:8123\nWEB_THREADS=7\n")
    names = "('BIND', 'WEB_THREADS')"
    script = f"import json, os, time; file = open({str(noted)!r}, 'w')\n"
    script += f"file.write(json.dumps([os.environ.get(name) for name in {names}])); file.close(); time.sleep(60)"
    steady = "import time; time.sleep(60)"
    with up(script, steady, ENV_FILE=str(settings), WEB_THREADS="3") as process:  # the process's own wins
        assert process.stdout.readline() == "== Pyramidion: http://127.0.0.1:8123   (stop with Ctrl-C)\n"
        wait_until(lambda: noted.exists() and noted.read_text().endswith("]"))
    assert json.loads(noted.read_text()) == ["127.0.0.1:8123", "3"]


def test_a_process_that_ends_is_started_again_after_a_growing_pause_and_the_others_go_on(tmp_path):
    fragile, steady = tmp_path / "fragile", tmp_path / "steady"
    note_and_end = NOTE.format(file=str(fragile)) + "; sys.exit(3)"
    with up(note_and_end, NOTE.format(file=str(steady)) + "; time.sleep(60)", ENV_FILE=os.devnull) as process:
        wait_until(lambda: len(starts(fragile)) >= 4)
        [[steady_pid, _time]] = starts(steady)
        os.kill(int(steady_pid), 0)  # raises where it does not run
        process.send_signal(signal.SIGTERM)
        errors = process.communicate(timeout=30)[1]
    assert process.returncode == 0
    times = [float(moment) for _pid, moment in starts(fragile)]
    pauses = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert pauses[0] >= 0.3
    assert pauses[1] >= 0.6
    assert pauses[2] >= 1.2
    assert "The fragile ended by itself (exit code 3); it starts again in 0.3 s." in errors
    assert "it starts again in 0.6 s." in errors
    assert len(starts(steady)) == 1
    assert not Path(f"/proc/{steady_pid}").exists()  # ended with us
