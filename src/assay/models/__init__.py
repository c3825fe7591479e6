"""Access to language models: client, answer cache, usage, cost, budget and judge."""

from __future__ import annotations

from assay.models.client import ModelAnswer, ModelClient, ResponseCache, check_access
from assay.models.judge import (
    Judge,
    JudgeVerdict,
    Ruling,
    control_criterion,
    speaks_to_judge,
)
from assay.models.settings import (
    DEFAULT_MODEL,
    HOW_TO_SET,
    ModelChoice,
    ModelSettings,
    Price,
    find_price,
    find_provider_at,
    resolve,
)
from assay.models.transport import (
    OVERLOADED,
    TRANSIENT,
    AdaptiveConcurrency,
    ModelFailed,
    Refused,
    ToolCall,
    Transient,
    persist,
    read_wait,
    trace_call,
)
from assay.models.usage import CACHED, Budget, Meter, Usage, count_usage, meter_usage, open_meter

__all__ = [
    "CACHED",
    "DEFAULT_MODEL",
    "HOW_TO_SET",
    "OVERLOADED",
    "TRANSIENT",
    "AdaptiveConcurrency",
    "Budget",
    "Judge",
    "JudgeVerdict",
    "Meter",
    "ModelAnswer",
    "ModelChoice",
    "ModelClient",
    "ModelFailed",
    "ModelSettings",
    "Price",
    "Refused",
    "ResponseCache",
    "Ruling",
    "ToolCall",
    "Transient",
    "Usage",
    "check_access",
    "control_criterion",
    "count_usage",
    "find_price",
    "find_provider_at",
    "meter_usage",
    "open_meter",
    "persist",
    "read_wait",
    "resolve",
    "speaks_to_judge",
    "trace_call",
]
