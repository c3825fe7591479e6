"""Ways to a pass that nobody earned, tried with the real command: each must end otherwise."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import Command
from tests.submissions.support import write_files

CONFIG = """
entry_file: main
static_assets: {data: f.txt}
checkpoints: {one: {groups: {solution_search: {type: Core}}}}
"""
SERVER = """
import http.server, json, sys

class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *about): ...
    def do_GET(self):
        chosen = {"check": "regex", "value": "(?s).*"}
        body = json.dumps({"id": chosen if self.path == "/create" else "wrong"}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

port = int(sys.argv[sys.argv.index("--port") + 1])
http.server.HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""
LOADER = """
from slop_code.evaluation.adapters import CLICase, CLIResult
from slop_code.evaluation.loaders import BaseLoader

class Loader(BaseLoader):
    def __call__(self, group, store):
        if group.name in ("empty", "bare"):
            return
        about = {"id": "a", "group": group.name, "group_type": group.type}
        yield CLICase(**about), CLIResult(output="", **about)
"""
VERIFIER = """
from slop_code.evaluation.verifiers import VerificationResult

class Verifier:
    def __init__(self, checkpoint_config): ...
    def __call__(self, group_name, case_name, actual, expected):
        return {"output": VerificationResult.create("", actual.output == expected.output)}
"""


def test_a_submission_cannot_choose_its_check(assay: Command, tmp_path: Path) -> None:
    cases = """
    cases:
      create:
        request: {path: /create}
        save: {todo: output.id}
        expected: {status_code: 200}
      read:
        request: {path: /read}
        expected: {status_code: 200, checks: {output.id: "{{saved:todo}}"}}
    """
    config = "entry_file: main\nadapter: api\ncheckpoints: {one: {groups: [core]}}\n"
    write_files(tmp_path, {"p/config.yaml": config, "p/one/core.yaml": cases, "s/main.py": SERVER})
    done = assay("submissions", "run-case", "-s", "s", "-p", "p", "-c", "1")
    assert done.returncode == 1, done.stderr
    assert {one["id"]: one["passed"] for one in json.loads(done.stdout)} == {
        "create": True, "read": False,
    }  # fmt: skip


def test_a_changed_check_is_not_passed_over_when_a_run_is_resumed(
    assay: Command, tmp_path: Path
) -> None:
    cases = """
    cases:
      a:
        arguments: ["{{static:data}}"]
        expected: {status_code: 0, output: "{{static:data}}", stderr: {check: regex, value: ".*"}}
    """
    files = {"p/config.yaml": CONFIG, "p/f.txt": "x", "p/one/solution_search.yaml": cases}
    write_files(tmp_path, {**files, "s/main.py": "import sys; print(sys.argv[1])"})
    # Whoever follows links naively never comes to an end.
    (tmp_path / "p" / "loop").symlink_to(".")
    (tmp_path / "p" / "one" / "loop").symlink_to("..")
    first = assay("submissions", "verify", "-q", "-s", "s", "-p", "p", "--out", "run")
    assert first.returncode == 0, first.stdout + first.stderr
    changed = cases.replace('".*"', "never")
    write_files(tmp_path, {"p/one/solution_search.yaml": changed})
    again = assay("runs", "resume", "run")
    assert again.returncode == 1, again.stdout + again.stderr
    assert "changed since and run again: one/solution_search/a" in again.stderr


def test_a_loader_that_gives_nothing_is_no_pass(assay: Command, tmp_path: Path) -> None:
    config = "entry_file: main\ncheckpoints: {one: {groups: [core, empty, bare]}}\n"
    write_files(
        tmp_path,
        {
            "p/config.yaml": config,
            "p/loader.py": LOADER,
            "p/verifier.py": VERIFIER,
            "s/main.py": "",
        },
    )
    words = ("submissions", "verify", "-s", "s", "-p", "p")
    done = assay(*words, "--out", "run", "--json")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "one/empty/(cases)" in done.stdout
    assert "the loader gave no cases for the group 'empty'" in done.stdout
    none = assay(*words, "--group", "[eb]*", "--out", "none")
    assert none.returncode == 2, none.stdout + none.stderr
    for group in ("empty", "bare"):
        assert f"loader.py: the loader gave no cases for the group '{group}'" in none.stderr


def test_an_empty_checkpoint_is_refused(assay: Command, tmp_path: Path) -> None:
    config = """
    entry_file: main
    checkpoints:
      one: {groups: [core]}
      two: {groups: {}}
    """
    cases = "cases: {a: {expected: {status_code: 0}}}\n"
    files = {
        "p/config.yaml": config,
        "p/one/core.yaml": cases,
        "p/two/spec.md": "",
        "s/main.py": "",
    }
    write_files(tmp_path, files)
    done = assay("submissions", "verify", "-s", "s", "-p", "p", "--out", "run")
    assert done.returncode == 2
    assert "config.yaml:4: the checkpoint `two` has no groups" in done.stderr
