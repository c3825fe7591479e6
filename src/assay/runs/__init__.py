"""Resumable runs: the folder, the journal, the engine, and queries on them."""

from assay.findings import Baseline
from assay.runs.compare import CaseChange, RunComparison, compare_runs
from assay.runs.engine import Chain, Progress, Step, TerminalProgress, Work, execute, run_in_loop
from assay.runs.folder import (
    BASELINE,
    JOURNAL,
    MANIFEST,
    RUNS_FOLDER,
    Gate,
    Manifest,
    Run,
    check_resumable,
    create_folder,
    find_run,
    is_being_written,
    read_manifest,
    run_folders,
    write_gate,
)
from assay.runs.index import Row, RunIndex
from assay.runs.journal import JournalReader, Span, complete_size, mark_at
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
    "JOURNAL",
    "MANIFEST",
    "RUNS_FOLDER",
    "Baseline",
    "CaseChange",
    "Chain",
    "Ended",
    "Gate",
    "JournalReader",
    "Manifest",
    "Parts",
    "Plan",
    "Progress",
    "Row",
    "Run",
    "RunComparison",
    "RunIndex",
    "Span",
    "Step",
    "TerminalProgress",
    "Unit",
    "Watch",
    "Work",
    "Worker",
    "check_resumable",
    "compare_runs",
    "complete_size",
    "create_folder",
    "execute",
    "find_run",
    "is_being_written",
    "mark_at",
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
