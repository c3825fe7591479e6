"""Runs programs in the sandbox for the tests, in a process that can belong to another user.

Takes one JSON object per line on standard input and answers each with one line; at the end of its
input it closes everything and prints the process ids of the supervisors it had.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from typing import Any

from assay.errors import AssayError
from assay.sandbox.programs import ProgramResult, Programs
from assay.sandbox.workers import Limits


def _plain(result: ProgramResult) -> dict[str, Any]:
    return {
        "exit_status": result.exit_status,
        "stdout": _text(result.stdout),
        "stderr": _text(result.stderr),
        "wall_time": result.wall_time,
        "cpu_time": result.cpu_time,
        "peak_memory": result.peak_memory,
        "limit": result.limit,
        "timed_out": result.timed_out,
        "cut": result.cut,
        "files": {name: _text(content) for name, content in result.files.items()},
        "left": result.left,
        "isolation": result.isolation,
    }


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


async def _serve() -> None:
    kinds: dict[str, Programs] = {}
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        request = json.loads(line)
        key = json.dumps(request["jail"], sort_keys=True)
        try:
            if key not in kinds:
                jail = dict(request["jail"])
                jail["limits"] = Limits(**jail["limits"])
                kinds[key] = Programs(**jail)
            program = request["program"]
            files = {
                name: base64.b64decode(content) for name, content in program.pop("files").items()
            }
            stdin = base64.b64decode(program.pop("stdin"))
            answer = _plain(await kinds[key].run(files=files, stdin=stdin, **program))
        except AssayError as error:
            answer = {"error": type(error).__name__, "text": str(error)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    supervisors = [worker.pid for kind in kinds.values() for worker in kind._pool.idle]
    for kind in kinds.values():
        await kind.__aexit__(None, None, None)
    sys.stdout.write(json.dumps(supervisors) + "\n")


if __name__ == "__main__":
    asyncio.run(_serve())
