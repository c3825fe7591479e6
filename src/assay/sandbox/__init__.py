"""Running code that others wrote: clean target environments, isolation, programs and proofs."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.sandbox.bases import Base, hand_over, new_base
    from assay.sandbox.doctor import DoctorReport, doctor_report
    from assay.sandbox.integrity import Inspection, Objection, inspect_proof
    from assay.sandbox.isolation import Layer, choose, probe
    from assay.sandbox.limits import Limits
    from assay.sandbox.modules import target_modules
    from assay.sandbox.outcomes import Caught, ChallengeResult, ProofOutcome, Status, TestOutcome
    from assay.sandbox.programs import ProgramResult, Programs, run_program
    from assay.sandbox.proof_worker import Challenge
    from assay.sandbox.proofs import ProofRunner
    from assay.sandbox.releases import list_releases
    from assay.sandbox.servers import Health, NotServingError, Response, Server, serve
    from assay.sandbox.targets import (
        BuiltTarget,
        Environment,
        Target,
        environment,
        list_targets,
        remove_target,
    )

# Imported when first used: who runs a program needs neither uv nor the proof runner.
_HOMES = {
    "bases": ("Base", "hand_over", "new_base"),
    "doctor": ("DoctorReport", "doctor_report"),
    "integrity": ("Inspection", "Objection", "inspect_proof"),
    "isolation": ("Layer", "choose", "probe"),
    "limits": ("Limits",),
    "modules": ("target_modules",),
    "outcomes": ("Caught", "ChallengeResult", "ProofOutcome", "Status", "TestOutcome"),
    "programs": ("ProgramResult", "Programs", "run_program"),
    "proofs": ("ProofRunner",),
    "releases": ("list_releases",),
    "servers": ("Health", "NotServingError", "Response", "Server", "serve"),
    "targets": (
        "BuiltTarget",
        "Environment",
        "Target",
        "environment",
        "list_targets",
        "remove_target",
    ),
    "proof_worker": ("Challenge",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Base",
    "BuiltTarget",
    "Caught",
    "Challenge",
    "ChallengeResult",
    "DoctorReport",
    "Environment",
    "Health",
    "Inspection",
    "Layer",
    "Limits",
    "NotServingError",
    "Objection",
    "ProgramResult",
    "Programs",
    "ProofOutcome",
    "ProofRunner",
    "Response",
    "Server",
    "Status",
    "Target",
    "TestOutcome",
    "choose",
    "doctor_report",
    "environment",
    "hand_over",
    "inspect_proof",
    "list_releases",
    "list_targets",
    "new_base",
    "probe",
    "remove_target",
    "run_program",
    "serve",
    "target_modules",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
