"""Problems of test files as text for people and JSON for programs."""

from __future__ import annotations

import json
from typing import Any

from assay.agents.files.finding import Reading
from assay.agents.files.problems import Note, Problem
from assay.reports.text import count
from assay.visible import visible


def problems_text(reading: Reading, name: str) -> str:
    """The problems in the format of that name."""
    return {"text": _plain, "json": _json}[name](reading)


def passed_over_text(reading: Reading) -> str:
    """A note for everything in a folder that is no test."""
    return "".join(visible(str(one)) + "\n" for one in reading.passed_over)


def _plain(reading: Reading) -> str:
    lines = []
    for one in reading.problems:
        lines.append(visible(f"{one.place}: {one.code}: {one.message}"))
        if one.advice:
            lines.append(visible(f"    {one.advice}"))
    for note in reading.notes:
        lines.append(visible(f"{note.place}: note: {note.message}"))
        lines.append(visible(f"    {note.advice}"))
    if not reading.problems:
        lines.append(f"nothing wrong with {count(len(reading.files), 'test file')}")
    else:
        lines.append(count(len(reading.problems), "problem"))
    return "\n".join(lines) + "\n"


def _json(reading: Reading) -> str:
    document = {
        "version": 1,
        "problems": [{"code": one.code, **_told(one)} for one in reading.problems],
        "notes": [_told(one) for one in reading.notes],
        "passed_over": [str(one.path) for one in reading.passed_over],
    }
    return json.dumps(document, indent=2) + "\n"


def _told(one: Problem | Note) -> dict[str, Any]:
    return {
        "message": one.message,
        "file": str(one.place.file),
        "line": one.place.line,
        "advice": one.advice,
    }
