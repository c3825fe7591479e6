"""The worker that runs programs: takes one request at a time, and answers with how it ended.

Started as `start.py launcher DESCRIPTOR`, the descriptor being a stream socket. The first
message is the spec of the jail. A message is a length, the length of its JSON, the JSON, and bytes.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import signal
import socket
import struct
import sys
import time
from typing import Any, NoReturn

from . import folder, jail, kernel, processes

_LENGTHS = struct.Struct("=QQ")
# What keeps files out of a folder that a program has filled or closed.
_SPOILED = {errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.ENOTEMPTY, errno.EISDIR}
_ASK_FOR_PATIENCE_EVERY = 5.0
_FOLDER_SPOILED = b"the work folder was spoiled"
_VARIABLES = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}


class GoneError(Exception):
    """Whoever asked is not there any more."""


def receive(control: socket.socket) -> tuple[dict[str, Any], bytes]:
    total, head = _LENGTHS.unpack(_exactly(control, _LENGTHS.size))
    body = _exactly(control, total)
    return json.loads(body[:head]), body[head:]


def _exactly(control: socket.socket, count: int) -> bytes:
    parts = []
    while count:
        part = control.recv(min(count, 1 << 20))
        if not part:
            raise GoneError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def send(control: socket.socket, message: dict[str, Any], data: bytes = b"") -> None:
    head = json.dumps(message).encode()
    control.sendall(_LENGTHS.pack(len(head) + len(data), len(head)) + head + data)


class _Patience:
    """Says from time to time that there is still something to do, so that nobody gives up."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._asked = time.monotonic()

    def ask(self) -> None:
        if time.monotonic() - self._asked > _ASK_FOR_PATIENCE_EVERY:
            self._asked = time.monotonic()
            send(self._control, {"busy": True})


def serve(control: socket.socket) -> NoReturn:
    """Until the other side is gone: standard descriptors, a request, an answer."""
    while True:
        try:
            message, standard, _, _ = socket.recv_fds(control, 1, 3)
            for descriptor in standard:
                os.set_inheritable(descriptor, False)  # recv_fds ignores the flag for that
            if not message:
                raise GoneError
            request, data = receive(control)
            try:
                answer, files = _run(
                    control, request, data, (standard[0], standard[1], standard[2])
                )
            finally:
                for descriptor in standard:
                    os.close(descriptor)
            send(control, answer, files)
        except jail.JailError as error:
            send(control, {"error": str(error)})
        except (GoneError, ConnectionError):
            os._exit(0)


def _run(
    control: socket.socket, request: dict[str, Any], data: bytes, standard: tuple[int, int, int]
) -> tuple[dict[str, Any], bytes]:
    child, told = _start(request, data, standard)
    try:
        ending = _attend(control, child, request["wall_time"])
        trouble = b"" if told is None else os.read(told, 4096)
        if trouble == _FOLDER_SPOILED:
            ending = ending._replace(status=-signal.SIGKILL, limit="work_size")
        elif trouble:
            raise jail.JailError(trouble.decode("utf-8", "replace"))
        found = folder.collect(child.work, request["collect"], request["collect_size"])
    finally:
        if told is not None:
            os.close(told)
        child.close(_Patience(control).ask)
    files, data = _packed(found)
    return {"ending": list(ending), **files}, data


def _start(
    request: dict[str, Any], data: bytes, standard: tuple[int, int, int]
) -> tuple[jail.Child, int | None]:
    """A running program, and where it says what kept it from being started, if it is a fork."""
    spawned = jail.spawn_child(
        request["command"],
        {**_VARIABLES, **request["environment"]},
        standard,
        lambda work: folder.put(request["files"], data, work),
    )
    if spawned is not None:
        return spawned, None
    told, tell = os.pipe2(os.O_CLOEXEC)
    child = jail.fork_child((tell,), standard)
    if child is None:
        _become(request, data, tell)
    os.close(tell)
    return child, told


def _packed(found: folder.Collected) -> tuple[dict[str, Any], bytes]:
    files = [[name, len(content)] for name, content in found.files]
    return {"files": files, "left": found.left}, b"".join(content for _, content in found.files)


def _become(request: dict[str, Any], data: bytes, tell: int) -> NoReturn:
    """In the child: put the files in place and turn into the program."""
    try:
        folder.put(request["files"], data, os.open(".", os.O_RDONLY | os.O_CLOEXEC))
    except BaseException as error:
        trouble = f"a file could not be put into the work folder: {error}".encode(errors="replace")
        number = error.errno if isinstance(error, OSError) else None
        if number in _SPOILED and jail.keeps_work():
            # Earlier programs made the folder what it is.
            os.write(2, trouble + b"\n")
            os.write(tell, _FOLDER_SPOILED)
        else:
            os.write(tell, trouble[:4000])
        os._exit(125)
    own = {name: os.environ[name] for name in ("HOME", "TMPDIR")}
    environment = {**_VARIABLES, **own, **request["environment"]}
    command = request["command"]
    try:
        os.execvpe(command[0], command, environment)  # noqa: S606 - never a shell
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        os.write(2, f"{command[0]}: {reason}\n".encode("utf-8", "replace"))
    os._exit(127)


def _attend(control: socket.socket, child: jail.Child, wall_time: float) -> jail.Ending:
    """Wait for the child's end, its time, or the end of who asked; connect and stop on request."""
    deadline, when_over = time.monotonic() + wall_time, "wall_time"
    poller = select.poll()
    for descriptor in (control.fileno(), child.handle):
        poller.register(descriptor, select.POLLIN)
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            return child.end(when_over or None)
        ready = [number for number, _ in poller.poll(min(left, child.pause) * 1000)]
        if child.handle in ready:
            return child.end()
        if control.fileno() in ready:
            request, data = _next_request(control, child)
            if "stop" in request:
                deadline, when_over = time.monotonic() + request["stop"], ""
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.process, signal.SIGTERM)
            elif "connect" in request:
                _connect(control, child, request["connect"])
            elif "put" in request:
                _put(control, child, request["put"], data)
            else:
                found = folder.collect(child.work, request["collect"], request["collect_size"])
                files, data = _packed(found)
                send(control, {"between": files}, data)
        elif child.folder_is_full():
            return child.end("work_size")


def _next_request(control: socket.socket, child: jail.Child) -> tuple[dict[str, Any], bytes]:
    try:
        return receive(control)
    except (GoneError, ConnectionError):
        child.end()
        raise GoneError from None


def _connect(control: socket.socket, child: jail.Child, port: int) -> None:
    """Hand out a socket to a port of the child's own network."""
    try:
        with child.connect(port) as connection:
            send(control, {"connected": True})
            socket.send_fds(control, [b"!"], [connection.fileno()])
    except OSError as error:
        send(control, {"connected": False, "reason": str(error)})


def _put(
    control: socket.socket, child: jail.Child, files: list[tuple[str, int]], data: bytes
) -> None:
    """Put files beside the running child."""
    try:
        folder.put(files, data, child.work)
        send(control, {"between": {}})
    except OSError as error:
        send(control, {"between": {"reason": str(error)}})


def _end_all(number: int, frame: object) -> NoReturn:
    processes.end_descendants()
    os._exit(128 + number)


def main(descriptor: str) -> None:
    control = socket.socket(fileno=int(descriptor))
    control.set_inheritable(False)
    try:
        spec, _ = receive(control)
        jail.enter(spec)
        if spec["level"] == "none":
            # A spawned program cannot ask to end with its parent, as a forked one does.
            signal.signal(signal.SIGTERM, _end_all)
            kernel.die_with_parent(signal.SIGTERM)
    except (jail.JailError, OSError) as error:
        send(control, {"error": str(error)})
        sys.exit(1)
    send(control, {"ready": True})
    serve(control)
