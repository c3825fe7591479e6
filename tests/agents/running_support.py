"""What the tests of whole runs share: test files, runs of them here, and a judge."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from assay.agents.plan import AgentsPlan, AgentsRequest, ConnectionOptions, Sampling
from assay.agents.trust import Trust
from assay.model import CaseRecord, Outcome
from assay.models import ModelChoice, ModelClient
from assay.runs import Manifest, Run, create_folder, run_cases
from tests.agents.scripted_server import Request, Script, ScriptedServer, Wire, answer
from tests.models.scripted_server import Received, Reply, says_json

# How far beyond its limit a test may end.
GRACE = 20.0
# Agents of these tests are not beside the files that name them.
OF_TESTS = Trust(modules=frozenset({"tests"}))


def ask(text: str = "hi", response: Any = None, **more: Any) -> dict[str, Any]:
    """An interaction, which passes if its answer has the word right in it."""
    return {"text": text, "response": response or {"text": {"keywords": "right"}}, **more}


def write(folder: Path, *interactions: Any, name: str = "test.hocon", **keys: Any) -> Path:
    """A test file."""
    told = {
        "agent": "agent",
        "connections": "http",
        **keys,
        "interactions": interactions or [ask()],
    }
    path = folder / name
    path.write_text(json.dumps(told), encoding="utf-8")
    return path


def run_file(
    path: Path,
    server: ScriptedServer | None = None,
    *,
    client: ModelClient | None = None,
    out: str = "run",
    reach: ConnectionOptions | None = None,
    on_sample: Callable[[], None] = lambda: None,
    **sampling: Any,
) -> list[CaseRecord]:
    """Run a test file in a run folder beside it; one that is there is resumed."""
    folder = path.parent / out
    if not folder.exists():
        create_folder(folder, Manifest(subject="agents"))
    port = server.port if server is not None else None
    how = Sampling(**{"jobs": 1, **sampling})
    reach = reach or ConnectionOptions(host="127.0.0.1", port=port)
    # A python agent is looked up from the folder, and leaves the folder on the path.
    before, modules = Path.cwd(), list(sys.path)
    os.chdir(path.parent)
    try:
        asked = AgentsRequest((path.name,), str(path.parent), reach, how, ModelChoice(model="none"))
        plan = AgentsPlan(asked, trust=OF_TESTS)
        plan.client = client
        run_cases(plan, folder, _Samples(on_sample))
    finally:
        os.chdir(before)
        sys.path[:] = modules
    with Run(folder) as run:
        return list(run.records())


class _Samples:
    """A progress that tells of samples alone."""

    def __init__(self, count_sample: Callable[[], None]) -> None:
        self.count_sample = count_sample

    def count_case(self, outcome: Outcome) -> None: ...

    def count_stored(self) -> None: ...


def answers(*texts: str) -> Script:
    """A script that gives one text after the other, and the last for ever."""

    async def script(request: Request, wire: Wire) -> None:
        await answer(wire, texts[min(request.number, len(texts) - 1)])

    return script


def rule(received: Received) -> Reply:
    """A judge that is strict in its own way: the criterion's last word must be in the sample.

    It reads the request as JSON, so whatever breaks out of the data breaks it too.
    """
    told = json.loads(received.last)
    assert set(told) == {"criterion", "sample"}
    word = told["criterion"].split()[-1].strip(".")
    first_line = str(told["sample"]).partition("\n")[0]
    holds = word in first_line
    return says_json({"reason": f"{word!r} is{'' if holds else ' not'} there", "holds": holds})
