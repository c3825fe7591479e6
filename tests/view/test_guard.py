"""Who gets nothing from the viewer: everybody but the browser that opened its first address."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.runs.making import make_record, write_run
from tests.view.conftest import Viewer, open_viewer
from tests.waiting import PATIENCE

SECRET = "what the run is about"


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: str


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewer]:
    folder = tmp_path_factory.mktemp("guard")
    record = make_record("case", "F", reason=SECRET)
    write_run(folder / "runs/one", [record], title=SECRET)
    outside = write_run(folder / "outside", [record], title=SECRET)
    (folder / "runs/linked").symlink_to(outside)
    (folder / "runs/secret.txt").write_text(SECRET)
    with open_viewer(folder / "runs", folder / "cache") as viewer:
        yield viewer


def send(viewer: Viewer, request: bytes) -> Answer:
    """Send exactly these bytes and read until the server closes."""
    with socket.create_connection(("127.0.0.1", viewer.port), PATIENCE) as connection:
        connection.sendall(request)
        data = b""
        while piece := connection.recv(65536):
            data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    return Answer(int(first.split()[1]) if first else 0, headers, body.decode("utf-8", "replace"))


def ask(
    viewer: Viewer,
    path: str = "/",
    *,
    method: str = "GET",
    host: str | None = None,
    cookie: str | None = None,
    more: tuple[str, ...] = (),
) -> Answer:
    """Ask as the user's browser would, but for what is given."""
    lines = [
        f"{method} {path} HTTP/1.1",
        f"Host: {viewer.host if host is None else host}",
        f"Cookie: {viewer.cookie if cookie is None else cookie}",
        "Connection: close",
        *more,
    ]
    return send(viewer, "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n")


def assert_nothing(answer: Answer) -> None:
    assert 400 <= answer.status < 500
    assert SECRET not in answer.body
    assert "set-cookie" not in answer.headers


def test_the_first_address_gives_the_cookie_and_the_cookie_the_pages(viewer: Viewer) -> None:
    path = viewer.address.removeprefix(viewer.origin)
    first = ask(viewer, path, cookie="")
    assert first.status == 200
    assert SECRET not in first.body
    assert viewer.token not in first.body
    assert 'content="0; url=/"' in first.body
    cookies = SimpleCookie(first.headers["set-cookie"])
    (cookie,) = cookies.values()
    assert cookie["httponly"]
    assert (cookie["samesite"].lower(), cookie["path"], cookie["domain"]) == ("strict", "/", "")
    page = ask(viewer)
    assert (page.status, SECRET in page.body, viewer.token in page.body) == (200, True, False)


def test_a_token_leads_to_the_page_it_is_given_with(viewer: Viewer) -> None:
    answer = ask(viewer, f"/runs/one?token={viewer.token}", cookie="")
    assert 'url=/runs/one"' in answer.body


@pytest.mark.parametrize(
    "cookie",
    [
        "",
        "assay-view={token}",
        "assay-view-1={token}",
        "assay-view-{port}=",
        "x=assay-view-{port}",
        "assay-view-{port}={token}x",
        "assay-view-{port}=ü",
        "{token}",
        "=;=;;",
        "a" * 4000,
    ],
)
def test_without_the_cookie_there_is_nothing(viewer: Viewer, cookie: str) -> None:
    given = cookie.replace("{token}", viewer.token.lower()).replace("{port}", str(viewer.port))
    for path in ("/", "/runs/one", "/assets/view.js", "/events/runs"):
        assert_nothing(ask(viewer, path, cookie=given))


@pytest.mark.parametrize("query", ["token=", "token=x", "TOKEN={token}", "token=%00", "token=%ff"])
def test_a_wrong_token_gets_nothing(viewer: Viewer, query: str) -> None:
    assert_nothing(ask(viewer, f"/?{query.replace('{token}', viewer.token)}", cookie=""))


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "localhost:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "",
        "[::1]:{port}",
        "127.0.0.1.evil.example:{port}",
        "127.1:{port}",
        "127.0.0.1:{port}:1",
    ],
)
def test_another_host_gets_nothing(viewer: Viewer, host: str) -> None:
    given = host.replace("{port}", str(viewer.port))
    assert_nothing(ask(viewer, host=given))
    assert_nothing(ask(viewer, f"/?token={viewer.token}", host=given, cookie=""))


def test_two_hosts_or_none_get_nothing(viewer: Viewer) -> None:
    assert_nothing(ask(viewer, more=("Host: evil.example",)))
    cookie = f"Cookie: {viewer.cookie}\r\n\r\n"
    assert_nothing(send(viewer, f"GET / HTTP/1.0\r\n{cookie}".encode()))


@pytest.mark.parametrize(
    "header",
    [
        "Origin: https://evil.example",
        "Origin: null",
        "Origin: http://127.0.0.1:1",
        "Origin: http://localhost:{port}",
        "Origin: https://127.0.0.1:{port}",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
    ],
)
def test_another_origin_gets_nothing(viewer: Viewer, header: str) -> None:
    given = header.replace("{port}", str(viewer.port))
    assert_nothing(ask(viewer, more=(given,)))
    # As a picture or a script of another page, which could know the address.
    path = f"/?token={viewer.token}"
    assert_nothing(ask(viewer, path, more=(given, "Sec-Fetch-Mode: no-cors")))


def test_a_click_in_another_application_opens_the_viewer(viewer: Viewer) -> None:
    came = ("Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document")
    assert ask(viewer, f"/?token={viewer.token}", cookie="", more=came).status == 200
    assert_nothing(ask(viewer, "/", more=came))
    framed = (*came[:2], "Sec-Fetch-Dest: iframe")
    assert_nothing(ask(viewer, f"/?token={viewer.token}", cookie="", more=framed))


@pytest.mark.parametrize(
    "method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get"]
)
def test_nothing_can_be_changed(viewer: Viewer, method: str) -> None:
    answer = ask(viewer, "/runs/one", method=method, more=("Content-Length: 0",))
    assert_nothing(answer)
    assert answer.status == 405


def test_a_head_has_no_body(viewer: Viewer) -> None:
    answer = ask(viewer, method="HEAD")
    assert (answer.status, answer.body) == (200, "")


@pytest.mark.parametrize(
    "path",
    [
        "/../../../../etc/passwd", "/assets/../server.py", "/assets/%2e%2e/server.py",
        "/assets/..%2fserver.py", "/assets/%252e%252e%252fserver.py", "/assets/....//server.py",
        "/assets//etc/passwd", "/assets/server.py", "/assets/", "/assets/view.css/..",
        "//etc/passwd", "/runs/..", "/runs/.", "/runs/%2e%2e", "/runs/..%5c..", "/runs/linked",
        "/runs/outside", "/runs/secret.txt", "/runs/one/..", "/runs/one/../linked", "/runs/one%00",
        "/runs/one/run.json", "/runs/one/journal.jsonl", "/runs/one\\..\\linked", "/runs/%6fne",
        "/runs/one;x", "/titles/..", "/titles/one", "/compare/one/..", "/compare/one/linked",
        "/compare/../one/one", "/events/..", "/events/runs/..", "/etc/passwd", "/proc/self/environ",
        "*", "http://evil.example/", "http://127.0.0.1/runs/one", "/\u00e9", "/" + "a" * 2_000,
        "/?q=" + "a" * 5_000, "/runs/one?q=" + "%61" * 2_000, "/runs/one?page=" + "9" * 30,
        "/runs/one?slower=1e400", "/runs/one?outcome=x", "/runs/one?order=;drop", "/?page=-1",
        "/compare?run=one", "/compare?run=one&run=one&run=one", "/compare?run=..&run=linked",
    ],
)  # fmt: skip
def test_tricks_with_addresses_get_nothing(viewer: Viewer, path: str) -> None:
    assert_nothing(ask(viewer, path))


def test_requests_that_are_none_get_nothing(viewer: Viewer) -> None:
    assert_nothing(ask(viewer, more=(f"X: {'a' * 70_000}",)))
    upgrade = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13")
    answer = ask(viewer, "/events/runs", cookie="", more=upgrade)
    assert_nothing(answer)
    assert send(viewer, b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n").status == 400


def test_every_answer_has_the_headers_that_protect_it(viewer: Viewer) -> None:
    answers = [
        ask(viewer),
        ask(viewer, "/assets/view.js"),
        ask(viewer, "/runs/nothing"),
        ask(viewer, f"/?token={viewer.token}", cookie=""),
        ask(viewer, cookie=""),
        ask(viewer, host="evil.example"),
    ]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "server" not in answer.headers


def test_other_machines_cannot_connect(viewer: Viewer) -> None:
    listening = Path("/proc/net/tcp").read_text().splitlines()[1:]
    port = f":{viewer.port:04X}"
    places = {line.split()[1] for line in listening if line.split()[1].endswith(port)}
    here = f"0100007F{port}"
    assert here in places
    assert f"00000000{port}" not in places


def test_a_port_that_is_taken_is_named(viewer: Viewer, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    taken = open_viewer(tmp_path / "runs", tmp_path / "cache", "--port", str(viewer.port))
    with pytest.raises(AssertionError, match=f"port {viewer.port} of 127.0.0.1 cannot be used"):
        taken.__enter__()
