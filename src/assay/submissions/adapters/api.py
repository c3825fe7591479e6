"""Runs cases against a server: one server per group, started in the sandbox on first use.

A server that ends is restarted for the next case if the cases of its group are independent. If they
are not, its state is lost, and the cases that follow fail too. A server that never became ready is
not retried. A case with `reset` always gets a new one.
"""

from __future__ import annotations

import asyncio
import http.client
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from assay.errors import InputError
from assay.model import CaseResult
from assay.sandbox import Health, NotServingError, ProgramResult, Response, Server
from assay.submissions.adapters.messages import (
    HttpRequest,
    build_request,
    command_of,
    describe_unread,
    is_quick,
    read_answer,
)
from assay.submissions.cases import APICase, APIResult, BaseCase
from assay.submissions.config import ApiAdapter, GroupConfig
from assay.submissions.environments.preparing import PreparedSubmission
from assay.submissions.result_files import (
    decode_files,
    decode_output,
    encode_inputs,
    list_left,
    list_patterns,
)
from assay.submissions.untrusted_reader import Readers, TooMuchError

_ENDED = "the server had ended before its files were read"
# A server that has just closed a connection may be about to exit.
_SETTLE = 0.5


@dataclass(frozen=True)
class _Down:
    """There is no server, and why; without a reset none will be started."""

    why: str
    stderr: str


class ApiRunner:
    """The cases of one group, one after the other, on one server."""

    def __init__(self, prepared: PreparedSubmission, group: GroupConfig) -> None:
        adapter = prepared.problem.adapter
        assert isinstance(adapter, ApiAdapter)
        self._prepared, self._group, self._adapter = prepared, group, adapter
        self._turn = asyncio.Lock()
        self._held = AsyncExitStack()
        self._readers = Readers()
        self._server: Server | None = None
        self._down: _Down | None = None
        self._port = adapter.port

    async def __aenter__(self) -> ApiRunner:
        self._port = self._prepared.host.choose_port(self._port)
        await self._readers.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._readers.__aexit__(kind, error, trace)
        await self._held.aclose()

    @property
    def _place(self) -> str:
        return f"{self._adapter.address}:{self._port}"

    async def run(self, case: BaseCase) -> CaseResult:
        """Return the server's answer; a missing answer is a result too."""
        if not isinstance(case, APICase):
            raise InputError(
                f"{case.group}/{case.id} is not a request, but the program is a server"
            )
        request = build_request(case, self._place)
        async with self._turn:
            if case.reset:
                await self._stop()
            server = await self._running()
            if isinstance(server, _Down):
                fields = {**_no_answer(server), "files_unknown": "there was no server"}
                return self._result(case, request, fields)
            return await self._ask(server, case, request)

    async def _stop(self) -> None:
        self._server, self._down = None, None
        await self._held.aclose()

    async def _running(self) -> Server | _Down:
        """Return the server of the group, starting it if necessary."""
        if self._server is not None and self._server.running:
            return self._server
        if self._server is not None:
            result = await self._server.stop()
            await self._stop()
            if not self._group.isolated:
                self._down = _Down(
                    f"the server had ended before this case ({_how(result)}), and its "
                    "state from earlier cases is lost",
                    decode_output(result.stderr),
                )
        if self._down is None:
            await self._start()
        if self._down is not None:
            return self._down
        assert self._server is not None
        return self._server

    async def _start(self) -> None:
        prepared, adapter = self._prepared, self._adapter
        serving = prepared.host.serve(
            command_of(
                prepared.start, adapter, self._port, prepared.assets, resplit=prepared.resplits
            ),
            port=self._port,
            health=Health(adapter.health_path or "/", any_status=True),
            patience=_patience(adapter),
            environment=prepared.variables(self._group),
        )
        try:
            self._server = await self._held.enter_async_context(serving)
        except NotServingError as error:
            why = f"{error} ({_how(error.result)})"
            self._down = _Down(why, decode_output(error.result.stderr))

    async def _ask(self, server: Server, case: APICase, request: HttpRequest) -> CaseResult:
        written, started = len(server.stderr), time.perf_counter()
        answer, fields = await self._answer(server, case, request)
        fields["elapsed"] = time.perf_counter() - started
        if answer is not None:
            fields |= await self._fields_of(answer)
            if answer.status >= http.client.INTERNAL_SERVER_ERROR:
                fields["stderr"] = decode_output(server.stderr[written:])
        tracked = await self._collect_tracked(server, case)
        files = {**tracked.get("files", {}), **fields.get("files", {})}
        return self._result(case, request, {**tracked, **fields, "files": files})

    async def _answer(
        self, server: Server, case: APICase, request: HttpRequest
    ) -> tuple[Response | None, dict[str, Any]]:
        """Return the answer, or the reason why there is none."""
        seconds = self._prepared.seconds(self._group, case.timeout_s)
        fields: dict[str, Any] = {}
        for attempt in range(case.retries + 1):
            try:
                if case.input_files and attempt == 0:
                    await server.put(encode_inputs(case))
                method, target, headers, body = request
                answer = await server.request(
                    method,
                    target,
                    body=body,
                    headers=headers,
                    timeout=seconds,
                    longest=self._prepared.host.limits.collected,
                )
                return answer, {"retries": attempt}
            except (OSError, http.client.HTTPException) as error:
                fields = {**await _failure(server, error, seconds), "retries": attempt}
                if not server.running:
                    break
        return None, fields

    async def _fields_of(self, answer: Response) -> dict[str, Any]:
        as_reference = self._prepared.resplits
        # Where existing problems do not say, answers are text to their verifiers.
        is_said = "response_is_json" in self._adapter.model_fields_set
        as_json = self._adapter.response_is_json and (is_said or not as_reference)
        how = {"as_json": as_json, "as_reference": as_reference}
        if is_quick(answer):
            return read_answer(answer, **how)
        about = {"status": answer.status, "headers": answer.headers, "body": answer.body}
        try:
            fields: dict[str, Any] = await self._readers.ask("answer", **about, **how)
        except TooMuchError as error:
            return describe_unread(answer, f"reading the answer {error}")
        return fields

    async def _collect_tracked(self, server: Server, case: APICase) -> dict[str, Any]:
        """Return the fields of a result that are about files of the work folder."""
        patterns = list_patterns(self._prepared.problem, self._group, case)
        if not patterns:
            return {}
        try:
            collected = await server.collect(patterns)
        except ConnectionRefusedError:
            return {"files_unknown": _ENDED}
        left = list_left(collected)
        return {"files": decode_files(collected.files), **({"left": left} if left else {})}

    def _result(self, case: APICase, request: HttpRequest, fields: dict[str, Any]) -> APIResult:
        return APIResult(
            id=case.id,
            group=case.group,
            group_type=case.group_type,
            method=request.method,
            resource_path=f"http://{self._place}{request.target}",
            **fields,
        )


async def _failure(server: Server, error: Exception, seconds: float) -> dict[str, Any]:
    """Return the result fields of a request that got no answer."""
    if isinstance(error, TimeoutError):
        what = f"no answer within {seconds:g} s"
        return {
            "status_code": -1,
            "timed_out": True,
            "stderr": _with(what, decode_output(server.stderr)),
        }
    result = await server.wait(_SETTLE)
    what = f"the server ended ({_how(result)})" if result else f"no answer: {error}"
    stderr = result.stderr if result else server.stderr
    return {"status_code": -1, "stderr": _with(what, decode_output(stderr))}


def _no_answer(down: _Down) -> dict[str, Any]:
    return {"status_code": -1, "stderr": _with(down.why, down.stderr)}


def _with(what: str, stderr: str) -> str:
    return f"[{what}]\n{stderr}"


def _how(result: ProgramResult) -> str:
    if result.limit:
        return f"it exceeded its limit {result.limit}"
    status = result.exit_status
    return f"exit status {status}" if status >= 0 else f"signal {-status}"


def _patience(adapter: ApiAdapter) -> float:
    """Return the seconds a server may take: its timeout, or that of all its attempts."""
    if {"max_startup_attempts", "delay_startup_attempts"} & adapter.model_fields_set:
        attempts = adapter.max_startup_attempts * adapter.delay_startup_attempts
        return max(adapter.startup_timeout_s, attempts)
    return adapter.startup_timeout_s
