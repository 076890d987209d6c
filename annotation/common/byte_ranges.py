"""Files that can be fetched in pieces: a broken download goes on where it stopped (RFC 9110, sections 13 and 14)."""

import re
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotModified, StreamingHttpResponse
from django.utils.http import parse_etags

TYPES = {
    ".csv": "text/csv; charset=utf-8",
    ".jsonl": "application/jsonl",
    ".json": "application/json",
    ".parquet": "application/vnd.apache.parquet",
    ".xml": "application/xml",
    ".zip": "application/zip",
}
PIECE = 2**18
RANGE = re.compile(r"bytes=(\d*)-(\d*)")


def file_response(request: HttpRequest, path: Path, *, etag: str, name: str) -> HttpResponseBase:
    """The file, or the piece of it that the request asks for. The tag is strong: it is the hash of the bytes."""
    size, tag = path.stat().st_size, f'"{etag}"'
    known_tags = parse_etags(request.headers.get("If-None-Match", ""))
    if tag in known_tags or known_tags == ["*"]:
        return _labelled(HttpResponseNotModified(), tag)
    piece = _range(request, tag, size)
    if piece is None:
        answer: HttpResponseBase = _piece(request, path, 0, size, 200)
    elif piece[0] >= piece[1]:
        answer = HttpResponse(status=416, headers={"Content-Range": f"bytes */{size}"})
        return _labelled(answer, tag)
    else:
        answer = _piece(request, path, *piece, 206)
        answer["Content-Range"] = f"bytes {piece[0]}-{piece[1] - 1}/{size}"
    answer["Content-Type"] = TYPES.get(path.suffix, "application/octet-stream")
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    answer["Last-Modified"] = formatdate(path.stat().st_mtime, usegmt=True)
    return _labelled(answer, tag)


def _labelled(answer: HttpResponseBase, tag: str) -> HttpResponseBase:
    answer["ETag"], answer["Accept-Ranges"] = tag, "bytes"
    answer["Cache-Control"] = "private, no-transform"
    return answer


def _range(request: HttpRequest, tag: str, size: int) -> tuple[int, int] | None:
    """Start and end of the piece; None for the whole. Several pieces at once, or a file that has changed: the whole."""
    match = RANGE.fullmatch(request.headers.get("Range", "").strip())
    if match is None or match.group() == "bytes=-" or request.headers.get("If-Range", tag) != tag:
        return None
    first, last = match.groups()
    if not first:  # the last so many bytes
        return (max(0, size - int(last)), size) if int(last) else (size, size)
    end = min(int(last) + 1, size) if last else size
    return None if last and int(last) < int(first) else (int(first), end)


def _piece(request: HttpRequest, path: Path, start: int, end: int, status: int) -> HttpResponseBase:
    length = {"Content-Length": str(end - start)}
    if request.method == "HEAD":
        return HttpResponse(status=status, headers=length)
    return StreamingHttpResponse(_bytes(path, start, end), status=status, headers=length)


def _bytes(path: Path, start: int, end: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        file.seek(start)
        while start < end and (piece := file.read(min(PIECE, end - start))):
            start += len(piece)
            yield piece
