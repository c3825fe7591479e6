"""What subjects add to the reports of their runs: functions, imported when such a run is shown.

A report may not import a subject, so it finds them here by name.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from assay.runs import Run

Part: TypeAlias = Literal["blocks", "lines", "matrix", "overview"]

_FUNCTIONS: dict[Part, dict[str, str]] = {
    # From a run and a record to the blocks of its evidence.
    "blocks": {
        "agents": "assay.agents.evidence:describe_case",
        "calibration": "assay.questions.calibration_evidence:describe_case",
        "drift": "assay.questions.drift_report:describe_case",
        "questions": "assay.questions.evidence:describe_case",
        "submissions": "assay.submissions.evidence:describe_case",
    },
    # From a run, a record and a Paint to lines for a terminal.
    "lines": {
        "agents": "assay.agents.show:show_test",
        "questions": "assay.questions.show:show_question",
    },
    # From a run to its matrix.
    "matrix": {"drift": "assay.questions.drift_report:matrix_of"},
    # From a run to blocks about all of its cases.
    "overview": {
        "agents": "assay.agents.evidence:describe_run",
        "calibration": "assay.questions.calibration_evidence:describe_run",
        "questions": "assay.questions.evidence:describe_run",
        "submissions": "assay.submissions.evidence:describe_run",
    },
}

# What a function may raise for a run folder of somebody else, or of a version with other details.
MISSHAPEN = (KeyError, TypeError, AttributeError, ValueError, IndexError)


def find_function(part: Part, run: Run) -> Callable[..., Any] | None:
    """Return the function for this part of the reports of a run; None if its subject has none."""
    if (source := _FUNCTIONS[part].get(run.manifest.subject)) is None:
        return None
    module, _, function = source.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found
