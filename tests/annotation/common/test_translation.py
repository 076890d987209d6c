"""The German texts: complete, true to their placeholders, compiled, and shown to whoever asks for German."""

import ast
import gettext
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest
from django.utils import formats, translation

from annotation.common.money import amount
from tests.browser.looking import markup
from tests.factories import make_batch, make_member, make_study

ROOM = Path(__file__).resolve().parents[3] / "annotation"
PO = ROOM / "locale" / "de" / "LC_MESSAGES" / "django.po"
MO = PO.with_suffix(".mo")
GERMAN = {"accept-language": "de"}

_FIELD = re.compile(r'(msgctxt|msgid_plural|msgid|msgstr(?:\[\d\])?) (".*")')
_PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%%|\{\w+\}|</?\w+[^>]*>")
_TRANSLATE = re.compile(r"""\{%-?\s*trans(?:late)?\s+(["'])(.*?)\1(?:\s+context\s+(["'])(.*?)\3)?""")
_ARGUMENT = re.compile(r"""[:=\s]_\((["'])(.*?)\1\)""")
_BLOCK = re.compile(r"\{%\s*blocktrans(?:late)?\b([^%]*)%\}(.*?)\{%\s*endblocktrans(?:late)?\s*%\}", re.DOTALL)
_TAG = re.compile(r"</?\w+[^>]*>")
_PLURAL = re.compile(r"\{%\s*plural\s*%\}")
_MARKERS = {"gettext", "gettext_lazy", "gettext_noop", "ngettext", "ngettext_lazy"}


@dataclass(frozen=True)
class Entry:
    """One message of the .po file; `texts` are its German forms, one or one per plural form."""

    context: str
    msgid: str
    plural: str
    texts: tuple[str, ...]
    is_fuzzy: bool

    @property
    def key(self) -> str:
        """The name under which gettext keeps it."""
        return f"{self.context}\x04{self.msgid}" if self.context else self.msgid


def parse(text: str) -> list[Entry]:
    return [entry for block in text.split("\n\n") if (entry := _entry(block)) is not None]


def _entry(block: str) -> Entry | None:
    fields: dict[str, str] = {}
    name = ""
    for line in block.splitlines():
        if line.startswith("#"):
            continue
        if match := _FIELD.fullmatch(line):
            name = match[1]
        fields[name] = fields.get(name, "") + ast.literal_eval(match[2] if match else line)
    if "msgid" not in fields:
        return None  # a comment, or a message that is in use no more
    texts = tuple(value for key, value in fields.items() if key.startswith("msgstr"))
    is_fuzzy = bool(re.search("^#,.*fuzzy", block, re.M))
    return Entry(fields.get("msgctxt", ""), fields["msgid"], fields.get("msgid_plural", ""), texts, is_fuzzy)


ENTRIES = parse(PO.read_text(encoding="utf-8"))
MESSAGES = [entry for entry in ENTRIES if entry.msgid]
KNOWN = {entry.key for entry in MESSAGES}


def test_the_header_names_language_charset_and_plural_forms():
    (header,) = [entry for entry in ENTRIES if not entry.msgid]
    assert not header.is_fuzzy
    assert "Language: de\n" in header.texts[0]
    assert "charset=UTF-8\n" in header.texts[0]
    assert "Plural-Forms: nplurals=2; plural=(n != 1);\n" in header.texts[0]


def test_no_message_is_empty_fuzzy_or_there_twice():
    assert len(MESSAGES) > 500
    assert [entry.msgid for entry in MESSAGES if entry.is_fuzzy] == []
    assert [entry.msgid for entry in MESSAGES if not all(text.strip() for text in entry.texts)] == []
    assert [entry.msgid for entry in MESSAGES if len(entry.texts) != (2 if entry.plural else 1)] == []
    assert len(KNOWN) == len(MESSAGES)


def placeholders(text: str) -> list[str]:
    return sorted(_PLACEHOLDER.findall(text))


def pairs(entry: Entry) -> list[tuple[str, str]]:
    sources = (entry.msgid, entry.plural) if entry.plural else (entry.msgid,)
    return list(zip(sources, entry.texts, strict=True))


def test_placeholders_and_tags_agree():
    all_pairs = [pair for entry in MESSAGES for pair in pairs(entry)]
    mismatches = [(source, german) for source, german in all_pairs if placeholders(source) != placeholders(german)]
    assert mismatches == []


def test_quotes_are_german_ones():
    """„so“: each opening one is closed, and no English or typewriter one is left."""
    texts = [_TAG.sub("", text) for entry in MESSAGES for text in entry.texts]
    assert [text for text in texts if text.count("„") != text.count("“") or "”" in text or '"' in text] == []


def test_the_compiled_file_holds_the_same_messages():
    with MO.open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    # A .mo file begins with a magic number, its revision and the number of messages; the header is one of them.
    assert struct.unpack("<III", MO.read_bytes()[:12]) == (0x950412DE, 0, len(MESSAGES) + 1)
    for entry in MESSAGES:
        if entry.plural:
            forms = tuple(compiled.ngettext(entry.msgid, entry.plural, n) for n in (1, 2))
        else:
            forms = (compiled.pgettext(entry.context, entry.msgid) if entry.context else compiled.gettext(entry.msgid),)
        assert forms == entry.texts


def template_messages(text: str) -> Iterator[str]:
    """What the template tags look up: percent signs doubled, variables as %(name)s."""
    for _, msgid, _, context in _TRANSLATE.findall(text):
        yield f"{context}\x04{msgid}" if context else msgid.replace("%", "%%")
    for _, msgid in _ARGUMENT.findall(text):
        yield msgid.replace("%", "%%")
    for options, body in _BLOCK.findall(text):
        singular = _PLURAL.split(body)[0].replace("%", "%%")
        if "trimmed" in options:
            singular = " ".join(line.strip() for line in singular.strip().splitlines())
        yield re.sub(r"\{\{\s*(\w+)\s*\}\}", r"%(\1)s", singular)


def test_template_messages_are_found_as_django_looks_them_up():
    text = (
        """{% translate 'Pass mark, %' %} {% translate "May" context "token" %} {{ row.group|default:_("all") }} """
        """{% blocktranslate count n=rows|length %}{{ n }} % of it{% plural %}{{ n }} % of all{% endblocktranslate %}"""
    )
    assert list(template_messages(text)) == ["Pass mark, %%", "token\x04May", "all", "%(n)s %% of it"]


@pytest.mark.parametrize("path", sorted((ROOM / "templates").rglob("*.html")), ids=lambda path: path.name)
def test_every_template_string_is_translated(path):
    assert [text for text in template_messages(path.read_text(encoding="utf-8")) if text not in KNOWN] == []


def code_messages(source: str) -> Iterator[str]:
    """The strings given to gettext and its kin, under whatever name a module imports them."""
    tree = ast.parse(source)
    names = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "django.utils.translation"
        for alias in node.names
        if alias.name in _MARKERS
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            first = node.args[0]
            if isinstance(first, ast.Constant):
                yield first.value


def test_every_string_in_the_code_is_translated():
    """Also those that makemessages overlooks, as it knows gettext by its usual names only."""
    sources = [path for path in ROOM.rglob("*.py") if "marketplace" not in path.relative_to(ROOM).parts]
    messages = {text for path in sources for text in code_messages(path.read_text(encoding="utf-8"))}
    assert len(messages) > 100
    assert sorted(messages - KNOWN) == []


def test_months_keep_their_names():
    """A column “May” once turned the fifth month into “Darf”: our messages come before Django's own."""
    with translation.override("de"):
        assert formats.date_format(date(2026, 5, 1), "j. F Y") == "1. Mai 2026"


@pytest.mark.django_db
def test_the_sign_in_page_speaks_the_language_asked_for(client):
    german = client.get("/sign-in/", headers=GERMAN).content.decode()
    assert '<html lang="de"' in german
    assert "<h1>Anmelden</h1>" in german
    assert "Passwort" in german
    assert "Sign in" not in german
    english = client.get("/sign-in/", headers={"accept-language": "fr"}).content.decode()
    assert '<html lang="en"' in english
    assert "<h1>Sign in</h1>" in english


@pytest.mark.django_db
def test_an_annotator_is_received_in_german(client):
    study = make_study()
    make_batch(study)
    client.force_login(make_member(study))
    page = client.get("/", headers=GERMAN).content.decode()
    assert '<html lang="de"' in page
    assert "<h1>Ihre Arbeit</h1>" in markup(page)
    assert "Aussagen in Zusammenfassungen finden" in page
    assert "0 von 1 fertig" in page
    assert "Anleitung lesen" in page
    assert "Abmelden" in page


@pytest.mark.django_db
def test_a_refusal_speaks_german(client):
    study = make_study()
    client.force_login(make_member(study))
    answer = client.get("/work/no-such-key/", headers=GERMAN)
    assert answer.status_code == 404
    assert "Eine solche Zuweisung haben Sie nicht. Es wurde nichts geändert." in answer.content.decode()


@pytest.mark.parametrize(
    ("language", "expected"),
    [("en", ["$1,234.05", "−$0.10", "3.00 CHF"]), ("de", ["1.234,05 $", "−0,10 $", "3,00 CHF"])],
)
def test_amounts_are_written_as_the_language_does(language, expected):
    with translation.override(language):
        assert [amount(123_405), amount(-10), amount(300, "CHF")] == expected
