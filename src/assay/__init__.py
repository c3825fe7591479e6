"""The public names of Assay.

They are imported on first use, to keep `assay --help` fast.
"""

from typing import TYPE_CHECKING, Any

from assay._version import __version__

if TYPE_CHECKING:
    from assay import agents, questions, runs, submissions
    from assay.errors import AssayError, InfrastructureError, InputError, Unverifiable
    from assay.evaluation import Evaluation, evaluate
    from assay.model import (
        AttributeResult,
        Case,
        CaseRecord,
        CaseResult,
        GroupType,
        Outcome,
        VerificationResult,
        VerifierProtocol,
        VerifierReport,
        VerifierReturnType,
    )
    from assay.runs import Run, RunComparison, compare_runs
    from assay.traces import export_traces

_PACKAGES = ("agents", "questions", "runs", "submissions")
_HOMES = {
    "assay.errors": ("AssayError", "InfrastructureError", "InputError", "Unverifiable"),
    "assay.evaluation": ("Evaluation", "evaluate"),
    "assay.model": (
        "AttributeResult",
        "Case",
        "CaseRecord",
        "CaseResult",
        "GroupType",
        "Outcome",
        "VerificationResult",
        "VerifierProtocol",
        "VerifierReport",
        "VerifierReturnType",
    ),
    "assay.runs": ("Run", "RunComparison", "compare_runs"),
    "assay.traces": ("export_traces",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "AssayError",
    "AttributeResult",
    "Case",
    "CaseRecord",
    "CaseResult",
    "Evaluation",
    "GroupType",
    "InfrastructureError",
    "InputError",
    "Outcome",
    "Run",
    "RunComparison",
    "Unverifiable",
    "VerificationResult",
    "VerifierProtocol",
    "VerifierReport",
    "VerifierReturnType",
    "__version__",
    "agents",
    "compare_runs",
    "evaluate",
    "export_traces",
    "questions",
    "runs",
    "submissions",
]


if not TYPE_CHECKING:  # mypy would take every name for one of these

    def __getattr__(name: str) -> Any:
        from importlib import import_module

        if name in _PACKAGES:
            return import_module(f"assay.{name}")
        if name not in _HOME:
            raise AttributeError(f"module 'assay' has no attribute {name!r}")
        return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
