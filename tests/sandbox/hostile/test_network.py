"""Programs that want to talk to somebody."""

from __future__ import annotations

import contextlib
from typing import Any

from tests.sandbox.hostile.support import SECRET, Sandbox


def _nobody_came(listeners: dict[str, Any]) -> bool:
    for name in ("tcp", "path", "abstract"):
        with contextlib.suppress(BlockingIOError):
            listeners[name].accept()
            return False
    with contextlib.suppress(BlockingIOError):
        listeners["udp"].recv(100)
        return False
    return True


def test_listeners_of_the_machine(sandbox: Sandbox, host_listeners: dict[str, Any]) -> None:
    outcome = sandbox.python(
        """
import socket
def tcp():
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), 1)
def path():
    socket.socket(socket.AF_UNIX).connect(sys.argv[3])
def abstract():
    socket.socket(socket.AF_UNIX).connect("\\0" + sys.argv[4])
for action in (tcp, path, abstract):
    attempt(action.__name__, action)
""",
        *host_listeners["arguments"],
    )
    outcome.refused()
    assert _nobody_came(host_listeners)


def test_datagrams_to_the_machine(sandbox: Sandbox, host_listeners: dict[str, Any]) -> None:
    # In a network of its own a program may send to nobody; what counts is that nobody gets it.
    sandbox.python(
        """
import socket
def udp():
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(
        b"secret", ("127.0.0.1", int(sys.argv[2])))
def abstract():
    return socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", "\\0" + sys.argv[4])
attempt("udp", udp)
attempt("abstract", abstract)
""",
        *host_listeners["arguments"],
    )
    assert _nobody_came(host_listeners)


def test_addresses_outside(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import socket
attempt("tcp", lambda: socket.create_connection(("192.0.2.1", 80), 1))
attempt("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("192.0.2.1", 53)))
attempt("tcp 6", lambda: socket.create_connection(("2001:db8::1", 80), 1))
attempt("name", lambda: socket.getaddrinfo("example.com", 80))
""")
    outcome.refused()


def test_other_kinds_of_sockets(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import socket
kinds = {"raw": (2, 3, 1), "packet": (17, 3, 0), "vsock": (40, 1, 0), "alg": (38, 5, 0),
         "bluetooth": (31, 3, 1), "can": (29, 3, 1), "audit": (16, 3, 9), "netfilter": (16, 3, 12),
         "tipc": (30, 1, 0), "rds": (21, 5, 0), "xdp": (44, 3, 0), "kcm": (41, 5, 0)}
for name, kind in kinds.items():
    attempt(name, lambda: socket.socket(*kind))
""")
    outcome.refused()


def test_port_of_the_machine_is_not_opened(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import socket
def listen():
    listener = socket.create_server(("127.0.0.1", 0))
    caller = socket.create_connection(listener.getsockname(), 1)
    return "heard"
attempt("listen", listen)
""")
    if sandbox.level == "landlock":
        outcome.refused()
    else:
        assert outcome.lines == ["listen ALLOWED 'heard'"], outcome


def test_pairs_of_sockets_work_everywhere(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import asyncio
async def main():
    return await asyncio.sleep(0, "awake")
print(asyncio.run(main()))
""")
    assert outcome.lines == ["awake"], outcome


def test_network_that_was_allowed_is_there(
    sandbox: Sandbox, host_listeners: dict[str, Any]
) -> None:
    outcome = sandbox.python(
        """
import socket
socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5)
print("connected")
attempt("abstract", lambda: socket.socket(socket.AF_UNIX).connect("\\0" + sys.argv[4]))
attempt("secret", lambda: open(sys.argv[5]).read())
""",
        *host_listeners["arguments"],
        str(sandbox.home / "secret.txt"),
        network=True,
    )
    assert outcome.lines[0] == "connected", outcome
    assert all("refused" in line for line in outcome.lines[1:]), outcome
    assert SECRET.encode() not in outcome.stdout
    connection, _ = host_listeners["tcp"].accept()
    connection.close()
    assert _nobody_came(host_listeners)
