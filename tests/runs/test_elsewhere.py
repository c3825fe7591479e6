"""The plan of every subject works in another process: its cases are plain data, and so is it."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import AsyncIterable
from pathlib import Path
from typing import Any

import pytest

from assay.agents.plan import AgentsPlan, AgentsRequest, ConnectionOptions, Sampling
from assay.evaluation import Evaluation, EvaluationPlan
from assay.models import ModelChoice
from assay.questions.plan import QuestionsPlan, make_request
from assay.runs import Plan, start_run
from assay.submissions.plan import SubmissionsPlan
from assay.submissions.request import SubmissionsRequest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _in_the_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "assay.toml").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "examples"]:
        monkeypatch.delitem(sys.modules, name)


def plan_questions() -> Plan:
    return QuestionsPlan(
        make_request(["examples/questions/pydantic.yaml"], cases=["adapter-*"], jobs=1)
    )


def plan_submission(name: str) -> Plan:
    folder = Path("examples/submissions", name).absolute()
    asked = SubmissionsRequest(str(folder), str(folder), "all", None, None, None, "auto", 2)
    return SubmissionsPlan(asked)


def plan_agents() -> Plan:
    files = ("examples/agents/kiosk.hocon",)
    return AgentsPlan(
        AgentsRequest(
            files, str(Path.cwd()), ConnectionOptions(), Sampling(), ModelChoice(model="none")
        )
    )


def plan_evaluation() -> Plan:
    return EvaluationPlan(Evaluation([("a", "A"), ("b", "c")], str.upper, check="exact"), jobs=1)


PLANS = {
    "questions": plan_questions,
    "commands": lambda: plan_submission("ledger"),
    "servers": lambda: plan_submission("todo_api"),
    "agents": plan_agents,
    "evaluation": plan_evaluation,
}


async def _list(plan: Plan) -> list[Any]:
    """List the cases of a plan, which needs a worker to be open."""
    async with plan.open_worker(Path("nowhere"), None):
        cases = plan.cases()
        if isinstance(cases, AsyncIterable):
            return [step async for step in cases]
        return list(cases)


@pytest.mark.parametrize("subject", PLANS)
def test_a_worker_in_another_process_makes_the_same_records(subject: str, tmp_path: Path) -> None:
    plan = PLANS[subject]()
    packed = tmp_path / "plan.pickle"
    packed.write_bytes(pickle.dumps((plan, asyncio.run(_list(plan)))))
    elsewhere = subprocess.run(
        [sys.executable, "-m", "tests.runs.elsewhere", str(packed)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{tmp_path}"},
    )
    assert elsewhere.returncode == 0, elsewhere.stderr
    run = start_run(PLANS[subject](), out=tmp_path / "run", runs=tmp_path).run
    here = [[row.id, row.outcome.value, row.code, row.fingerprint] for row in run.rows()]
    assert json.loads(elsewhere.stdout.splitlines()[-1]) == here
    assert here
