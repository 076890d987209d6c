"""What a browser loads: scripts under hashed names, all named at once, and pages compressed."""

import gzip
import re

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.judging.leases import lease_task
from annotation.models import Worker
from annotation.templatetags.modules import module_names
from tests.factories import make_batch, make_member, make_study

IMPORT = re.compile(r'^(?:import|export)\b.*"(\.[^"]+)"', re.MULTILINE)


def test_every_import_of_a_hashed_script_has_a_hash(settings, tmp_path):
    settings.STATIC_ROOT = str(tmp_path)
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "deploy.setup.static_files.HashedFilesStorage"},
    }
    call_command("collectstatic", interactive=False, verbosity=0)
    scripts = [path for path in tmp_path.glob("annotation/**/*.js") if re.search(r"\.[0-9a-f]{12}\.js$", path.name)]
    imports = [(path, name) for path in scripts for name in IMPORT.findall(path.read_text())]
    assert len(imports) > 30
    for path, name in imports:
        assert re.search(r"\.[0-9a-f]{12}\.js$", name), f"{path.name} imports {name}"
        assert (path.parent / name).resolve().is_file()


def test_a_script_is_named_with_all_that_it_imports():
    names = module_names("annotation/scus/scu.js")
    assert {"annotation/scus/editor.js", "annotation/judging/engine.js", "annotation/judging/transport.js"} < set(names)
    assert len(names) == len(set(names))


@pytest.mark.django_db
@pytest.mark.parametrize("protocol", ["litepyramid", "likert", "scu"])
def test_a_work_page_names_its_scripts_in_the_head(client, protocol):
    page = work_page(client, protocol).content.decode()
    script = re.search(r'<script type="module" src="([^"]+)"></script>\s*</main>', page)[1]
    head = page.partition("</head>")[0]
    assert f'<link rel="modulepreload" href="{script}">' in head
    assert "judging/transport" in head


@pytest.mark.django_db
def test_pages_are_compressed_for_those_who_say_that_they_can_read_it(client):
    plain = work_page(client, "litepyramid")
    packed = client.get(plain.request["PATH_INFO"], headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert len(packed.content) * 2 < len(plain.content)
    assert b"Which statements does the summary make?" in gzip.decompress(packed.content)


def work_page(client, protocol: str):
    batch = make_batch(make_study(), protocol=protocol)
    user = make_member(batch.study)
    client.force_login(user)
    key = lease_task(batch, Worker.for_user(batch.study, user)).key
    return client.get(reverse("task", args=[key]))
