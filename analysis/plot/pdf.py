"""The same chart as the same bytes: the PDF writer orders and numbers its objects anew in every run."""

from __future__ import annotations

import re

_TABLE = re.compile(rb"xref\n0 \d+\n((?:\d{10} \d{5} [nf][ \r]?\n)+)")
_NAMED = re.compile(rb"(?:^ +/\w+ \d+ 0 R\n){2,}", re.MULTILINE)
_LINK = re.compile(rb"\b(\d+) 0 R\b")


def steady(pdf: bytes) -> bytes:
    """The PDF with lists of named objects by name, and objects numbered and written in the order they are named in."""
    table = _TABLE.search(pdf)
    if table is None:  # another way of writing PDF: leave it alone
        return pdf
    rows = table[1].splitlines()
    starts = {number: int(row[:10]) for number, row in enumerate(rows) if row.rstrip().endswith(b"n")}
    edges = [*sorted(starts.values()), table.start()]
    objects = {number: _by_name(pdf[start : edges[edges.index(start) + 1]]) for number, start in starts.items()}
    trailer = pdf[table.end() : pdf.rindex(b"startxref")]
    new = {old: place for place, old in enumerate(_reached(trailer, objects), start=1)}
    body, places = pdf[: edges[0]], []
    for old in new:
        places.append(len(body))
        body += _renumbered(objects[old], new)
    lines = b"xref\n0 %d\n0000000000 65535 f \n" % (len(new) + 1)
    lines += b"".join(b"%010d 00000 n \n" % place for place in places)
    end = re.sub(rb"/Size \d+", b"/Size %d" % (len(new) + 1), _linked(trailer, new))
    return body + lines + end + b"startxref\n%d\n%%%%EOF" % len(body)


def _by_name(pdf_object: bytes) -> bytes:
    head, stream, data = pdf_object.partition(b"stream\n")
    return _NAMED.sub(lambda run: b"".join(sorted(run[0].splitlines(keepends=True))), head) + stream + data


def _reached(trailer: bytes, objects: dict[int, bytes]) -> list[int]:
    """Every object that is used, in the order in which a reader comes to it."""
    numbers: list[int] = []
    ahead = _links(trailer)
    while ahead:
        number = ahead.pop(0)
        if number in objects and number not in numbers:
            numbers.append(number)
            ahead = _links(objects[number].partition(b"stream\n")[0]) + ahead
    return numbers


def _links(text: bytes) -> list[int]:
    return [int(link) for link in _LINK.findall(text)]


def _linked(text: bytes, new: dict[int, int]) -> bytes:
    return _LINK.sub(lambda link: b"%d 0 R" % new.get(int(link[1]), 0), text)


def _renumbered(pdf_object: bytes, new: dict[int, int]) -> bytes:
    head, stream, data = pdf_object.partition(b"stream\n")
    head = re.sub(rb"^\d+", lambda number: b"%d" % new[int(number[0])], _linked(head, new))
    return head + stream + data
