"""A sandbox for hostile programs at every level and for every kind of user this machine has."""

from __future__ import annotations

import contextlib
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.sandbox.isolation import available_levels, probe
from tests.sandbox.hostile.support import SECRET, Sandbox, groups, mounts

COMBINATIONS = [(level, user) for level in ("namespaces", "landlock") for user in ("root", "user")]


@pytest.fixture(scope="session", params=COMBINATIONS, ids=["-".join(pair) for pair in COMBINATIONS])
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """At its end: no process, mount, folder or control group is left."""
    level, user = request.param
    if user == "root" and os.geteuid() != 0:
        pytest.skip("these tests do not run as root")
    layers = {layer.name: layer for layer in probe()}
    needed = "Landlock" if level == "landlock" else "level namespaces"
    if not layers[needed].available:
        pytest.skip(f"this machine has no {needed}: {layers[needed].seen}")
    assert level in available_levels(probe()), layers
    before = mounts()
    with tempfile.TemporaryDirectory(prefix="assay-tests-") as folder:
        box = Sandbox(level, user, Path(folder))
        yield box
        supervisors = box.close()
        assert box.left_running() == []
        assert box.workers() == []
        assert list((box.place / "scratch").iterdir()) == []
        assert groups(supervisors) == []
    assert mounts() == before


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A folder that every user can reach; pytest closes its own when another session starts."""
    with tempfile.TemporaryDirectory(prefix="assay-tests-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(autouse=True)
def _nothing_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """After every single test no program that it started is running."""
    yield
    if "sandbox" in request.fixturenames:
        box: Sandbox = request.getfixturevalue("sandbox")
        assert box.left_running() == []


@pytest.fixture(scope="session")
def host_listeners() -> Iterator[dict[str, Any]]:
    """Sockets of this machine that no program may reach; each notes who came."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.chmod(0o755)
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        path = stack.enter_context(socket.socket(socket.AF_UNIX))
        path.bind(str(folder / "socket"))
        (folder / "socket").chmod(0o777)
        abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
        abstract.bind(f"\0{SECRET}")
        for listener in (path, abstract):
            listener.listen()
        for listener in (tcp, udp, path, abstract):
            listener.setblocking(False)
        yield {
            "tcp": tcp,
            "udp": udp,
            "path": path,
            "abstract": abstract,
            "arguments": [
                str(tcp.getsockname()[1]),
                str(udp.getsockname()[1]),
                str(folder / "socket"),
                SECRET,
            ],
        }
