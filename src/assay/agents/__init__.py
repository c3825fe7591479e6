"""Is the agent right, often enough? Conversations of test files, held with a live agent."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

if TYPE_CHECKING:
    from assay.agents.assessment import RunAssessment
    from assay.agents.plan import AgentsPlan
    from assay.findings import Findings
    from assay.runs import Run

__all__ = ["assess", "lint", "verify"]


def verify(
    *files: str | Path,
    all_samples: bool = False,
    out: str | Path | None = None,
    baseline: str | Path | None = None,
    **options: Unpack[AgentsOptions],
) -> Run:
    """Hold the conversations of test files and say whether the agent is right often enough.

    `files` are files, folders or globs. The options are those of `assay agents verify`; so is the
    exit code of the run.
    """
    from assay.runs import start_configured

    plan = _make_plan(files, options, all_samples=all_samples)
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
    from assay.runs import start_configured

    plan = _make_plan(files, options, all_samples=True, judge_error_rate=judge_error_rate)
    return assess_run(start_configured(plan, out=out, baseline=baseline), plan)


class AgentsOptions(TypedDict, total=False):
    """How agents are reached and sampled, and who judges; as on the command line."""

    connection: str | Iterable[str]
    host: str
    port: int
    url: str
    command: str
    ca_file: str | Path
    check_certificate: bool
    ratio: str
    retries: int
    max_connections: int
    strict: bool
    allow_agents: Iterable[str]
    trust: bool
    jobs: int
    model: str
    model_url: str
    max_cost: float
    max_tokens: int
    judge_votes: int


def _make_plan(
    files: Iterable[str | Path],
    options: AgentsOptions,
    *,
    all_samples: bool,
    judge_error_rate: float | None = None,
) -> AgentsPlan:
    from assay.agents.plan import AgentsPlan, AgentsRequest, ConnectionOptions, Sampling
    from assay.agents.trust import make_trust
    from assay.config import load_config
    from assay.models import ModelChoice

    if unknown := options.keys() - AgentsOptions.__annotations__.keys():
        raise TypeError(f"unexpected keyword argument {min(unknown)!r}")
    config = load_config()
    connection, ca_file = options.get("connection") or (), options.get("ca_file")
    reach = ConnectionOptions(
        connections=(connection,) if isinstance(connection, str) else tuple(connection),
        host=options.get("host"),
        port=options.get("port"),
        url=options.get("url"),
        command=options.get("command"),
        ca_file=None if ca_file is None else str(Path(ca_file).absolute()),
        verify=options.get("check_certificate", True),
    )
    sampling = Sampling(
        jobs=options.get("jobs") or config.jobs,
        retries=options.get("retries", config.agents.retries),
        max_connections=options.get("max_connections", 32),
        ratio=options.get("ratio"),
        takes_all=all_samples,
        strict=options.get("strict", False),
    )
    choice = ModelChoice(
        options.get("model"),
        options.get("model_url"),
        options.get("max_cost"),
        options.get("max_tokens"),
        options.get("judge_votes"),
    )
    rate = config.models.judge_error_rate if judge_error_rate is None else judge_error_rate
    asked = AgentsRequest(
        tuple(map(str, files)), str(Path.cwd()), reach, sampling, choice, judge_error_rate=rate
    )
    modules, trusts = tuple(options.get("allow_agents", ())), options.get("trust", False)
    return AgentsPlan(
        asked, trust=make_trust(config.agents.python_paths, modules, is_complete=trusts)
    )


def lint(*files: str | Path, ignore: Iterable[str] = ()) -> Findings:
    """Return what is wrong with test files: each finding with a code, a place and advice.

    `files` are files, folders or globs. No agent is called. Codes in `ignore`, and those that the
    project's configuration ignores, are left out.
    """
    from assay.agents.testfile.lint import lint_files
    from assay.config import load_config

    return lint_files(files, ignore=[*load_config().agents.ignore, *ignore])
