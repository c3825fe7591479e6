"""Cases of servers: requests, every kind of answer, servers that die, hang or never start."""

from __future__ import annotations

import base64
import hashlib
import io
import secrets
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from assay.sandbox.isolation import available_levels, probe
from assay.submissions.cases import APICase, APIResult
from tests.sandbox.hostile.support import command_lines, landlock_version
from tests.submissions.adapters.support import Bench
from tests.waiting import PATIENCE

LEVELS = [
    level for level in available_levels(probe()) if level == "namespaces" or landlock_version() >= 4
] + ["none"]
SERVER = """
import argparse, http.server, io, json, os, sys, tarfile, time
parser = argparse.ArgumentParser()
for name, kind in (("address", str), ("port", int), ("more", str)):
    parser.add_argument(f"--{name}", type=kind)
given = parser.parse_args()
seen = []
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *about): pass
    def do_GET(self):
        seen.append(self.path)
        if self.path == "/die":
            print("last words", file=sys.stderr, flush=True); os._exit(3)
        if self.path == "/hang": time.sleep(60)
        if self.path == "/binary": return self.answer(bytes(range(256)), "image/png")
        if self.path == "/text": return self.answer("grün".encode(), "text/plain")
        if self.path == "/number": return self.answer(b"42", "text/plain")
        if self.path == "/deep": return self.answer(b"[" * 900 + b"]" * 900, "application/json")
        if self.path == "/broken":
            print("trouble", file=sys.stderr, flush=True)
            return self.answer(b"{}", "application/json", 500)
        if self.path == "/flaky" and seen.count("/flaky") < 3: return self.connection.close()
        if self.path == "/archive": return self.archive()
        if self.path == "/long": return self.answer(b"[" + b"1," * 900_000 + b"1]", "text/json")
        if self.path == "/trap":
            os.symlink("/etc/passwd", "link.txt"); os.mkdir("folder.txt")
        if self.path == "/write":
            open("made.txt", "w").write(open("in.txt").read().upper())
        about = {"path": self.path, "seen": len(seen), "more": given.more}
        about["mode"] = os.environ.get("MODE")
        self.answer(json.dumps(about).encode(), "application/json")
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        about = {"body": body.hex(), "x": self.headers.get("X-Own")}
        about["type"] = self.headers.get("Content-Type")
        self.answer(json.dumps(about).encode(), "application/json", 201)
    def archive(self):
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as tar:
            for name, content in (("a/b.txt", b"text"), ("c.bin", b"\\xff"), ("../out", b"no")):
                entry = tarfile.TarInfo(name); entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
        self.answer(packed.getvalue(), "application/gzip", name="all.tgz")
    def answer(self, body, kind, status=200, name=None):
        self.send_response(status); self.send_header("Content-Type", kind)
        if name: self.send_header("Content-Disposition", f'attachment; filename="{name}"')
        self.send_header("Content-Length", str(len(body))); self.end_headers()
        self.wfile.write(body)
http.server.ThreadingHTTPServer(("127.0.0.1", given.port), Handler).serve_forever()
"""


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def bench(folder: Path, script: str = SERVER, **adapter: Any) -> Bench:
    return Bench(folder, {"main.py": script}, adapter={"type": "api", **adapter})


def case(path: str = "/", name: str = "one", **fields: Any) -> APICase:
    return APICase.model_validate({"id": name, "group": "core", "path": path, **fields})


def ask(bench: Bench, *cases: APICase, **options: Any) -> list[APIResult]:
    results = bench.run(*cases, **options)
    assert all(isinstance(result, APIResult) for result in results)
    return results  # type: ignore[return-value]


def test_one_server_answers_the_cases_of_a_group(tmp_path: Path, level: str) -> None:
    server = bench(tmp_path, arguments=["--more", "two words"], health_path="/not-there")
    first, second, third = ask(
        server, case("/a"), case("/b", query={"q": "x y", "on": True, "n": [1, 2]}),
        case("/c?d=1", arguments=["k=v=w"]), level=level, env={"MODE": "m"},
    )  # fmt: skip
    assert first.status_code == 200
    assert first.output == {"path": "/a", "seen": 2, "more": "two words", "mode": "m"}
    assert second.output["path"] == "/b?q=x+y&on=true&n=1&n=2"
    assert (third.output["path"], third.output["seen"]) == ("/c?d=1&k=v%3Dw", 4)
    assert first.resource_path is not None
    assert first.resource_path.endswith("/a")
    assert (first.method, first.retries, first.stderr) == ("GET", 0, None)
    assert first.headers["content-type"] == "application/json"
    assert 0 < first.elapsed < PATIENCE


@pytest.mark.parametrize(
    ("body", "sent", "kind"),
    [
        ({"a": [1]}, b'{"a": [1]}', "application/json"),
        ("plain", b"plain", None),
        (b"\x00\xff", b"\x00\xff", None),
        (12, b"12", None),
    ],
)
def test_bodies_and_headers(tmp_path: Path, body: Any, sent: bytes, kind: str | None) -> None:
    (result,) = ask(bench(tmp_path), case("/", method="post", body=body, headers={"X-Own": "1"}))
    assert result.status_code == 201
    assert result.output == {"body": sent.hex(), "type": kind, "x": "1"}


def test_an_archive_is_sent_from_base64(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.txt", "a")
    body = base64.b64encode(packed.getvalue()).decode()
    headers = {"Content-Type": "application/zip"}
    (result,) = ask(bench(tmp_path), case(method="POST", body=body, headers=headers))
    assert result.output["body"] == packed.getvalue().hex()


def test_every_kind_of_answer(tmp_path: Path) -> None:
    names = ("/binary", "/text", "/number", "/deep", "/broken")
    binary, text, number, deep, broken = ask(bench(tmp_path), *(case(name) for name in names))
    content = bytes(range(256))
    assert (binary.output, binary.binary_response) == (content, True)
    assert binary.binary_response_size == 256
    assert binary.binary_response_hash == hashlib.sha256(content).hexdigest()
    assert (text.output, text.binary_response, number.output) == ("grün", False, 42)
    assert str(deep.output).startswith("[[[")
    assert (broken.status_code, broken.output, broken.stderr) == (500, {}, "trouble\n")
    (as_text,) = ask(bench(tmp_path, response_is_json=False), case("/number"))
    assert as_text.output == "42"


def test_the_files_of_an_archive_are_files(tmp_path: Path) -> None:
    server = bench(tmp_path)
    (result,) = ask(server, case("/archive"))
    assert result.files == {"a/b.txt": "text", "c.bin": b"\xff"}
    assert result.binary_response
    (server.problem.path / "loader.py").touch()
    (reference,) = ask(server, case("/archive"))
    assert reference.files == {"a/b.txt": "text", "c.bin": "/w=="}
    assert reference.output["is_archive"]
    assert reference.output["filename"] == "all.tgz"
    content = base64.b64decode(reference.output["content_b64"])
    assert hashlib.sha256(content).hexdigest() == reference.binary_response_hash


def test_a_server_that_dies_half_way_fails_its_case_and_is_started_again(
    tmp_path: Path, level: str
) -> None:
    before, dying, after = ask(
        bench(tmp_path), case("/a"), case("/die", retries=3), case("/b"), level=level
    )
    assert (before.status_code, dying.status_code, after.status_code) == (200, -1, 200)
    assert dying.stderr == "[the server ended (exit status 3)]\nlast words\n"
    assert dying.output is None
    assert after.output["seen"] == 2  # the health check, and this


def test_where_cases_depend_on_each_other_the_rest_fails_until_a_reset(tmp_path: Path) -> None:
    cases = [case("/die"), case("/a"), case("/b"), case("/c", reset=True), case("/d")]
    results = ask(bench(tmp_path), *cases, isolated=False)
    assert [result.status_code for result in results] == [-1, -1, -1, 200, 200]
    assert "had ended before this case (exit status 3)" in str(results[1].stderr)
    assert "last words" in str(results[2].stderr)


def test_a_server_that_does_not_start_fails_its_cases_at_once(tmp_path: Path, level: str) -> None:
    server = bench(tmp_path, "import sys; sys.exit('cannot start')")
    first, second = ask(server, case("/a"), case("/b"), level=level)
    assert first.status_code == second.status_code == -1
    assert "ended before it answered (exit status 1)" in str(first.stderr)
    assert "cannot start" in str(second.stderr)


def test_a_server_that_never_answers_is_given_up_and_gone(tmp_path: Path) -> None:
    mark = f"600.{secrets.randbelow(10**12):012}"
    script = f"import subprocess; subprocess.run(['sleep', '{mark}'])"
    started = time.monotonic()
    (result,) = ask(bench(tmp_path, script, startup_timeout_s=0.5), case("/a"))
    assert "did not answer within 0.5 s" in str(result.stderr)
    assert time.monotonic() - started < PATIENCE
    assert not command_lines(mark)


def test_a_slow_answer_is_a_time_out_and_the_server_goes_on(tmp_path: Path) -> None:
    slow, after = ask(bench(tmp_path), case("/hang", timeout_s=0.3), case("/a"))
    assert (slow.status_code, slow.timed_out) == (-1, True)
    assert "no answer within 0.3 s" in str(slow.stderr)
    assert after.status_code == 200


def test_retries_go_on_until_there_is_an_answer(tmp_path: Path) -> None:
    tried, gave_up = ask(bench(tmp_path), case("/flaky", retries=5), case("/flaky"))
    assert (tried.status_code, tried.retries) == (200, 2)
    assert gave_up.status_code == 200
    (refused,) = ask(bench(tmp_path), case("/flaky", retries=1))
    assert (refused.status_code, refused.retries) == (-1, 1)


def test_files_go_to_the_running_server_and_come_back(tmp_path: Path, level: str) -> None:
    files = [{"path": "in.txt", "content": "given"}]
    server = bench(tmp_path, tracked_files=["made.txt"])
    first, second = ask(server, case("/a"), case("/write", input_files=files), level=level)
    assert first.files == {}
    assert (second.status_code, second.files) == (200, {"made.txt": "GIVEN"})


def test_a_new_server_after_a_reset(tmp_path: Path) -> None:
    results = ask(bench(tmp_path), case("/a"), case("/b"), case("/c", reset=True))
    assert [result.output["seen"] for result in results] == [2, 3, 2]


def test_the_command_may_say_where_address_and_port_go(tmp_path: Path) -> None:
    from assay.submissions.adapters.messages import command_of
    from assay.submissions.config import ApiAdapter

    adapter = ApiAdapter(type="api", port=81, arguments=["{{static:a}}", "'b c'"])
    start = ("serve", "{address}:{port}")
    assert command_of(start, adapter, 81, {"a": "/x"}, resplit=True) == [
        "serve", "127.0.0.1:81", "/x", "b c",
    ]  # fmt: skip
    assert command_of(("serve", "-p{port}"), adapter, 82, {"a": "/x"}, resplit=False) == [
        "serve", "-p82", "--address", "127.0.0.1", "/x", "'b c'",
    ]  # fmt: skip


def test_what_is_there_and_cannot_be_brought_back_is_named(tmp_path: Path, level: str) -> None:
    tracked = ["link.txt", "folder.txt", "none.txt"]
    trap, dead = ask(
        bench(tmp_path),
        case("/trap", tracked_files=tracked),
        case("/die", tracked_files=tracked),
        level=level,
    )
    assert trap.files == {}
    left = trap.left  # type: ignore[attr-defined]
    assert left == {"link.txt": "a symbolic link", "folder.txt": "a folder"}
    assert "had ended" in dead.files_unknown  # type: ignore[attr-defined]


def test_a_long_answer_is_read_as_any_other(tmp_path: Path) -> None:
    (result,) = ask(bench(tmp_path), case("/long"))
    assert result.output == [1] * 900_001
