"""The largest inputs that are read, and no command needs 500 MB for them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from assay.documents import LARGEST_DOCUMENT, LARGEST_RECORD, LARGEST_SETTINGS, MOST_PARTS
from assay.runs.journal import LONGEST_LINE
from tests.waiting import PATIENCE

MEGABYTES = 500
# Not of the test itself: a process begins with the peak of the one that starts it.
_MEASURE = """
import os, sys
process = os.fork()
if process == 0:
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    os.execv(sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(process, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss)
"""
# Four bytes for each character of a text that has this one.
_WIDE = "\U0001f600"


def _text(size: int) -> str:
    return "x" * (size - 1_000) + _WIDE


def _lists(count: int) -> str:
    return "[" + "[]," * (count // 2 - 10) + "[]]"


class Case(NamedTuple):
    """A file of the largest size that is allowed, the command that reads it, and its exit code."""

    file: str
    content: Callable[[], str]
    command: str
    code: int


def _manifest(**asked: Any) -> str:
    about = {"version": 1, "subject": "test", "started": "2026-01-01T00:00:00Z", "asked": asked}
    return json.dumps(about, ensure_ascii=False)


def _entry(value: str) -> str:
    report = {
        "id": "a",
        "group": "g",
        "type": "Core",
        "timestamp": "2026-01-01T00:00:00Z",
        "duration": 0.1,
        "case": {"id": "a"},
        "error": None,
        "outcome": "failed",
        "score": 0.0,
        "original_checkpoint": None,
        "original_group": None,
        "results": {"output": ["@", ""]},
    }
    record: dict[str, Any] = {
        "id": "a",
        "subject": "test",
        "outcome": "failed",
        "reason": "",
        "code": "c",
        "reports": [report],
        "detail": None,
        "fingerprint": "f",
        "usage": {},
        "score": 0.0,
        "started": "2026-01-01T00:00:00Z",
        "duration": 0.1,
    }
    entry = {"kind": "record", "place": 0, "record": record}
    return json.dumps(entry).replace('"@"', value) + "\n"


_HOCON = "agent: a, connections: [http], interactions: [{{text: {}, response.text.keywords: b}}]"
_PARTS = MOST_PARTS - 1_000
CASES = {
    "a suite in JSON, of text": Case(
        "s.json",
        lambda: f'{{"benchmarks": "{_text(LARGEST_DOCUMENT)}"}}',
        "questions lint s.json",
        2,
    ),
    "a suite in JSON, of lines": Case(
        "s.json", lambda: "\n" * (LARGEST_DOCUMENT - 10) + "[]", "questions lint s.json", 2
    ),
    "a suite in JSON, of parts": Case("s.json", lambda: _lists(_PARTS), "questions lint s.json", 2),
    "a suite in YAML, of text": Case(
        "s.yaml", lambda: f'benchmarks: "{_text(LARGEST_DOCUMENT)}"', "questions lint s.yaml", 2
    ),
    "a suite in YAML, of parts": Case(
        "s.yaml", lambda: "- a\n" * (_PARTS // 2), "questions lint s.yaml", 2
    ),
    "a test file in YAML": Case(
        "t.yaml",
        lambda: json.dumps(
            {
                "agent": "a",
                "connections": ["http"],
                "interactions": [
                    {
                        "text": _text(LARGEST_DOCUMENT - 1_000),
                        "response": {"text": {"keywords": "b"}},
                    }
                ],
            },
            ensure_ascii=False,
        ),
        "agents lint t.yaml",
        0,
    ),
    "a test file in HOCON, of text": Case(
        "t.hocon", lambda: _HOCON.format(f'"{_text(8_000_000 - 100)}"'), "agents lint t.hocon", 0
    ),
    "a test file in HOCON, of escapes": Case(
        "t.hocon",
        lambda: _HOCON.format('"' + r"\n" * 3_900_000 + _WIDE + '"'),
        "agents lint t.hocon",
        0,
    ),
    "assay.toml": Case(
        "assay.toml", lambda: "a = " + _lists(2 * LARGEST_SETTINGS // 3 - 10), "runs list", 2
    ),
    "run.json, of text": Case(
        "run/run.json", lambda: _manifest(a=_text(LARGEST_RECORD)), "runs show run", 0
    ),
    "run.json, of parts": Case(
        "run/run.json", lambda: _manifest(a=json.loads(_lists(_PARTS))), "runs show run", 0
    ),
    "a baseline": Case(
        "run/baseline.json",
        lambda: json.dumps(
            {"accepted": [{"case": "a", "code": "b", "fingerprint": "c"}] * (_PARTS // 5)}
        ),
        "runs show run",
        0,
    ),
    "a journal, of text": Case(
        "run/journal.jsonl",
        lambda: _entry(f'"{_text(LONGEST_LINE - 1_000)}"'),
        "report run --format json --out r",
        0,
    ),
    "a journal, of text, as a table": Case(
        "run/journal.jsonl",
        lambda: _entry(f'"{_text(LONGEST_LINE - 1_000)}"'),
        "report run --format parquet --out r",
        0,
    ),
    "a journal, of parts": Case(
        "run/journal.jsonl", lambda: _entry(_lists(_PARTS)), "report run --format html --out r", 0
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_largest_input_that_is_read_takes_less_than_500_megabytes(
    tmp_path: Path, name: str
) -> None:
    case = CASES[name]
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text(_manifest())
    (tmp_path / "run" / "journal.jsonl").write_text("")
    (tmp_path / case.file).write_text(case.content())
    assay = str(Path(sys.executable).with_name("assay"))
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _MEASURE, assay, *case.command.split()],
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    code, kilobytes = map(int, done.stdout.split())
    assert (code, kilobytes // 1_000 < MEGABYTES) == (case.code, True), f"{kilobytes // 1_000} MB"
