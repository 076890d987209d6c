"""`python -m deploy.up`: what stands in var/env reaches every process, and all end together."""

import json
import sys

from deploy import up


def test_every_process_gets_what_stands_in_the_settings_file(tmp_path, monkeypatch, capfd):
    settings = tmp_path / "env"
    settings.write_text("BIND=127.0.0.1:8123\nWEB_THREADS=7\n")
    monkeypatch.setenv("ENV_FILE", str(settings))
    monkeypatch.setenv("WEB_THREADS", "3")  # the process's own wins
    print_environment = "import json, os; print(json.dumps([os.environ.get(name) for name in ('BIND', 'WEB_THREADS')]))"
    monkeypatch.setattr(up, "PROCESSES", {"site": [sys.executable, "-c", print_environment]})
    monkeypatch.setattr(up.signal, "signal", lambda *_: None)
    assert up.main() == 1  # one ended by itself
    out, err = capfd.readouterr()
    assert json.loads(out) == ["127.0.0.1:8123", "3"]
    assert "The site ended by itself (exit code 0); everything was stopped." in err
