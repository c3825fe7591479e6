"""Access to language models: a small client, a cache of answers, usage, cost, budget, the judge."""

from __future__ import annotations

from assay.models.client import Answer, ModelClient, ResponseCache
from assay.models.judge import Judge, Judged, Ruling
from assay.models.settings import (
    DEFAULT_MODEL,
    HOW_TO_SET,
    ModelChoice,
    ModelSettings,
    Price,
    price_of,
    resolve,
)
from assay.models.transport import ModelFailed, ToolCall
from assay.models.usage import CACHED, Budget, Meter, Usage, meter_usage, metered, usage_of

__all__ = [
    "CACHED",
    "DEFAULT_MODEL",
    "HOW_TO_SET",
    "Answer",
    "Budget",
    "Judge",
    "Judged",
    "Meter",
    "ModelChoice",
    "ModelClient",
    "ModelFailed",
    "ModelSettings",
    "Price",
    "ResponseCache",
    "Ruling",
    "ToolCall",
    "Usage",
    "meter_usage",
    "metered",
    "price_of",
    "resolve",
    "usage_of",
]
