"""Running untrusted code: clean target environments, isolation, programs and proofs."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.sandbox.cache import build_once, cache_folder, write_whole
    from assay.sandbox.doctor import doctor_report
    from assay.sandbox.evidence import Caught, ChallengeResult, ProofOutcome, Status, TestOutcome
    from assay.sandbox.isolation import choose, probe
    from assay.sandbox.jail.folder import A_CLOSED_FOLDER, A_FOLDER, A_LINK, make_held
    from assay.sandbox.jail.trees import copy_file, copy_tree, remove_in
    from assay.sandbox.overlay_base import (
        Base,
        TooDeepError,
        check_depth,
        hand_over,
        hand_over_folder,
        new_base,
    )
    from assay.sandbox.programs import (
        CollectedFiles,
        ProgramResult,
        Programs,
        Streams,
        check_name,
        check_request,
        collect_files,
        put_files,
        run_program,
        run_to_end,
    )
    from assay.sandbox.proof_lint import inspect_proof
    from assay.sandbox.proof_worker import Challenge
    from assay.sandbox.proofs import ProofRunner
    from assay.sandbox.servers import Health, NotServingError, Response, Server, serve
    from assay.sandbox.syntax import parse_proof, walk_tree
    from assay.sandbox.targets import (
        BuiltTarget,
        Environment,
        Target,
        environment,
        find_installed,
        first_imports,
        installed_paths,
        list_targets,
        remove_target,
        target_modules,
        verify_targets,
    )
    from assay.sandbox.uv import find_uv, list_releases
    from assay.sandbox.workers import GIB, KIB, MIB, Bind, Limits

# Imported on first use: running a program needs neither uv nor the proof runner.
_HOMES = {
    "cache": "build_once cache_folder write_whole",
    "doctor": "doctor_report",
    "evidence": "Caught ChallengeResult ProofOutcome Status TestOutcome",
    "isolation": "choose probe",
    "jail.folder": "A_CLOSED_FOLDER A_FOLDER A_LINK make_held",
    "jail.trees": "copy_file copy_tree remove_in",
    "overlay_base": "Base TooDeepError check_depth hand_over hand_over_folder new_base",
    "programs": "CollectedFiles ProgramResult Programs Streams check_name check_request "
    "collect_files put_files run_program run_to_end",
    "proof_lint": "inspect_proof",
    "proof_worker": "Challenge",
    "proofs": "ProofRunner",
    "servers": "Health NotServingError Response Server serve",
    "syntax": "parse_proof walk_tree",
    "targets": "BuiltTarget Environment Target environment find_installed first_imports "
    "installed_paths list_targets remove_target target_modules verify_targets",
    "uv": "find_uv list_releases",
    "workers": "GIB KIB MIB Bind Limits",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "A_CLOSED_FOLDER",
    "A_FOLDER",
    "A_LINK",
    "GIB",
    "KIB",
    "MIB",
    "Base",
    "Bind",
    "BuiltTarget",
    "Caught",
    "Challenge",
    "ChallengeResult",
    "CollectedFiles",
    "Environment",
    "Health",
    "Limits",
    "NotServingError",
    "ProgramResult",
    "Programs",
    "ProofOutcome",
    "ProofRunner",
    "Response",
    "Server",
    "Status",
    "Streams",
    "Target",
    "TestOutcome",
    "TooDeepError",
    "build_once",
    "cache_folder",
    "check_depth",
    "check_name",
    "check_request",
    "choose",
    "collect_files",
    "copy_file",
    "copy_tree",
    "doctor_report",
    "environment",
    "find_installed",
    "find_uv",
    "first_imports",
    "hand_over",
    "hand_over_folder",
    "inspect_proof",
    "installed_paths",
    "list_releases",
    "list_targets",
    "make_held",
    "new_base",
    "parse_proof",
    "probe",
    "put_files",
    "remove_in",
    "remove_target",
    "run_program",
    "run_to_end",
    "serve",
    "target_modules",
    "verify_targets",
    "walk_tree",
    "write_whole",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
