"""Access to language models: a small client, a cache of answers, usage, cost, budget, the judge."""

from __future__ import annotations

from assay.models.budget import Budget
from assay.models.cache import ResponseCache
from assay.models.client import Answer, ModelClient
from assay.models.judge import Judge, Judged, Ruling
from assay.models.prices import Price, price_of
from assay.models.retries import ModelFailed
from assay.models.settings import (
    DEFAULT_MODEL,
    HOW_TO_SET,
    ModelChoice,
    ModelSettings,
    resolve,
)
from assay.models.usage import CACHED, Meter, Usage, meter_usage, metered, usage_of
from assay.models.wire import ToolCall

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
