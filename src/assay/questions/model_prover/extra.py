"""Whether what questions with a model need is installed, and how it is kept quiet."""

from __future__ import annotations

import logging
import os
from importlib.util import find_spec

from assay.errors import InfrastructureError

_NEEDED = ("google.adk", "litellm", "mcp")
# Prices are ours, and nothing is told to anybody about who uses what.
_QUIET = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "OTEL_SDK_DISABLED": "true"}
_TALKATIVE = ("google_adk", "google_genai", "LiteLLM", "opentelemetry")


def require_extra() -> None:
    """Refuse to start without the packages of the extra; nothing is imported for that."""
    missing = [name for name in _NEEDED if not _is_there(name)]
    if missing:
        raise InfrastructureError(
            f"questions are put to a model through {missing[0]}, which is not installed",
            advice="install it with: pip install 'assaykit[adk]'",
        )


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def be_quiet() -> None:
    """Before the first import: no prices from the network, no telemetry, no logs on the screen."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    for name in _TALKATIVE:
        # What fails is told by Assay, once, with what to do about it.
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
