"""Adapters: how a case is passed to a program, and how its result is collected."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from assay import plugins
from assay.model import CaseResult
from assay.submissions.cases import APICase, APIResult, BaseCase, CLICase, CLIResult
from assay.submissions.config import AdapterConfig, ApiAdapter, CliAdapter, GroupConfig

if TYPE_CHECKING:
    from assay.submissions.environments.preparing import PreparedSubmission
    from assay.submissions.protocols import CaseRunner

__all__ = ["ADAPTERS", "AdapterConfig", "AdapterType", "find_adapter"]

RunnerContext: TypeAlias = "AbstractAsyncContextManager[CaseRunner]"


@dataclass(frozen=True)
class AdapterType:
    """A type of adapter, which problems name under `adapter: type`."""

    name: str
    open_runner: Callable[[PreparedSubmission, GroupConfig], RunnerContext]
    """Gives what runs the cases of one group. It is code of Assay's; what it starts by the
    prepared submission runs in the sandbox."""
    config: type[AdapterConfig] = AdapterConfig
    """The keys that a problem may write under `adapter`."""
    case: type[BaseCase] = CLICase
    result: type[CaseResult] = CLIResult
    case_keys: tuple[str, ...] = ("arguments", "stdin")
    """Which of `arguments`, `stdin` and `request` a case without code may have."""
    is_shared: bool = False
    """Whether the cases of a group share one program, so that they run one after the other."""


def _open_cli_runner(prepared: PreparedSubmission, group: GroupConfig) -> RunnerContext:
    from assay.submissions.adapters.cli import CliRunner

    return CliRunner(prepared, group)


def _open_api_runner(prepared: PreparedSubmission, group: GroupConfig) -> RunnerContext:
    from assay.submissions.adapters.api import ApiRunner

    return ApiRunner(prepared, group)


ADAPTERS = {
    one.name: one
    for one in (
        AdapterType("cli", _open_cli_runner, CliAdapter),
        AdapterType(
            "api",
            _open_api_runner,
            ApiAdapter,
            APICase,
            APIResult,
            case_keys=("request",),
            is_shared=True,
        ),
    )
}


def find_adapter(name: str) -> AdapterType:
    """Return an adapter type: built in, or from an installed package."""
    return plugins.get("adapters", name, ADAPTERS, AdapterType)
