"""What a server answered, as a result: JSON, text, bytes, and the files of an archive."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from assay import values
from assay.sandbox.limits import MIB
from assay.sandbox.servers import Response
from assay.submissions.adapters.requests import is_archive
from assay.submissions.adapters.tracked import text_of

_MOST_FILES = 10_000
_MOST_BYTES = 256 * MIB


def fields_of(answer: Response, *, as_json: bool, as_reference: bool) -> dict[str, Any]:
    """The fields of a result that are the answer's.

    `as_reference` gives archives the form that verifiers of existing problems expect.
    """
    kind = answer.headers.get("content-type", "")
    fields: dict[str, Any] = {"status_code": answer.status, "headers": answer.headers}
    if is_archive(kind):
        files = unpacked(answer.body)
        fields["files"] = {name: _content(one, as_reference) for name, one in files.items()}
        fields |= _of_bytes(answer)
        if as_reference:
            fields |= _as_reference(answer, kind)
        return fields
    content = _text(answer.body, kind)
    if isinstance(content, bytes):
        return fields | _of_bytes(answer)
    return fields | {"output": _value(content) if as_json else content}


def _of_bytes(answer: Response) -> dict[str, Any]:
    return {
        "output": answer.body,
        "binary_response": True,
        "binary_response_size": len(answer.body),
        "binary_response_hash": hashlib.sha256(answer.body).hexdigest(),
    }


def _as_reference(answer: Response, kind: str) -> dict[str, Any]:
    packed = base64.b64encode(answer.body).decode()
    name = _filename(answer.headers.get("content-disposition", ""))
    output = {
        "content_b64": packed,
        "encoding": "base64",
        "size": len(answer.body),
        "content_type": kind,
        "is_archive": True,
    }
    return {
        "output": {**output, "filename": name} if name else output,
        "binary_response_base64": packed,
        "binary_response_filename": name,
    }


def _filename(disposition: str) -> str | None:
    named = dict(
        (part.strip().split("=", 1) for part in disposition.split(";") if "=" in part),
    )
    name = named.get("filename*", named.get("filename", "")).strip('"')
    return unquote(name.removeprefix("UTF-8''").removeprefix("utf-8''")) or None


def _content(content: bytes, as_reference: bool) -> str | bytes:
    known = text_of(content)
    if isinstance(known, bytes) and as_reference:
        return base64.b64encode(known).decode()
    return known


def _text(body: bytes, kind: str) -> str | bytes:
    _, _, charset = kind.lower().partition("charset=")
    try:
        return body.decode(charset.split(";")[0].strip(' "') or "utf-8")
    except (UnicodeDecodeError, LookupError):
        return text_of(body)


def _value(text: str) -> Any:
    """The JSON value, or the text if it is none, or one that cannot be kept."""
    try:
        return values.check_value(json.loads(text))
    except (ValueError, RecursionError):
        return text


def unpacked(archive: bytes) -> dict[str, bytes]:
    """The plain files of a zip or tar archive; none if it is neither, or larger than any answer."""
    try:
        read = _from_zip if zipfile.is_zipfile(io.BytesIO(archive)) else _from_tar
        files: dict[str, bytes] = {}
        left = _MOST_BYTES
        for name, size, content in read(archive):
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or len(files) >= _MOST_FILES:
                continue
            if size > left:
                return {}
            files[str(path)] = content.read(left + 1)
            left -= len(files[str(path)])
        return files if left >= 0 else {}
    except (zipfile.BadZipFile, tarfile.TarError, OSError, EOFError, ValueError, RuntimeError):
        return {}


def _from_zip(archive: bytes) -> Iterator[tuple[str, int, Any]]:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        for entry in opened.infolist():
            if not entry.is_dir():
                with opened.open(entry) as content:
                    yield entry.filename, entry.file_size, content


def _from_tar(archive: bytes) -> Iterator[tuple[str, int, Any]]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        for entry in opened:
            content = opened.extractfile(entry) if entry.isfile() else None
            if content is not None:
                yield entry.name, entry.size, content
