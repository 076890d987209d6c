"""`make test`: every pass runs whatever came of the others, and the end says what failed and what was skipped."""

from pathlib import Path

import pytest

from tests import passes
from tests.passes import Outcome, Pass, summary


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two passes of one file each in place of ours: the first fails."""
    (tmp_path / "test_first.py").write_text("def test_wrong():\n    assert False\n\ndef test_sound():\n    pass\n")
    (tmp_path / "test_second.py").write_text(
        "import pytest\n\ndef test_sound():\n    pass\n\n"
        "@pytest.mark.skip(reason='needs a thing: apt-get install thing')\ndef test_lacking():\n    pass\n"
    )
    names = ("first", "second")
    plain = ["-c", "/dev/null", "-p", "no:cacheprovider", f"--rootdir={tmp_path}"]
    monkeypatch.setattr(
        passes, "PASSES", {n: lambda n=n: Pass(n, [*plain, str(tmp_path / f"test_{n}.py")]) for n in names}
    )
    monkeypatch.setattr(passes, "WHOLE", names)
    monkeypatch.setenv("WORKERS", "0")
    return tmp_path


def test_a_failing_pass_does_not_hide_the_others(suite, capfd):
    assert passes.main([]) == 1
    out = capfd.readouterr().out.splitlines()
    assert "== Tests of second" in out
    assert "FAILED test_first.py::test_wrong (first)" in out
    assert "skipped 1: needs a thing: apt-get install thing" in out
    assert out[-1].startswith("== 2 tests passed, 1 failed, 1 were skipped; 1 of 2 passes are green")


def test_a_file_that_can_not_be_read_is_named_and_hides_nothing(suite, capfd):
    (suite / "test_first.py").write_text("import no_such_library\n")
    assert passes.main([]) == 2  # pytest calls that interrupted
    out = capfd.readouterr().out.splitlines()
    assert "FAILED test_first.py (first)" in out
    assert out[-1].endswith("s)")
    assert "1 of 2 passes are green" in out[-1]


def test_a_pass_may_be_run_alone_and_its_words_go_to_pytest(suite, capfd):
    assert passes.main(["first", "--", "-k", "sound"]) == 0
    assert capfd.readouterr().out.splitlines()[-1].startswith("== 1 tests passed, 0 failed, 0 were skipped; 1 of 1")
    assert passes.main(["third"]) == 2
    assert "There is no pass third; there are first, second." in capfd.readouterr().err


def test_a_pass_that_cannot_run_says_what_brings_it(monkeypatch, capfd):
    monkeypatch.setattr(passes, "find", lambda: None)
    monkeypatch.delenv("CI", raising=False)
    assert passes.run(passes.site_postgres(), []).code == 0
    assert "as root tests/prepare.sh installs and starts one" in capfd.readouterr().out
    monkeypatch.setenv("CI", "1")
    assert passes.run(passes.site_postgres(), []).code == 1


def test_a_pytest_that_dies_is_no_success():
    outcome = passes.run(Pass("dying", ["--no-such-option"]), [])
    lines = summary([outcome, Outcome("fine", 0, 5)], 61)
    assert lines == [
        "FAILED dying: pytest ended with exit code 4, see above",
        "== 5 tests passed, 0 failed, 0 were skipped; 1 of 2 passes are green (1 min 1 s)",
    ]
