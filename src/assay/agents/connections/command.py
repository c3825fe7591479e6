"""Connection to an agent that is a user's program: one line of JSON in, one line out.

Only the user can choose the program; a test file cannot, because it is data. Every conversation
gets its own process, which may keep state. The process and its children are killed when the
conversation ends.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from assay.agents.connections.protocol import (
    AgentFailed,
    Answer,
    Connection,
    ConnectionFailed,
    Message,
    Session,
    Settings,
)
from assay.agents.connections.python import read_parts
from assay.agents.connections.web import encode_json
from assay.agents.secrets import find_credentials
from assay.documents import MEGABYTE, MOST_PARTS, has_too_many_parts
from assay.errors import InputError

_LONGEST_ANSWER = 16 * MEGABYTE
_KEPT_ERRORS = 64 * 1024
_FAREWELL = 1.0


@dataclass
class _Process:
    """A running program, and the end of its standard error."""

    process: asyncio.subprocess.Process
    errors: bytearray = field(default_factory=bytearray)
    reading: asyncio.Task[None] | None = None

    async def read_errors(self) -> None:
        """Read the program's standard error, so that it never blocks on it."""
        assert self.process.stderr is not None
        while chunk := await self.process.stderr.read(_KEPT_ERRORS):
            self.errors += chunk
            if len(self.errors) > _KEPT_ERRORS:
                # Whole lines only: part of a secret would not be recognized as one.
                _, _, rest = bytes(self.errors[-_KEPT_ERRORS:]).partition(b"\n")
                self.errors[:] = rest

    async def ask(self, request: bytes) -> bytes:
        """Return the answer line for a line."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(OSError):
            # A program that has ended is detected when its answer is read.
            self.process.stdin.write(request + b"\n")
            await self.process.stdin.drain()
        try:
            line = await self.process.stdout.readuntil(b"\n")
        except asyncio.LimitOverrunError:
            raise ConnectionFailed("the answer is longer than 16 MB") from None
        except asyncio.IncompleteReadError:
            raise await self._explain_end() from None
        return line

    async def _explain_end(self) -> AgentFailed:
        """Return the failure of a program that ended without an answer."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_FAREWELL):
                await self.process.wait()
                if self.reading is not None:
                    await asyncio.shield(self.reading)
        code = self.process.returncode
        how = "closed its output" if code is None else f"ended with exit code {code}"
        if code is not None and code < 0:
            how = f"was ended by signal {-code}"
        return AgentFailed(
            f"the program {how} and did not answer", said=self.errors.decode(errors="replace")
        )

    async def end(self) -> None:
        """End the program and all that it started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        with suppress(TimeoutError):
            # A process that left the group may hold a pipe open; it is not waited for.
            async with asyncio.timeout(_FAREWELL):
                await self.process.wait()
        if self.reading is not None:
            self.reading.cancel()
            await asyncio.gather(self.reading, return_exceptions=True)


class CommandSession(Session):
    """One sample's conversations, each with its own process."""

    def __init__(self, command: tuple[str, ...], settings: Settings) -> None:
        self._command, self._settings = command, settings
        self._process: _Process | None = None

    async def ask(self, message: Message) -> Answer:
        context = message.chat_context
        if context is None:
            await self.close()
        if self._process is None:
            self._process = await _start(self._command)
        request = {
            "agent": self._settings.agent,
            "text": message.text,
            "sly_data": message.sly_data,
            "chat_context": context and context[0],
            "chat_filter": message.chat_filter,
            "metadata": dict(self._settings.metadata),
        }
        line = await self._process.ask(encode_json(request))
        parts = read_parts(_read_reply(line))
        own = parts.pop("chat_context", None)
        return Answer(**parts, chat_context=(own,))

    async def close(self) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            await process.end()


class CommandConnection(Connection):
    """One program, started for every conversation."""

    def __init__(self, settings: Settings) -> None:
        if not settings.command:
            raise InputError(
                "the connection command needs a program",
                advice="name it yourself: --command 'python agent.py'; a test file cannot",
            )
        self._settings = settings
        self.secrets = find_credentials(os.environ)

    async def session(self) -> Session:
        return CommandSession(self._settings.command, self._settings)


async def _start(command: tuple[str, ...]) -> _Process:
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            # A new process group, so that its children end with it.
            start_new_session=True,
            limit=_LONGEST_ANSWER,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"cannot be started: {reason}", where=command[0]) from None
    started = _Process(process)
    started.reading = asyncio.create_task(started.read_errors())
    return started


def _read_reply(line: bytes) -> Any:
    if has_too_many_parts(line):
        raise ConnectionFailed(f"the answer has more than {MOST_PARTS:,} parts")
    try:
        reply = json.loads(line)
    except (ValueError, RecursionError):
        raise ConnectionFailed(
            "the program wrote a line that is not JSON",
            said=line.decode(errors="replace"),
            advice="write one object per answer to the standard output, the rest elsewhere",
            lasting=True,
        ) from None
    if isinstance(reply, dict) and reply.get("error"):
        raise AgentFailed("the agent reports an error", said=str(reply["error"]))
    return reply
