"""The `assay` command, or pytest, forked from a process that has imported what it needs.

A command of the tests spends most of its time on imports. One process per session of tests pays for
them and forks a process per command: with streams, signals, an exit code and an end like those of
any other. What is about start-up itself starts an interpreter (the marker `real_start`).

As a script it serves; the arguments are the socket to listen on and what to run. Only the standard
library is imported at the top, because what `write_shim` writes starts once per command.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_LENGTH = 8


def ask(
    address: str,
    words: Sequence[str],
    cwd: str,
    environment: Mapping[str, str],
    streams: Sequence[int],
    patience: float | None = None,
) -> int:
    """Run a command in a fork of the server; return its exit code, negative if a signal ended it.

    `streams` are the descriptors of its three standard streams.
    """
    request = json.dumps([list(words), cwd, dict(environment)]).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(patience)
        connection.connect(address)
        socket.send_fds(connection, [len(request).to_bytes(_LENGTH)], list(streams))
        connection.sendall(request)
        with connection.makefile("r") as answer:
            pid = int(answer.readline())
            try:
                return os.waitstatus_to_exitcode(int(answer.readline()))
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise


def stop(address: str) -> None:
    """End the server."""
    with contextlib.suppress(ValueError):
        ask(address, [], "/", {}, (0, 1, 2))


def write_shim(path: Path, address: str) -> None:
    """Write a program that stands for `assay` on the PATH."""
    here = str(Path(__file__).resolve())
    path.write_text(
        f"#!{sys.executable} -IS\n"
        "import os, runpy, sys\n"
        f"ask = runpy.run_path({here!r})['ask']\n"
        f"code = ask({address!r}, sys.argv[1:], os.getcwd(), os.environ, (0, 1, 2))\n"
        "os._exit(code if code >= 0 else 128 - code)\n"
    )
    path.chmod(0o755)


def _receive(connection: socket.socket) -> tuple[list[int], list[str], str, dict[str, str]]:
    header, streams, _, _ = socket.recv_fds(connection, _LENGTH, 3)
    size = int.from_bytes(header)
    request = bytearray()
    while len(request) < size:
        request += connection.recv(size - len(request))
    return streams, *json.loads(request)


def _become(streams: list[int], words: list[str], cwd: str, environment: dict[str, str]) -> None:
    """Make this process what `python -m assay` would be at this point."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    paths = environment.get("PYTHONPATH", "")
    sys.path[0:1] = [cwd, *(str(Path(path).absolute()) for path in paths.split(os.pathsep) if path)]
    sys.argv[1:] = words


# Neither what runs in other interpreters or in pytest, nor what looks for plugins when imported.
_ELSEWHERE = re.compile(
    r"\.(inside|jail|templates|__main__|pytest\w*|cli\.report|python_problems\.plugin)(\.|$)"
)
_THIRD_PARTY = ("click", "hocon", "jinja2", "jsonschema", "pydantic", "yaml")


def _import_everything(program: str) -> None:
    import gc
    import importlib
    import pkgutil

    # Plugins of pytest are imported by pytest, which rewrites them: Assay, and anyio for httpx.
    name, more = ("_pytest", ()) if program == "pytest" else ("assay", ("httpcore", "httpx"))
    package = importlib.import_module(name)
    own = [found.name for found in pkgutil.walk_packages(package.__path__, f"{name}.")]
    for name in (*own, *_THIRD_PARTY, *more):
        if not _ELSEWHERE.search(name):
            importlib.import_module(name)
    assert "slop_code" not in sys.modules, "a module for the code of problems was imported"
    # As many jobs on every machine unless told otherwise; the workers of pytest share the cores.
    os.cpu_count = lambda: 1
    gc.freeze()


def _serve(address: str) -> None:
    """Fork for every request; return in the process that is to become the command."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    print("ready", flush=True)
    while True:
        connection, _ = listener.accept()
        # The times of those that ended are added to ours only if they are waited for.
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        streams, words, cwd, environment = _receive(connection)
        if not words:
            sys.exit()
        if os.fork() == 0:
            listener.close()
            command = os.fork()
            if command == 0:
                connection.close()
                _become(streams, words, cwd, environment)
                return
            os.closerange(0, 3)
            for stream in streams:
                os.close(stream)
            with contextlib.suppress(OSError):
                connection.sendall(f"{command}\n".encode())
                connection.sendall(f"{os.waitpid(command, 0)[1]}\n".encode())
            os._exit(0)
        connection.close()
        for stream in streams:
            os.close(stream)


if __name__ == "__main__":
    program = sys.argv[2]
    _import_everything(program)
    # PR_SET_PDEATHSIG: nobody stops it if the tests are killed.
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    _serve(sys.argv[1])
    import atexit
    import runpy

    try:
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    except SystemExit as ending:
        # As the interpreter ends, but for taking everything apart that was imported.
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(ending.code if isinstance(ending.code, int) else 1)
