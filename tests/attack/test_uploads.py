"""Files that are none, too many, too deep or too large, sent to every form that takes one, by every role."""

import gzip
import io
import zipfile

from .attacker import MARK, Attacker
from .conftest import SECONDS
from .deployment import SITE

BOUNDARY = "attack-boundary"


def zipped(names: list[str], content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, content)
    return file.getvalue()


FILES = [
    ("empty.csv", b""),
    ("nul.csv", b"doc_id,text\x00\n\x00"),
    ("markup.csv", f"doc_id,{MARK}\n=1+1,{MARK}\n".encode()),
    ("wide.csv", b",".join(b"c%d" % n for n in range(20_000)) + b"\n1\n"),
    ("long.csv", b"doc_id,text\n1," + b"x" * 2_000_000 + b"\n"),
    ("latin.csv", "doc_id,text\nä,ö\n".encode("utf-16")),
    ("deep.json", b"[" * 100_000),
    ("lines.jsonl", b'{"doc_id": 1}\n{"doc_id": {"a": []}}\nnull\n[]\n' * 50),
    ("bomb.csv.gz", gzip.compress(b"doc_id,text\n" + b"1,a\n" * 500_000)),
    ("half.csv.gz", gzip.compress(b"doc_id,text\n1,a\n")[:-9]),
    ("out.zip", zipped(["../../etc/attack", "/etc/attack", "a\\..\\b"], b"x")),
    ("many.zip", zipped([f"{n}.csv" for n in range(3000)], b"doc_id\n")),
    ("bomb.zip", zipped(["summaries.csv"], b"doc_id,text\n" + b"0" * 30_000_000)),
    ("\u202efdp.csv\r\nX: y", b"doc_id,text\n1,a\n"),
]


def multipart(fields: list[str], name: str, content: bytes) -> bytes:
    parts = []
    for field in fields:
        if field == "csrfmiddlewaretoken":
            parts.append(f'Content-Disposition: form-data; name="{field}"\r\n\r\n{"c" * 32}'.encode())
            continue
        head = f'Content-Disposition: form-data; name="{field}"; filename="{name}"\r\nContent-Type: text/csv\r\n\r\n'
        parts.append(head.encode() + content)
    start = f"--{BOUNDARY}\r\n".encode()
    return b"".join(start + part + b"\r\n" for part in parts) + f"--{BOUNDARY}--\r\n".encode()


def test_no_file_breaks_the_site_or_leaves_its_folder(deployment, seed):
    facts = deployment.facts["site"]
    attacker = Attacker(deployment, SITE, "sessionid", seed)
    slug, batch = facts["known"]["slug"][0], facts["known"]["batch_id"][0]
    pages = ["/new-study/", f"/studies/{slug}/", f"/studies/{slug}/metrics/", f"/studies/{slug}/guidance/"]
    pages += [f"/studies/{slug}/collect/", f"/studies/{slug}/collect/{batch}/launch/", f"/studies/{slug}/exports/"]

    def attack(page, session, file):
        kind = f"multipart/form-data; boundary={BOUNDARY}"
        for target, fields in attacker.forms_of(attacker.ask("GET", page, session), most=6):
            if fields:
                address = target if target.startswith("/") else page
                attacker.ask("POST", address, session, multipart(fields[:6], *file), Content_Type=kind)

    attacks = [
        lambda page=page, session=session, file=file: attack(page, session, file)
        for page in pages
        for session in (facts["sessions"]["admin"], facts["sessions"]["annotator"])
        for file in attacker.random.sample(FILES, 4)
    ]
    attacker.until(SECONDS, attacks)
    assert "\n".join(attacker.problems[:5]) == "", f"ATTACK_SEED={seed}"
    assert not any((deployment.folder / name).exists() for name in ("attack", "etc"))
