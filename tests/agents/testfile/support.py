"""Test files made of a few lines, for the tests of reading."""

from __future__ import annotations

from pathlib import Path

from assay.agents.model import AgentFile
from assay.agents.testfile import read_file
from assay.findings import Finding

PUBLIC = Path(__file__).parents[4] / "shared" / "data" / "agents"
RESPONSE = '"text": {"keywords": "Beatles"}'


def whole(top: str = "", *, interaction: str = "", response: str = RESPONSE) -> str:
    """A test file with something added at the top, in its interaction or as its response."""
    return f"""{{
    "agent": "music_nerd",
    {top}
    "interactions": [
        {{
            "text": "Who did Yellow Submarine?",
            {interaction}
            "response": {{
                {response}
            }}
        }}
    ]
}}
"""


def written(folder: Path, text: str, name: str = "test.hocon") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def read_text(folder: Path, text: str, name: str = "test.hocon") -> AgentFile:
    found = read_file(written(folder, text, name))
    assert found.problems == []
    assert found.file is not None
    return found.file


def problems_of(folder: Path, text: str, name: str = "test.hocon") -> list[Finding]:
    found = read_file(written(folder, text, name))
    assert found.file is None
    return found.problems


def problem_of(folder: Path, text: str, name: str = "test.hocon") -> Finding:
    (problem,) = problems_of(folder, text, name)
    return problem
