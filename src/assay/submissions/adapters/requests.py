"""A case as an HTTP request: its target, its body, and the command that starts its server."""

from __future__ import annotations

import base64
import binascii
import json
import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from assay.errors import InputError
from assay.submissions.assets import replace_assets
from assay.submissions.cases import APICase
from assay.submissions.config import ApiAdapter

_ARCHIVES = ("zip", "x-tar", "/tar", "gzip", "compressed-tar")


class Request(NamedTuple):
    """What is sent."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes | None


def request_of(case: APICase, place: str) -> Request:
    """The request of a case to a server at `place`, an address with its port."""
    headers = {"Host": place, **case.headers}
    names = {name.lower(): value for name, value in headers.items()}
    body = _body(case, names.get("content-type", ""))
    if isinstance(case.body, dict | list) and "content-type" not in names:
        headers["Content-Type"] = "application/json"
    return Request(case.method.upper(), target_of(case), headers, body)


def target_of(case: APICase) -> str:
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
    """Whether a content type is one of zip and tar, packed or not."""
    kind = content_type.partition(";")[0].strip().lower()
    return kind.startswith("application/") and kind.endswith(_ARCHIVES)


def _body(case: APICase, content_type: str) -> bytes | None:
    body = case.body
    if body is None or isinstance(body, bytes):
        return body
    if isinstance(body, str):
        # YAML and JSON have no bytes: what is sent as an archive is written in base64.
        return _decoded(case, body) if is_archive(content_type) else body.encode()
    return json.dumps(body).encode()


def _decoded(case: APICase, body: str) -> bytes:
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
    """The command of the server: its address and port are told where the command does not ask."""
    values = {"{address}": adapter.address, "{port}": str(port)}
    command = list(start)
    for name, value in values.items():
        if any(name in part for part in command):
            command = [part.replace(name, value) for part in command]
        else:
            command += [f"--{name.strip('{}')}", value]
    arguments = replace_assets(adapter.arguments, assets)
    return command + (shlex.split(" ".join(arguments)) if resplit else arguments)
