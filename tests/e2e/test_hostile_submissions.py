"""Submissions that want to break whoever judges them, with the real command: each only fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.sandbox.isolation import available_levels, probe
from tests.conftest import Command
from tests.submissions.support import write_files

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
    write("o.csv.bz2", bz2.compress(bytes(1 << 24)) * 64)
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
