"""Files as people have them: recognised, shown, read as their sender says; or refused with where and what to do."""

import codecs
import csv
import io
import zipfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from openpyxl import Workbook

from annotation.models import Job, Membership, Role, Score, Study
from annotation.transfer.importing import uploads
from annotation.transfer.importing.reading import folder_of
from annotation.transfer.importing.recognise.plan import look_into
from annotation.transfer.importing.recognise.text_files import encoding_of, separator_of
from annotation.transfer.importing.templates import NAMES, TEMPLATES, template
from tests.factories import make_member, make_study, make_user

pytestmark = pytest.mark.django_db(transaction=True)

DOCUMENTS = [["doc_id", "source", "reference"], ["1", "Käse über alles; sagt er.", "Käse."], ["2", "Öl.", "Ölig."]]
SUMMARIES = [["doc_id", "system", "summary"], ["1", "a", "Großer Käse."], ["2", "a", "Mehr Öl, bitte."]]


@pytest.fixture
def admin(client):
    user = make_member(make_study(), Role.ADMIN)
    client.force_login(user)
    return user


def text(rows: list[list[str]], separator: str = ",", encoding: str = "utf-8") -> bytes:
    stream = io.StringIO()
    csv.writer(stream, delimiter=separator).writerows(rows)
    return stream.getvalue().encode(encoding)


def workbook(**sheets: list[list[object]]) -> bytes:
    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def packed(**files: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "."), content)
    return stream.getvalue()


def send(client, files: dict[str, bytes], **form: str):
    sent = [SimpleUploadedFile(name, content) for name, content in files.items()]
    return client.post("/new-study/", {"name": "Mine", "files": sent, **form})


def again(client, **form: str):
    return client.post(f"/new-study/{Job.objects.latest('pk').pk}/again/", form)


def stored() -> tuple[dict[str, str], dict[str, str]]:
    study = Study.objects.get(name="Mine")
    documents = {document.doc_id: document.source for document in study.documents.all()}
    return documents, {
        summary.document.doc_id: summary.text for d in study.documents.all() for summary in d.summaries.all()
    }


TEXTS = ({"1": "Käse über alles; sagt er.", "2": "Öl."}, {"1": "Großer Käse.", "2": "Mehr Öl, bitte."})
FORMS = {
    "semicolons": (";", "utf-8", "separated by semicolons"),
    "tabs": ("\t", "utf-8", "separated by tabs"),
    "utf-16": ("\t", "utf-16", "letters are UTF-16"),
    "utf-16 without its mark": (",", "utf-16-le", "letters are utf-16-le"),
    "latin-1": (";", "latin-1", "letters are Latin-1 (Windows-1252)"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_file_in_another_form_is_recognised_asked_about_and_read(client, admin, form):
    separator, encoding, sentence = FORMS[form]
    files = {
        "documents.csv": text(DOCUMENTS, separator, encoding),
        "summaries.csv": text(SUMMARIES, separator, encoding),
    }
    answer = send(client, files)
    page = answer.content.decode()
    assert answer.status_code == 200
    assert sentence.casefold() in page.casefold()
    assert "read it so?" in page
    assert "Käse über alles; sagt er." in page  # the texts are seen before anything is made
    assert not Study.objects.filter(name="Mine").exists()
    assert again(client).status_code == 302
    assert stored() == TEXTS
    assert not folder_of(Job.objects.latest("pk").options["key"]).exists()


def test_plain_files_are_read_without_a_question(client, admin):
    answer = send(client, {"documents.csv": text(DOCUMENTS), "summaries.csv": text(SUMMARIES)})
    assert answer.status_code == 302
    assert stored() == TEXTS


def test_a_workbook_with_a_sheet_for_every_table_is_read(client, admin):
    numbers = [[int(cell) if cell.isdecimal() else cell for cell in row] for row in DOCUMENTS]
    answer = send(client, {"study.xlsx": workbook(documents=numbers, summaries=SUMMARIES, Notes=[["mine alone"]])})
    page = answer.content.decode()
    assert "study.xlsx, documents is read as the documents table" in page
    assert "study.xlsx, Notes was not read" in page
    assert again(client).status_code == 302
    assert stored() == TEXTS  # the id 1 that Excel keeps as a number is the id 1 of the text


def test_columns_of_other_names_are_mapped_by_name_or_by_hand(client, admin):
    documents = [["Article ID", "Article", "Gold"], *DOCUMENTS[1:]]
    summaries = [["Doc", "Who", "Output"], *SUMMARIES[1:]]
    answer = send(client, {"articles.csv": text(documents), "system_outputs.csv": text(summaries)})
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "system_outputs.csv, column system: found no column for it" in page
    assert "<option selected>Article ID</option>" in page
    form = {"kind:1": "summaries", "column:1:system": "Who"}
    assert "Nothing looks wrong." not in again(client, **form, check="1").content.decode()
    assert again(client, **form).status_code == 302
    assert stored() == TEXTS
    assert Study.objects.get(name="Mine").systems.get().name == "a"


def test_a_comma_in_a_number_is_a_decimal_where_semicolons_separate(client, admin):
    scores = [["doc_id", "system", "metric", "value"], ["1", "a", "m", "0,25"], ["2", "a", "m", "-1,5"]]
    files = {"documents.csv": text(DOCUMENTS), "summaries.csv": text(SUMMARIES), "scores.csv": text(scores, ";")}
    send(client, files)
    assert again(client).status_code == 302
    assert sorted(Score.objects.filter(study__name="Mine").values_list("value", flat=True)) == [-1.5, 0.25]


def test_a_zip_is_unpacked_and_only_its_own_files_count(client, admin):
    content = packed(
        **{
            "data/documents.csv": text(DOCUMENTS),
            "../summaries.csv": text(SUMMARIES),
            "__MACOSX/._x": b"no",
            ".DS": b"n",
        }
    )
    assert send(client, {"all.zip": content}).status_code == 302
    assert stored() == TEXTS


def test_the_templates_make_a_study_as_they_are(client, admin, tmp_path):
    for name in NAMES:
        answer = client.get(f"/new-study/templates/{name}")
        assert (answer.status_code, answer.content) == (200, answer.content)
        assert name in answer["Content-Disposition"]
    assert client.get("/new-study/templates/other.csv").status_code == 404
    assert send(client, {f"{kind}.csv": template(f"{kind}.csv") for kind in TEMPLATES}).status_code == 302
    assert Study.objects.get(name="Mine").documents.count() == 2
    send(client, {"study.xlsx": template("study.xlsx")}, name="From Excel")
    assert again(client).status_code == 302
    assert Study.objects.get(name="From Excel").systems.count() == 2


# What can't be read


def broken(files: dict[str, bytes], **others: bytes) -> dict[str, bytes]:
    return {"documents.csv": text(DOCUMENTS), "summaries.csv": text(SUMMARIES), **files, **others}


LONG = "x" * 32_768
REFUSALS = {
    "ragged": (
        {"summaries.csv": b'doc_id,system,summary\n1,a,"two\nlines"\n2,a\n'},
        "found 2 cells in line 4, expected 3",
    ),
    "ragged semicolons": (
        {"summaries.csv": b"doc_id;system;summary\n1;a;b\n2;a\n"},
        "found 2 cells in line 3, expected 3",
    ),
    "an open quote": (
        {"summaries.csv": b'doc_id;system;summary\n1;a;b\n2;a;"b\n'},
        "never closed in line 3 or behind it",
    ),
    "old excel": ({"summaries.xls": b"\xd0\xcf\x11\xe0rest"}, "choose File, Save As, “Excel Workbook (.xlsx)”"),
    "with a password": ({"summaries.xlsx": b"\xd0\xcf\x11\xe0rest"}, "one with a password"),
    "no workbook": ({"summaries.xlsx": b"doc_id,system"}, "can&#x27;t be read as an Excel workbook"),
    "half a workbook": ({"summaries.xlsx": workbook(a=SUMMARIES)[:-200]}, "can&#x27;t be read as an Excel workbook"),
    "another zip": ({"summaries.xlsx": packed(a__txt=b"x")}, "can&#x27;t be read as an Excel workbook"),
    "half a zip": ({"more.zip": packed(a__csv=b"x" * 5000)[:60]}, "more.zip is damaged or locked"),
    "a zip within": ({"more.zip": packed(inner__zip=packed(a__csv=b"x"))}, "a zip within a zip"),
    "twice": ({"more.zip": packed(documents__csv=b"x")}, "“documents.csv” is there twice"),
    "too many": ({"more.zip": packed(**{f"f{n}__csv": b"x" for n in range(11)})}, "more.zip holds 11 files, and 10"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_what_can_not_be_read_says_where_and_what_to_do(client, admin, case):
    files, sentence = REFUSALS[case]
    kept = {"documents.csv": text(DOCUMENTS)} if any(name.startswith("summaries") for name in files) else broken({})
    answer = send(client, {**kept, **files})
    page = answer.content.decode()
    assert answer.status_code == 409
    assert sentence in page
    assert "CSV UTF-8 (comma delimited)" in page or "Excel Workbook" in page
    assert Study.objects.count() == 1


def test_bombs_and_huge_cells_are_refused_with_a_sentence(client, admin, monkeypatch):
    monkeypatch.setattr(uploads, "MOST_UNPACKED_MB", 1)
    bomb = packed(documents__csv=b"0" * 3_000_000)
    assert (
        "Unpacked, documents.csv is far too large. Nothing was made." in send(client, {"a.zip": bomb}).content.decode()
    )
    book = workbook(documents=[["doc_id", "source", "reference"], *[[str(n), "x" * 9000, "y"] for n in range(200)]])
    assert "Unpacked, study.xlsx is far too large." in send(client, {"study.xlsx": book}).content.decode()
    monkeypatch.undo()
    book = workbook(documents=[*DOCUMENTS, ["3", "short", "y"]], summaries=SUMMARIES)
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["xl/worksheets/sheet1.xml"] = parts["xl/worksheets/sheet1.xml"].replace(b"short", LONG.encode())
    page = send(client, {"study.xlsx": packed(**parts)}).content.decode()
    assert "a cell of 32,768 characters in row 4 of the sheet" in page
    assert Study.objects.count() == 1


def test_a_cell_as_long_as_excel_allows_is_told_of(client, admin):
    book = workbook(documents=[*DOCUMENTS, ["3", LONG[:-1], "y"]], summaries=SUMMARIES)
    page = send(client, {"study.xlsx": book}).content.decode()
    assert "1 cells are as long as Excel lets them be, the first in row 4" in page


def test_files_of_a_look_are_the_senders_alone_and_end_after_a_day(client, admin):
    send(client, {"documents.csv": text(DOCUMENTS, ";"), "summaries.csv": text(SUMMARIES)})
    job = Job.objects.latest("pk")
    client.force_login(make_member(make_study(), Role.ADMIN))
    assert client.post(f"/new-study/{job.pk}/again/").status_code == 404
    client.force_login(admin)
    folder = folder_of(job.options["key"])
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    answer = client.post(f"/new-study/{job.pk}/again/")
    assert answer.status_code == 409
    assert "These files are no longer here. Nothing was made: send them again." in answer.content.decode()


def test_same_texts_are_one_line_with_a_list(client, admin):
    rows = [["doc_id", "system", "summary"], *[["1", system, "Same."] for system in "abc"]]
    page = send(client, {"documents.csv": text(DOCUMENTS), "summaries.csv": text(rows)}, check="1").content.decode()
    assert page.count("3 pairs of systems have the same text for some documents, 3 of them for every document") == 1
    assert "<summary>Which systems have the same texts</summary>" in page
    assert "Systems a and c have the same text for 1 of 1 documents" in page


# The command


def write(folder: Path, **files: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_bytes(content)
    return folder


def test_the_command_recognises_the_same_and_makes_its_maker_admin(tmp_path, capsys):
    user = make_user()
    folder = write(
        tmp_path / "in", documents__csv=text(DOCUMENTS, ";", "cp1252"), summaries__xlsx=workbook(s=SUMMARIES)
    )
    call_command("import_study", folder, name="Mine", admin=user.username)
    assert (
        "documents.csv is read as the documents table, separated by semicolons, in Latin-1" in capsys.readouterr().out
    )
    assert stored() == TEXTS
    membership = Membership.objects.get(study__name="Mine")
    assert (membership.user, membership.role) == (user, Role.ADMIN)
    with pytest.raises(CommandError, match="There is no account 'nobody'"):
        call_command("import_study", folder, name="Other", admin="nobody")
    assert not Study.objects.filter(name="Other").exists()


def test_separators_and_letters_are_told_apart(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(codecs.BOM_UTF8 + text(DOCUMENTS))
    assert (encoding_of(path), separator_of(path, "utf-8", ["docid"])) == ("utf-8", ",")
    path.write_bytes(b"sep=|\r\ndoc_id|source\r\n1|a,b;c\r\n")
    assert separator_of(path, "utf-8", ["docid"]) == "|"
    [table] = look_into(tmp_path)
    assert (table.columns, table.rows) == (["doc_id", "source"], [["1", "a,b;c"]])


def test_a_file_called_as_its_table_is_that_table_whatever_else_looks_like_it(tmp_path):
    header = "doc_id,system,unit,worker_id,value\n"
    for name in ("judgments.csv", "judgments_kept.csv"):
        (tmp_path / name).write_text(f"{header}d1,s1,u1,w1,1\n")
    assert {table.file: table.kind for table in look_into(tmp_path)} == {
        "judgments.csv": "judgments",
        "judgments_kept.csv": "",
    }
    chosen = look_into(tmp_path, {"kind:1": "judgments"})
    assert [table.kind for table in chosen] == ["judgments", "judgments"]  # refused as doubled, in a sentence


def test_letters_that_no_database_stores_are_shown_as_a_sign(tmp_path):
    (tmp_path / "documents.csv").write_bytes(b"doc_id;text\x00;references\nd1;a\x00b;r\n")
    (tmp_path / "summaries.jsonl").write_text('{"doc_id": "d\\u0000", "system": "s", "summary\\ud800": "x"}\n')
    documents, summaries = look_into(tmp_path)
    assert "text\ufffd" in documents.columns
    assert "a\ufffdb" in documents.rows[0]
    assert "summary\ufffd" in summaries.columns
    assert summaries.rows[0][0] == "d\ufffd"
