"""The wheel, outside the repository: start, demo, import, score, analyse, export; and from a script of anybody's."""

import http.cookiejar
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import lxml.html
import pytest

from deploy.setup.backend import build_wheel, map_imports, pins
from deploy.setup.pyramidion.cli import write_settings

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "-w", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def place(wheel, tmp_path_factory) -> Path:
    """An environment of its own with the wheel and what `pip install` brings along, and nothing else: no torch, no
    pyarrow. The libraries are the tests', linked one by one, so that nothing is downloaded."""
    folder = tmp_path_factory.mktemp("outside")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
    [packages] = (folder / "env").glob("lib/python*/site-packages")
    for pin in pins("start"):
        link_library(re.split(r"[=\[]", pin)[0], packages)
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile"]
    subprocess.run([*install, f"--prefix={folder / 'env'}", str(wheel)], check=True, capture_output=True)
    # The console command that pip wrote names the Python that ran pip.
    script = folder / "env" / "bin" / "pyramidion"
    script.write_text(re.sub(r"\A#!.*", f"#!{folder}/env/bin/python", script.read_text()))
    return folder


def link_library(name: str, packages: Path) -> None:
    distribution = metadata.distribution(name)
    for top in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
        (packages / top).symlink_to(distribution.locate_file(top))


def pyramidion(place: Path, *words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(place), "XDG_DATA_HOME": str(place / "data"), **environment}
    command = [place / "env" / "bin" / "pyramidion", *words]
    return subprocess.run(command, cwd=place, env=env, capture_output=True, text=True, check=False)


def test_it_is_built_without_anything_but_python_and_twice_the_same(wheel, tmp_path):
    assert wheel.name == "pyramidion_eval-0.1.0-py3-none-any.whl"
    build_wheel(str(tmp_path))
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        facts = archive.read("pyramidion_eval-0.1.0.dist-info/METADATA").decode()
    for part in (
        "templates/base.html",
        "locale/de/LC_MESSAGES/django.mo",
        "migrations/0001_start.py",
        "static/annotation",
    ):
        assert any(f"pyramidion/_site/annotation/{part}" in name for name in names), part
    assert not [name for name in names if "tests/" in name or name.endswith(".pyc")]
    assert {name.split("/")[0] for name in names} == {"pyramidion", "pyramidion_eval-0.1.0.dist-info"}
    required = re.findall(r"^Requires-Dist: (\S+)$", facts, re.MULTILINE)
    assert required == pins("start")
    assert not [pin for pin in required if pin.startswith(("torch", "pyarrow", "ray", "vl-convert"))]
    assert re.findall(r"^Provides-Extra: (\w+)$", facts, re.MULTILINE) == ["site", "models", "cluster", "postgres"]
    assert f"Requires-Dist: {pins('models')[0]}; extra == 'models'" in facts


def test_imports_are_mapped_and_nothing_else():
    source = 'from analysis.tables import x\n    from scoring import registry\n# from the analysis\nname = "analysis"\n'
    mapped = "from pyramidion.analysis.tables import x\n    from pyramidion.scoring import registry\n"
    assert map_imports(source) == mapped + '# from the analysis\nname = "analysis"\n'


def test_the_libraries_work_beside_modules_of_the_same_name(place):
    folder = place / "notebook"
    folder.mkdir()
    for name in ("analysis", "scoring"):
        (folder / f"{name}.py").write_text("raise SystemExit('somebody else wrote this')\n")
    shutil.copy(ROOT / "fixtures" / "demo" / "judgments.csv", folder)
    (folder / "work.py").write_text(
        "import sys\n"
        "from pyramidion import analysis, scoring\n"
        "from pyramidion.analysis.agreement import agreement\n"
        "frame = analysis.tables.read_table('judgments.csv', 'judgments')\n"
        "print(len(frame), scoring.registry.get('rouge-1-f').evaluate_example('a cat sat', 'the cat sat'))\n"
        "print(analysis.__doc__, scoring.__doc__, __import__('pyramidion').__doc__)\n"
        "assert not {'analysis', 'scoring', 'django'} & {name.split('.')[0] for name in sys.modules}\n"
    )
    command = [place / "env" / "bin" / "python", "work.py"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("3360 {'rouge-1-f': 0.66667}")
    assert "from pyramidion import analysis, scoring" in result.stdout


def free_port() -> int:
    """A port whose successor is free too: the marketplace takes that."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            try:
                second.bind(("127.0.0.1", first.getsockname()[1] + 1))
            except OSError:
                continue
            return int(first.getsockname()[1])


@pytest.fixture(scope="module")
def demo(place) -> Iterator[str]:
    """The address of `pyramidion demo` in a new home."""
    port = free_port()
    command = [place / "env" / "bin" / "pyramidion", "demo", "--home", place / "demo", "--port", str(port)]
    env = {"PATH": os.environ["PATH"], "HOME": str(place), "INSTALL_LIBRARIES": "no"}
    with (place / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=place, env=env, stdout=log, stderr=log)
    try:
        yield wait_for(f"http://127.0.0.1:{port}/", process, place / "log")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> str:
    for _ in range(600):
        assert process.poll() is None, log.read_text()
        try:
            urllib.request.urlopen(address).close()
        except OSError:
            time.sleep(0.2)
        else:
            return address
    raise AssertionError(log.read_text())


class Visitor:
    """Somebody with a browser without script: opens pages, fills in forms."""

    def __init__(self, address: str, account: str) -> None:
        self.browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        self.open(f"{address}sign-in/")
        self.send(self.form("password"), username=account, password="demo")

    def open(self, address: str, data: bytes | None = None) -> None:
        with self.browser.open(address, data) as answer:
            self.address, self.text = answer.url, answer.read().decode()
        self.page = lxml.html.fromstring(self.text, base_url=self.address)

    def form(self, word: str) -> lxml.html.FormElement:
        """The first form with the word in its address or in a field's name."""
        forms = [form for form in self.page.forms if form.method == "POST"]
        return next(form for form in forms if any(word in name for name in [form.action or "", *form.fields]))

    def send(self, form: lxml.html.FormElement, **answers: str) -> None:
        values = urllib.parse.urlencode({**dict(form.form_values()), **answers}).encode()
        self.open(urllib.parse.urljoin(self.address, form.action or ""), values)


def test_the_demo_is_served_from_a_home_of_the_users(place, demo):
    analyst = Visitor(demo, "analyst")
    assert "Demo: twelve stories" in analyst.text
    style = re.search(r'href="(/static/[^"]+\.css)"', analyst.text)[1]
    assert urllib.request.urlopen(demo.rstrip("/") + style).status == 200
    assert (place / "demo" / "demo.sqlite3").is_file()
    assert "demo" not in {path.name for path in place.glob("env/lib/python*/site-packages/pyramidion/_site/var")}


def test_a_summary_is_judged_before_anything_else_is_installed(place, demo):
    code = "from importlib.util import find_spec; print([name for name in {names} if find_spec(name)])"
    command = [
        place / "env" / "bin" / "python",
        "-c",
        code.format(names=["torch", "transformers", "pyarrow", "altair"]),
    ]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"
    annotator = Visitor(demo, "annotator")
    annotator.send(next(form for form in annotator.page.forms if "Rate along" in form.text_content()))
    while "/work/batch/" in annotator.address:  # consent, instructions
        annotator.send(annotator.page.xpath("//main//form")[0])
    form = annotator.form("answer:")
    radios = [field for field in form.inputs if field.get("type") == "radio"]
    assert radios
    annotator.send(form, **{field.name: field.get("value") for field in radios})
    assert "Received, thank you: 16 answers are stored." in annotator.text


def test_a_second_site_on_the_same_port_says_so(place, demo):
    port = urllib.parse.urlsplit(demo).port
    result = pyramidion(place, "demo", "--home", place / "demo", "--port", str(port))
    assert result.returncode == 2
    assert f"The site can't listen on 127.0.0.1:{port}: another program does." in result.stderr


def test_a_study_goes_in_is_scored_analysed_and_comes_out(place, tmp_path):
    home = place / "own"
    home.mkdir()
    (home / "env").write_text("DEMO=yes\n")
    folder = ROOT / "fixtures" / "demo"
    run = [("prepare",), ("import_study", str(folder), "--name", "Mine"), ("export_study", "out", "--name", "Mine")]
    for words in run:
        result = pyramidion(place, "manage", *words, PYRAMIDION_HOME=str(home))
        assert result.returncode == 0, result.stderr
    tables = ["--summaries", "out/summaries.jsonl", "--documents", "out/documents.jsonl"]
    result = pyramidion(place, "score", "run", *tables, "--metrics", "rouge-1-f", "--out", "scores.csv")
    assert result.returncode == 0, result.stderr
    result = pyramidion(place, "analyse", "agreement", "out/judgments.csv", "--json")
    assert '"value": 0.47' in result.stdout
    assert len((place / "scores.csv").read_text().splitlines()) == 73


def test_a_start_of_ones_own_makes_an_account_once(place):
    """Also where the very first start was cut short. Up to the point where it would serve: the port is taken."""
    write_settings(place / "new", 8000, demo=False)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        words = ("start", "--home", place / "new", "--port", str(taken.getsockname()[1]))
        first, second = pyramidion(place, *words), pyramidion(place, *words)
    assert re.search(r"Sign in as admin with the password \S+ \(said only this once", first.stdout)
    assert "password" not in second.stdout
    assert "another program does" in second.stderr
    assert (place / "new" / "env").stat().st_mode & 0o077 == 0


def test_what_can_not_be_is_said_in_a_sentence(place):
    result = pyramidion(place, "start", "--home", "/proc/nowhere")
    assert (result.returncode, result.stdout) == (2, "")
    assert "Nothing can be written to /proc/nowhere" in result.stderr
    assert "Traceback" not in result.stderr
    assert "There is no command fly" in pyramidion(place, "fly").stderr
