"""Resumable runs: the folder, the journal, the engine, and queries on them."""

from assay.findings import Baseline
from assay.runs.compare import CaseChange, RunComparison, compare_runs
from assay.runs.engine import Chain, Progress, Step, TerminalProgress, Work, execute, run_in_loop
from assay.runs.folder import (
    BASELINE,
    CONVERSATION,
    RUNS_FOLDER,
    Gate,
    Manifest,
    Run,
    check_resumable,
    create_folder,
    find_run,
    read_manifest,
    run_folders,
    write_gate,
)
from assay.runs.index import Row
from assay.runs.plan import (
    Ended,
    Plan,
    Watch,
    Worker,
    resume_run,
    run_cases,
    start_configured,
    start_run,
)
from assay.runs.writer import Parts, Unit, name_some

__all__ = [
    "BASELINE",
    "CONVERSATION",
    "RUNS_FOLDER",
    "Baseline",
    "CaseChange",
    "Chain",
    "Ended",
    "Gate",
    "Manifest",
    "Parts",
    "Plan",
    "Progress",
    "Row",
    "Run",
    "RunComparison",
    "Step",
    "TerminalProgress",
    "Unit",
    "Watch",
    "Work",
    "Worker",
    "check_resumable",
    "compare_runs",
    "create_folder",
    "execute",
    "find_run",
    "name_some",
    "read_manifest",
    "resume_run",
    "run_cases",
    "run_folders",
    "run_in_loop",
    "start_configured",
    "start_run",
    "write_gate",
]
