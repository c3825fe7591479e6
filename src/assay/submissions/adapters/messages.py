"""Requests to a server and its responses: JSON, text, bytes, and the files of an archive."""

from __future__ import annotations

import base64
import binascii
import bz2
import gzip
import hashlib
import io
import json
import lzma
import shlex
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlencode

from assay.errors import InputError
from assay.model import (
    check_value,
)
from assay.sandbox import Response
from assay.submissions.assets import replace_assets
from assay.submissions.cases import APICase
from assay.submissions.config import ApiAdapter
from assay.submissions.file_formats import MOST_UNPACKED
from assay.submissions.result_files import decode_text

_ARCHIVES = ("zip", "x-tar", "/tar", "gzip", "compressed-tar")


class HttpRequest(NamedTuple):
    """An HTTP request to send."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes | None


def build_request(case: APICase, place: str) -> HttpRequest:
    """Return the request of a case to a server at `place`, an address with its port."""
    headers = {"Host": place, **case.headers}
    names = {name.lower(): value for name, value in headers.items()}
    body = _body(case, names.get("content-type", ""))
    if isinstance(case.body, dict | list) and "content-type" not in names:
        headers["Content-Type"] = "application/json"
    return HttpRequest(case.method.upper(), build_target(case), headers, body)


def build_target(case: APICase) -> str:
    """Path and query; `name=value` arguments are the query if there is no other."""
    query = case.query or _query_of(case)
    path = quote(case.path, safe="/?%:@!$&'()*+,;=~") or "/"
    path = path if path.startswith("/") else f"/{path}"
    if not query:
        return path
    pairs = {name: _query_value(value) for name, value in query.items()}
    return f"{path}{'&' if '?' in path else '?'}{urlencode(pairs, doseq=True)}"


def _query_of(case: APICase) -> dict[str, Any]:
    for argument in case.arguments:
        if "=" not in argument:
            raise InputError(
                f"the argument {argument!r} is not name=value",
                where=f"{case.group}/{case.id}",
                advice="arguments of a request are its query",
            )
    return dict(argument.split("=", 1) for argument in case.arguments)


def _query_value(value: Any) -> Any:
    if isinstance(value, list):
        return [_query_value(item) for item in value]
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else value


def is_archive(content_type: str) -> bool:
    """Return whether a content type is a zip or tar archive, compressed or not."""
    kind = content_type.partition(";")[0].strip().lower()
    return kind.startswith("application/") and kind.endswith(_ARCHIVES)


def _body(case: APICase, content_type: str) -> bytes | None:
    body = case.body
    if body is None or isinstance(body, bytes):
        return body
    if isinstance(body, str):
        # YAML and JSON have no bytes: what is sent as an archive is written in base64.
        return _decode_body(case, body) if is_archive(content_type) else body.encode()
    return json.dumps(body).encode()


def _decode_body(case: APICase, body: str) -> bytes:
    try:
        return base64.b64decode(body, validate=True)
    except binascii.Error:
        raise InputError(
            "the body of a request with an archive is not base64",
            where=f"{case.group}/{case.id}",
        ) from None


def command_of(
    start: tuple[str, ...], adapter: ApiAdapter, port: int, assets: Mapping[str, str], resplit: bool
) -> list[str]:
    """Return the command of the server; address and port are added if it does not name them."""
    values = {"{address}": adapter.address, "{port}": str(port)}
    command = list(start)
    for name, value in values.items():
        if any(name in part for part in command):
            command = [part.replace(name, value) for part in command]
        else:
            command += [f"--{name.strip('{}')}", value]
    arguments = replace_assets(adapter.arguments, assets)
    return command + (shlex.split(" ".join(arguments)) if resplit else arguments)


_LONG = 1 << 20
# Python knows more, some of which are no charsets, and some of which take forever.
_NAMES = (
    "utf-8 utf-16 utf-16le utf-16be utf-32 utf-32le utf-32be ascii us-ascii latin-1 latin1 "
    "big5 euc-jp euc-kr gb2312 gb18030 gbk iso-2022-jp koi8-r koi8-u shift-jis tis-620"
)
_CHARSETS = {
    **{name: name for name in _NAMES.split()},
    **{f"iso-8859-{number}": f"iso8859-{number}" for number in range(1, 17) if number != 12},
    **{f"windows-{number}": f"cp{number}" for number in (874, *range(1250, 1259))},
    "utf8": "utf-8",
    "": "utf-8",
}


def read_answer(answer: Response, *, as_json: bool, as_reference: bool) -> dict[str, Any]:
    """Return the result fields for an answer.

    `as_reference` gives archives the form that verifiers of existing problems expect.
    """
    kind = answer.headers.get("content-type", "")
    fields: dict[str, Any] = {"status_code": answer.status, "headers": answer.headers}
    if is_archive(kind):
        found = unpack_archive(answer.body)
        fields["files"] = {
            name: _file_content(one, as_reference) for name, one in found.files.items()
        }
        if found.trouble:
            fields["files_unknown"] = f"the archive cannot be unpacked: {found.trouble}"
        fields |= _of_bytes(answer)
        if as_reference:
            fields |= _as_reference(answer, kind)
        return fields
    content = _text(answer.body, kind)
    if isinstance(content, bytes):
        return fields | _of_bytes(answer)
    return fields | {"output": _value(content) if as_json else content}


def is_quick(answer: Response) -> bool:
    """Return whether reading an answer is certain to be fast."""
    is_short = len(answer.body) <= _LONG
    return is_short and not is_archive(answer.headers.get("content-type", ""))


def describe_unread(answer: Response, why: str) -> dict[str, Any]:
    """Return the fields of an answer that could not be read; its files are unknown."""
    fields: dict[str, Any] = {"status_code": answer.status, "headers": answer.headers}
    return fields | _of_bytes(answer) | {"files_unknown": why}


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


def _file_content(content: bytes, as_reference: bool) -> str | bytes:
    known = decode_text(content)
    if isinstance(known, bytes) and as_reference:
        return base64.b64encode(known).decode()
    return known


def _text(body: bytes, kind: str) -> str | bytes:
    """Return the text, decoded with the answer's charset if it is a known one."""
    _, _, named = kind.lower().partition("charset=")
    charset = named.split(";")[0].strip(" \"'").replace("_", "-")
    try:
        return body.decode(_CHARSETS[charset])
    except (UnicodeDecodeError, KeyError):
        return decode_text(body)


def _value(text: str) -> Any:
    """Return the JSON value, or the text if it is not JSON or cannot be stored."""
    try:
        return check_value(json.loads(text))
    except (ValueError, RecursionError):
        return text


_MOST_FILES = 10_000
_PACKINGS: tuple[tuple[bytes, Any], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\x00", lzma.open),
)
# What the readers of damaged archives raise. RuntimeError: encrypted, or packed in an unknown way.
_DAMAGED = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    ValueError,
    ArithmeticError,
    LookupError,
    RuntimeError,
)


class Unpacked(NamedTuple):
    """The regular files of an archive, and why the list may be incomplete."""

    files: dict[str, bytes]
    trouble: str = ""


class _TooMuchError(ValueError):
    """The archive unpacks to more than the size limit."""


def unpack_archive(archive: bytes) -> Unpacked:
    """Return the regular files of a zip or tar archive whose paths stay inside it."""
    try:
        read = _from_zip if zipfile.is_zipfile(io.BytesIO(archive)) else _from_tar
        files: dict[str, bytes] = {}
        left = MOST_UNPACKED
        for name, content in read(archive):
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or not path.parts:
                continue
            files[str(path)] = _at_most(content, left)
            left -= len(files[str(path)])
            if len(files) > _MOST_FILES:
                raise _TooMuchError(f"it has more than {_MOST_FILES} files")
        return Unpacked(files)
    except _DAMAGED as error:
        return Unpacked({}, str(error) or type(error).__name__)


def _at_most(stream: Any, limit: int) -> bytes:
    content: bytes = stream.read(limit + 1)
    if len(content) > limit:
        raise _TooMuchError(f"it comes to more than {MOST_UNPACKED >> 20} MiB")
    return content


def _from_zip(archive: bytes) -> Iterator[tuple[str, Any]]:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        for entry in opened.infolist():
            if not entry.is_dir():
                with opened.open(entry) as content:
                    yield entry.filename, content


def _from_tar(archive: bytes) -> Iterator[tuple[str, Any]]:
    # Unpacked before it is looked into: the size in a header may be anything.
    for beginning, opener in _PACKINGS:
        if archive.startswith(beginning):
            with opener(io.BytesIO(archive)) as packed:
                archive = _at_most(packed, MOST_UNPACKED)
            break
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as opened:
        for entry in opened:
            content = opened.extractfile(entry) if entry.isfile() else None
            if content is not None:
                yield entry.name, content
