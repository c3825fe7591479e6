"""Is the agent right, often enough? Conversations of test files, held with a live agent."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.findings import Findings
    from assay.runs import Run

__all__ = ["lint", "verify"]


def verify(
    *files: str | Path,
    connection: str | Iterable[str] = (),
    host: str | None = None,
    port: int | None = None,
    url: str | None = None,
    command: str | None = None,
    ca_file: str | Path | None = None,
    check_certificate: bool = True,
    ratio: str | None = None,
    all_samples: bool = False,
    retries: int | None = None,
    max_connections: int = 32,
    strict: bool = False,
    allow_agents: Iterable[str] = (),
    trust: bool = False,
    jobs: int | None = None,
    model: str | None = None,
    model_url: str | None = None,
    max_cost: float | None = None,
    max_tokens: int | None = None,
    judge_votes: int | None = None,
    out: str | Path | None = None,
    baseline: str | Path | None = None,
) -> Run:
    """Hold the conversations of test files and say whether the agent is right often enough.

    `files` are files, folders or globs. The options are those of `assay agents verify`; so is the
    exit code of the run.
    """
    from assay.agents.plan import Asked, VerifyPlan
    from assay.agents.running import Reach, Sampling
    from assay.agents.trust import make_trust
    from assay.config import load_config
    from assay.models import ModelChoice
    from assay.runs import start_configured

    config = load_config()
    reach = Reach(
        connections=(connection,) if isinstance(connection, str) else tuple(connection),
        host=host,
        port=port,
        url=url,
        command=command,
        ca_file=None if ca_file is None else str(Path(ca_file).absolute()),
        verify=check_certificate,
    )
    sampling = Sampling(
        jobs=jobs or config.jobs,
        retries=config.agents.retries if retries is None else retries,
        max_connections=max_connections,
        ratio=ratio,
        takes_all=all_samples,
        strict=strict,
    )
    choice = ModelChoice(model, model_url, max_cost, max_tokens, judge_votes)
    asked = Asked(tuple(map(str, files)), str(Path.cwd()), reach, sampling, choice)
    allowed = make_trust(config.agents.python_paths, tuple(allow_agents), is_complete=trust)
    return start_configured(VerifyPlan(asked, trust=allowed), out=out, baseline=baseline)


def lint(*files: str | Path, ignore: Iterable[str] = ()) -> Findings:
    """Return what is wrong with test files: each finding with a code, a place and advice.

    `files` are files, folders or globs. No agent is called. Codes in `ignore`, and those that the
    project's configuration ignores, are left out.
    """
    from assay.agents.files.lint import lint_files
    from assay.config import load_config

    return lint_files(files, ignore=[*load_config().agents.ignore, *ignore])
