"""Tests of agents of google-adk, in an environment that has it, with a scripted model inside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.agents.environments import ROOT, NotHere, made_with
from tests.waiting import PATIENCE

REQUIREMENT = "google-adk==2.13.0"

AGENT = '''
import asyncio

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.genai import types


class Scripted(BaseLlm):
    """Repeats what it heard so far, unless it is told to fail or to be slow."""

    async def generate_content_async(self, llm_request, stream=False):
        said = [p.text for c in llm_request.contents if c.role == "user" for p in c.parts if p.text]
        if said[-1] == "fail":
            raise ValueError("no such song")
        if said[-1] == "wait":
            await asyncio.sleep(30)
        text = '{"a": 1}' if said[-1] == "structure" else " | ".join(said)
        parts = [types.Part(text="hm", thought=True), types.Part(text=text)]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def count(callback_context):
    state = callback_context.state
    state["turns"] = state.get("turns", 0) + 1
    state["user:turns"] = state.get("user:turns", 0) + 1


root = LlmAgent(name="echo", model=Scripted(model="scripted"), before_agent_callback=count)
'''


@pytest.fixture(scope="module")
def python() -> Path:
    try:
        return made_with(REQUIREMENT, lambda: Path(sys.executable))
    except NotHere as reason:
        pytest.skip(str(reason))


def held_inside(python: Path, folder: Path, *samples: list[dict[str, Any]]) -> list[Any]:
    (folder / "adk_agent.py").write_text(AGENT)
    own = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    done = subprocess.run(
        [python, "-m", "tests.agents.held_inside", "python"],
        input=json.dumps([("adk_agent:root", sample) for sample in samples]),
        env={**own, "PYTHONPATH": path},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    results: list[Any] = json.loads(done.stdout.splitlines()[-1])["results"]
    return results


def test_an_agent_of_google_adk(python: Path, tmp_path: Path) -> None:
    patient = {"timeout": 60.0}
    kept, failed, slow, structured = held_inside(
        python,
        tmp_path,
        [
            {"text": "one", "sly_data": {"x": 1}, **patient},
            {"text": "two", "continue_conversation": False, **patient},
            {"text": "three", **patient},
        ],
        [{"text": "fail", **patient}],
        [{"text": "wait", "timeout": 0.5}],
        [{"text": "structure", **patient}],
    )
    for sample in kept:
        assert sample["ending"] == "complete", sample
        assert [each["text"] for each in sample["answers"]] == ["one", "one | two", "three"]
        # State of a user outlives a session in google-adk, but neither a sample nor a new start.
        first, second, third = (each["sly_data"] for each in sample["answers"])
        assert first == {"x": 1, "turns": 1, "user:turns": 1}
        assert second == {"x": 1, "turns": 2, "user:turns": 2}
        assert third == {"turns": 1, "user:turns": 1}
    assert {sample["ending"] for sample in failed} == {"outage"}
    assert "no such song" in failed[0]["reason"]
    assert {sample["ending"] for sample in slow} == {"too slow"}
    assert structured[0]["answers"][0]["structure"] == {"a": 1}
