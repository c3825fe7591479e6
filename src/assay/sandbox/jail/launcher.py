"""The worker that runs programs: takes one request at a time and answers with the result.

Started as `start.py launcher DESCRIPTOR`. The first message is the spec of the jail.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import sys
import time
from typing import TYPE_CHECKING, Any, NoReturn

from . import folder, jail, kernel, processes

if TYPE_CHECKING:
    from assay.processes.channel import Channel

# Errors on writing to a folder that a program has filled or closed.
_SPOILED = {errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.ENOTEMPTY, errno.EISDIR}
_ASK_FOR_PATIENCE_EVERY = 5.0
_FOLDER_SPOILED = b"the work folder was spoiled"
_VARIABLES = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}


class _Patience:
    """Sends a sign of life from time to time, so that the caller keeps waiting."""

    def __init__(self, control: Channel) -> None:
        self._control = control
        self._asked = time.monotonic()

    def ask(self) -> None:
        if time.monotonic() - self._asked > _ASK_FOR_PATIENCE_EVERY:
            self._asked = time.monotonic()
            self._control.send({"busy": True})


def serve(control: Channel) -> NoReturn:
    """Run programs until the other side closes: descriptors, a request, an answer."""
    while True:
        try:
            standard = control.receive_descriptors(3)
            request, data = control.receive()
            try:
                answer, files = _run(
                    control, request, data, (standard[0], standard[1], standard[2])
                )
            finally:
                for descriptor in standard:
                    os.close(descriptor)
            control.send(answer, files)
        except jail.JailError as error:
            control.send({"error": str(error)})
        except (EOFError, ConnectionError):
            os._exit(0)


def _run(
    control: Channel, request: dict[str, Any], data: bytes, standard: tuple[int, int, int]
) -> tuple[dict[str, Any], bytes]:
    child, report_read = _start(request, data, standard)
    try:
        ending = _attend(control, child, request["wall_time"])
        trouble = b"" if report_read is None else os.read(report_read, 4096)
        if trouble == _FOLDER_SPOILED:
            ending = ending._replace(status=-signal.SIGKILL, limit="work_size")
        elif trouble:
            raise jail.JailError(trouble.decode("utf-8", "replace"))
        found = folder.collect(child.work, request["collect"], request["collect_size"])
    finally:
        if report_read is not None:
            os.close(report_read)
        child.close(_Patience(control).ask)
    files, data = _pack(found)
    return {"ending": list(ending), **files}, data


def _start(
    request: dict[str, Any], data: bytes, standard: tuple[int, int, int]
) -> tuple[jail.JailChild, int | None]:
    """Start a program; also return the pipe on which a fork reports why it could not start."""
    spawned = jail.spawn_child(
        request["command"],
        {**_VARIABLES, **request["environment"]},
        standard,
        lambda work: folder.put(request["files"], data, work),
    )
    if spawned is not None:
        return spawned, None
    report_read, report_write = os.pipe2(os.O_CLOEXEC)
    child = jail.fork_child((report_write,), standard)
    if child is None:
        _become(request, data, report_write)
    os.close(report_write)
    return child, report_read


def _pack(found: folder.FoundFiles) -> tuple[dict[str, Any], bytes]:
    files = [[name, len(content)] for name, content in found.files]
    return {"files": files, "left": found.left}, b"".join(content for _, content in found.files)


def _become(request: dict[str, Any], data: bytes, report_write: int) -> NoReturn:
    """Put the files in place and turn into the program; called in the child."""
    try:
        folder.put(request["files"], data, os.open(".", os.O_RDONLY | os.O_CLOEXEC))
    except BaseException as error:
        trouble = f"a file could not be put into the work folder: {error}".encode(errors="replace")
        number = error.errno if isinstance(error, OSError) else None
        if number in _SPOILED and jail.keeps_work():
            # Earlier programs made the folder what it is.
            os.write(2, trouble + b"\n")
            os.write(report_write, _FOLDER_SPOILED)
        else:
            os.write(report_write, trouble[:4000])
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


def _attend(control: Channel, child: jail.JailChild, wall_time: float) -> jail.ChildEnding:
    """Wait for the child's end, its time limit or the caller's end; connect and stop on request."""
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
                files, data = _pack(found)
                control.send({"between": files}, data)
        elif child.folder_is_full():
            return child.end("work_size")


def _next_request(control: Channel, child: jail.JailChild) -> tuple[dict[str, Any], bytes]:
    try:
        return control.receive()
    except (EOFError, ConnectionError):
        child.end()
        raise EOFError from None


def _connect(control: Channel, child: jail.JailChild, port: int) -> None:
    """Hand out a socket to a port of the child's own network."""
    try:
        with child.connect(port) as connection:
            control.send({"connected": True})
            control.send_descriptors([connection.fileno()])
    except OSError as error:
        control.send({"connected": False, "reason": str(error)})


def _put(
    control: Channel, child: jail.JailChild, files: list[tuple[str, int]], data: bytes
) -> None:
    """Put files beside the running child."""
    try:
        folder.put(files, data, child.work)
        control.send({"between": {}})
    except OSError as error:
        control.send({"between": {"reason": str(error)}})


def _end_all(number: int, frame: object) -> NoReturn:
    processes.end_descendants()
    os._exit(128 + number)


def main(control: Channel) -> None:
    try:
        spec, _ = control.receive()
        jail.enter(spec)
        if spec["level"] == "none":
            # A spawned program cannot ask to end with its parent, as a forked one does.
            signal.signal(signal.SIGTERM, _end_all)
            kernel.die_with_parent(signal.SIGTERM)
    except (jail.JailError, OSError) as error:
        control.send({"error": str(error)})
        sys.exit(1)
    control.send({"ready": True})
    serve(control)
