"""What a server answered, as a result: JSON, text, bytes, and the files of an archive."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any
from urllib.parse import unquote

from assay.model import check_value
from assay.sandbox import Response
from assay.submissions.adapters.archives import unpacked
from assay.submissions.adapters.requests import is_archive
from assay.submissions.adapters.tracked import text_of

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


def fields_of(answer: Response, *, as_json: bool, as_reference: bool) -> dict[str, Any]:
    """The fields of a result that are the answer's.

    `as_reference` gives archives the form that verifiers of existing problems expect.
    """
    kind = answer.headers.get("content-type", "")
    fields: dict[str, Any] = {"status_code": answer.status, "headers": answer.headers}
    if is_archive(kind):
        found = unpacked(answer.body)
        fields["files"] = {name: _content(one, as_reference) for name, one in found.files.items()}
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
    """Whether it is certain that reading an answer takes no time."""
    is_short = len(answer.body) <= _LONG
    return is_short and not is_archive(answer.headers.get("content-type", ""))


def unread_fields_of(answer: Response, why: str) -> dict[str, Any]:
    """The fields of an answer that could not be read; what files it holds nobody knows."""
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


def _content(content: bytes, as_reference: bool) -> str | bytes:
    known = text_of(content)
    if isinstance(known, bytes) and as_reference:
        return base64.b64encode(known).decode()
    return known


def _text(body: bytes, kind: str) -> str | bytes:
    """The text in the charset that the answer names, if that is one of the known ones."""
    _, _, named = kind.lower().partition("charset=")
    charset = named.split(";")[0].strip(" \"'").replace("_", "-")
    try:
        return body.decode(_CHARSETS[charset])
    except (UnicodeDecodeError, KeyError):
        return text_of(body)


def _value(text: str) -> Any:
    """The JSON value, or the text if it is none, or one that cannot be kept."""
    try:
        return check_value(json.loads(text))
    except (ValueError, RecursionError):
        return text
