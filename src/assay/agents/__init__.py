"""Tests for agents: conversations from test files, held with a live agent."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

if TYPE_CHECKING:
    from assay.agents.assessment import RunAssessment, assess_run
    from assay.agents.plan import AgentsOptions, AgentsPlan, enter_folder, make_plan
    from assay.agents.testfile.written import schema_text, write_conversation
    from assay.agents.trust import make_trust
    from assay.findings import Findings
    from assay.runs import Run

_HOMES = {
    "AgentsOptions": "plan",
    "AgentsPlan": "plan",
    "assess_run": "assessment",
    "enter_folder": "plan",
    "make_plan": "plan",
    "make_trust": "trust",
    "schema_text": "testfile.written",
    "write_conversation": "testfile.written",
}

__all__ = [
    "AgentsOptions",
    "AgentsPlan",
    "assess",
    "assess_run",
    "enter_folder",
    "lint",
    "make_plan",
    "make_trust",
    "schema_text",
    "verify",
    "write_conversation",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'assay.agents' has no attribute {name!r}")
    return getattr(import_module(f"assay.agents.{_HOMES[name]}"), name)


def verify(
    *files: str | Path,
    all_samples: bool = False,
    out: str | Path | None = None,
    baseline: str | Path | None = None,
    **options: Unpack[AgentsOptions],
) -> Run:
    """Run the conversations of test files and report whether the agent passes often enough.

    `files` are files, folders or globs. The options are those of `assay agents verify`; so is the
    exit code of the run.
    """
    from assay.agents.plan import make_plan
    from assay.runs import start_configured

    plan = make_plan(files, options, takes_all=all_samples)
    return start_configured(plan, out=out, baseline=baseline)


def assess(
    *files: str | Path,
    judge_error_rate: float | None = None,
    out: str | Path | None = None,
    baseline: str | Path | None = None,
    **options: Unpack[AgentsOptions],
) -> RunAssessment:
    """Take all samples of test files and group their failures into modes.

    The options are those of `assay agents assess`; so is the exit code.
    """
    from assay.agents.assessment import assess_run
    from assay.agents.plan import make_plan
    from assay.runs import start_configured

    plan = make_plan(
        files, options, takes_all=True, assesses=True, judge_error_rate=judge_error_rate
    )
    return assess_run(start_configured(plan, out=out, baseline=baseline), plan)


def lint(*files: str | Path, ignore: Iterable[str] = ()) -> Findings:
    """Return the problems of test files, each with a code, a place and advice.

    `files` are files, folders or globs. No agent is called. Codes in `ignore`, and those that the
    project's configuration ignores, are left out.
    """
    from assay.agents.testfile.lint import lint_files
    from assay.config import load_config

    return lint_files(files, ignore=[*load_config().agents.ignore, *ignore])
