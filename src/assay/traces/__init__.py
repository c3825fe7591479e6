"""Traces: runs, cases, samples and calls of models as spans of OpenTelemetry.

Spans are made here without any library and handed to a process of their own, which delivers them to
a collector. So neither a slow collector nor one that is down changes or delays a run.
"""

from assay.traces.spans import (
    ModelCall,
    enter_case,
    export_traces,
    is_tracing,
    trace_case,
    trace_model_call,
    trace_run,
)

__all__ = [
    "ModelCall",
    "enter_case",
    "export_traces",
    "is_tracing",
    "trace_case",
    "trace_model_call",
    "trace_run",
]
