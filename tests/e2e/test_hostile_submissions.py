"""Submissions that want to break whoever judges them, with the real command: each only fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.sandbox.isolation import available_levels, probe
from tests.conftest import Command
from tests.sandbox.hostile.support import landlock_version
from tests.submissions.support import write_files

SERVING_LEVELS = [
    level for level in available_levels(probe()) if level == "namespaces" or landlock_version() >= 4
]
CONFIG = """
entry_file: main
timeout: 30
checkpoints: {one: {groups: {core: {type: Core}, chain: {type: Core, isolated: false}}}}
"""
PROGRAM = r"""
import bz2, gzip, os, sys
what = sys.argv[1]
def write(name, content):
    with open(name, "wb") as file:
        file.write(content)
if what == "deep":
    for _ in range(3000):
        os.mkdir("d"); os.chdir("d")
elif what == "gz":
    write("o.csv.gz", gzip.compress(b"")[:10] + b"\xff" * 40)
elif what == "bz2":
    write("o.csv.bz2", bz2.compress(bytes(1 << 20)) * 1024)
elif what == "parquet":
    write("o.parquet", b"PAR1" + b"\xff" * 64 + (60).to_bytes(4, "little") + b"PAR1")
elif what == "yaml":
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"]
    lines += [f"a{n}: &a{n} [" + ",".join([f"*a{n - 1}"] * 10) + "]" for n in range(1, 8)]
    write("o.yaml", "\n".join(lines).encode())
elif what == "jsonl":
    write("o.jsonl", b"[" * 100_000)
elif what == "large":
    os.truncate(os.open("old.csv", os.O_CREAT | os.O_WRONLY), 70 << 20)
elif what == "link":
    os.symlink("/etc/passwd", "old.csv")
elif what == "folder":
    os.mkdir("old.csv")
elif what == "many":
    for number in range(10_050):
        open(f"a{number}.txt", "w").close()
    open("old.csv", "w").close()
"""
ROWS = "[{a: 1}]"
GONE = "{check: file_exists, value: false}"
WRONG = {
    "gz": f"files: {{o.csv.gz: {ROWS}}}",
    "bz2": f"files: {{o.csv.bz2: {ROWS}}}",
    "parquet": f"files: {{o.parquet: {ROWS}}}",
    "yaml": f"files: {{o.yaml: {ROWS}}}",
    "jsonl": f"files: {{o.jsonl: {ROWS}}}",
    **dict.fromkeys(("large", "link", "folder", "many"), f"files: {{old.csv: {GONE}}}"),
}


def case(name: str, expected: str, more: str = "") -> str:
    return f"  {name}: {{arguments: [{name}], {more}expected: {{status_code: 0, {expected}}}}}\n"


def judged(assay: Command, tmp_path: Path, *options: str) -> dict[str, Any]:
    where = ["-s", str(tmp_path / "submission"), "-p", str(tmp_path / "problem"), "-c", "one"]
    result = assay("submissions", "run-case", *where, *options)
    assert result.returncode == 1, result.stderr
    return {f"{one['group']}/{one['id']}": one for one in json.loads(result.stdout)}


@pytest.mark.parametrize("level", available_levels(probe()))
def test_programs_that_write_traps_fail_and_all_others_go_on(
    assay: Command, tmp_path: Path, level: str
) -> None:
    wrong = "".join(case(name, expected) for name, expected in WRONG.items())
    cases = f"""cases:
{case("deep", "timed_out: false")}{wrong}{case("last", "output: ''")}"""
    chain = f"""cases:
{case("blocked", "output: ''", "input_files: {data/x.csv: x, main.py/y: z}, ")}"""
    write_files(tmp_path / "submission", {"main.py": PROGRAM, "data": "a file"})
    write_files(
        tmp_path / "problem",
        {"config.yaml": CONFIG, "one/core.yaml": cases, "one/chain.yaml": chain},
    )
    found = judged(assay, tmp_path, "--isolation", level)
    outcomes = {name: one.get("outcome", "passed") for name, one in found.items()}
    assert {name: outcomes.pop(f"core/{name}") for name in WRONG} == dict.fromkeys(WRONG, "failed")
    # At the level landlock folders without end count as full; the program may be ended for that.
    assert outcomes.pop("core/deep") in ("passed", "failed")
    # Its main.py is replaced by the case, so that it cannot run: a failure, as everything is.
    assert outcomes == {"core/last": "passed", "chain/blocked": "failed"}


SERVER = r"""
import http.server, io, sys, zipfile
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *about): pass
    def do_GET(self):
        kind, body = "text/plain", b"a" * 300
        if self.path.startswith("/charset"):
            kind += "; charset=" + {"2": "\0bad", "3": "idna"}.get(self.path[-1], "undefined")
        elif self.path == "/zip":
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("a.txt", "hello" * 1000)
            body = bytearray(packed.getvalue()); body[40:43] = b"\xff\xff\xff"
            kind = "application/zip"
        elif self.path == "/deep":
            kind, body = "application/json", b"[" * 30_000 + b"]" * 30_000
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
port = int(sys.argv[sys.argv.index("--port") + 1])
http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


def test_answers_that_are_traps_fail_and_the_chain_goes_on(assay: Command, tmp_path: Path) -> None:
    config = "entry_file: main\nadapter: api\ncheckpoints: {one: {groups: {core: {type: Core}}}}\n"
    traps = ("charset1", "charset2", "charset3", "zip", "deep")
    cases = "cases:\n"
    for name in traps:
        looked_at = f"files: {{a.txt: {GONE}}}" if name == "zip" else "output: {a: 1}"
        cases += f"  {name}: {{request: {{path: /{name}}}, expected: {{{looked_at}}}}}\n"
    cases += "  last: {request: {path: /last}, expected: {status_code: 200}}\n"
    write_files(tmp_path / "submission", {"main.py": SERVER})
    write_files(tmp_path / "problem", {"config.yaml": config, "one/core.yaml": cases})
    found = judged(assay, tmp_path)
    outcomes = {one["id"]: one.get("outcome", "passed") for one in found.values()}
    assert outcomes == {**dict.fromkeys(traps, "failed"), "last": "passed"}
    (zipped,) = [
        one["diff"] for one in found["core/zip"]["results"].values() if one["is_correct"] is False
    ]
    assert "the archive cannot be unpacked" in zipped


RAW_SERVER = r"""
import socket, sys, threading, time
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
ANSWERS = {
    b"/negative-chunk": CHUNKED + b"-5\r\nhello\r\n0\r\n\r\n",
    b"/no-chunk": CHUNKED + b"zz\r\nhello\r\n0\r\n\r\n",
    b"/huge-chunk": CHUNKED + b"f" * 40 + b"\r\nhello",
    b"/cut-chunk": CHUNKED + b"10\r\nhello",
    b"/cut": OK + b"Content-Length: 100\r\n\r\nhello",
    b"/negative": OK + b"Content-Length: -7\r\nContent-Type: text/plain\r\n\r\nhello",
    b"/digits": OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\nhello",
    b"/headers": OK + b"".join(b"a%d: b\r\n" % n for n in range(200)) + b"\r\n",
    b"/line": OK + b"a: " + b"b" * 70000 + b"\r\n\r\n",
    b"/bytes": OK + b"\xff\xfe: \x80\x81\r\n: \r\nContent-Length: 5\r\n\r\nhello",
    b"/old": b"hello\n",
    b"/status": b"HTTP/1.1 99999999999999999999999999 OK\r\n\r\n",
    b"/no-status": b"HTTP/9.9 -1\r\n\r\n",
    b"/nothing": b"",
    b"/gzip": OK + b"Content-Type: application/gzip\r\n\r\n\x1f\x8b\x08\x1f" + b"\xff" * 5,
    b"/surrogate": OK + b"Content-Type: application/json\r\nContent-Length: 8\r\n\r\n\"\\ud800\"",
}
def serve(connection):
    path = connection.recv(65536).split()[1]
    if path == b"/continue":
        while True: connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)
    if path == b"/drip":
        connection.sendall(OK + b"\r\n")
        while True: connection.sendall(b"x"); time.sleep(0.05)
    connection.sendall(ANSWERS.get(path, OK + b"Content-Length: 2\r\n\r\nok"))
    connection.close()
listener = socket.create_server(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])))
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
"""
RAW_ANSWERS = (
    *("negative-chunk", "no-chunk", "huge-chunk", "cut-chunk", "cut", "negative", "digits"),
    *("headers", "line", "bytes", "old", "status", "no-status", "nothing", "gzip", "surrogate"),
    *("continue", *(f"drip?{number}" for number in range(8))),
)


@pytest.mark.parametrize("level", SERVING_LEVELS)
def test_answers_that_are_no_http_are_failures_of_the_server_and_the_next_case_has_its_own_record(
    assay: Command, tmp_path: Path, level: str
) -> None:
    config = "entry_file: main\nadapter: api\ntimeout: 1\n"
    config += "checkpoints: {one: {groups: {core: {type: Core}}}}\n"
    cases = "cases:\n"
    for name in RAW_ANSWERS:
        path = name.split("?")[0]
        cases += f"  {name}: {{request: {{path: /{path}}}, expected: {{output: {{a: 1}}}}}}\n"
    cases += "  last: {request: {path: /last}, expected: {status_code: 200}}\n"
    write_files(tmp_path / "submission", {"main.py": RAW_SERVER})
    write_files(tmp_path / "problem", {"config.yaml": config, "one/core.yaml": cases})
    found = judged(assay, tmp_path, "--isolation", level)
    outcomes = {one["id"]: one.get("outcome", "passed") for one in found.values()}
    assert outcomes == {**dict.fromkeys(RAW_ANSWERS, "failed"), "last": "passed"}


SPOILER = r"""
import ctypes, os, sys, time
what = sys.argv[1]
if what == "sibling":
    libc = ctypes.CDLL(None)
    arguments = [ctypes.c_long(one) for one in (56, 0x8000 | 17, 0, 0, 0, 0)]
    if os.uname().machine == "x86_64" and libc.syscall(*arguments) == 0:
        while True: os.read(os.pipe()[0], 1)
    sys.exit(1)
elif what == "closes":
    os.mkdir("data", 0)
    try: os.chmod(".", 0)
    except OSError: pass
    time.sleep(0.4)  # while its size is looked at
    sys.exit(1)
"""


@pytest.mark.parametrize("level", available_levels(probe()))
def test_what_a_program_does_to_its_own_folder_or_processes_is_never_the_machines_error(
    assay: Command, tmp_path: Path, level: str
) -> None:
    names = ("sibling", "closes")
    wrong = "".join(case(name, "output: ''") for name in names)
    last = case("last", "output: ''", "input_files: {data/x.csv: x}, ")
    write_files(tmp_path / "submission", {"main.py": SPOILER})
    files = {f"one/{group}.yaml": f"cases:\n{wrong}{last}" for group in ("core", "chain")}
    write_files(tmp_path / "problem", {"config.yaml": CONFIG, **files})
    found = judged(assay, tmp_path, "--isolation", level)
    outcomes = {name: one.get("outcome", "passed") for name, one in found.items()}
    assert outcomes == {
        **{f"{group}/{name}": "failed" for group in ("core", "chain") for name in names},
        "core/last": "passed",
        "chain/last": "passed",
    }
