"""Tells an answer from a report of a fault that arrives dressed as one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from assay.agents.connections.protocol import AgentFailed, Answer, ConnectionFailed
from assay.agents.connections.structures import structure_in

# What neuro-san answers, with status 200, when its own model is out of reach or refuses the key.
# `Agent stopped` alone is no sign of it: agents, people among them, stop for many reasons.
_STOPPED = "Agent stopped due to exception"
_KNOWN = (
    re.compile(rf"\s*(?:Error from [^\n]{{1,500}}?: )?{_STOPPED}\b"),
    re.compile(
        r"\s*A value for the [A-Z0-9_, ]+ environment variable must be correctly set in the"
    ),
)
_RETRYING = re.compile(r"\s*Retrying(?::|…|\.\.\.)")
_OWN = "the agent reports an outage of its own"
# An agent that went on calling its tools until it was stopped, in the words of two libraries.
_ENDLESS = re.compile(
    r"\s*(?:Error from [^\n]{1,500}?: )?Agent stopped due to "
    r"(?:exception Recursion limit of \d+ reached\b|iteration limit or time limit\.?\s*\Z)"
)


def is_retry(text: str | None) -> bool:
    """Whether a message only announces another attempt; the answer, if any, comes later."""
    return text is not None and _RETRYING.match(text) is not None


def fault_in(answer: Answer, patterns: Iterable[str] = ()) -> ConnectionFailed | AgentFailed | None:
    """Return what an answer reports as broken, or None for a real answer.

    `patterns` are the parts of an answer that a test file names as signs of an outage.
    """
    text = answer.text or ""
    structure = answer.structure or (structure_in(text) if _STOPPED in text else None) or {}
    error = str(structure.get("error", ""))
    if _ENDLESS.match(text) or _ENDLESS.match(error):
        return AgentFailed("the agent found no end", said=error or text, answer=answer)
    if any(known.match(text) for known in _KNOWN) or error.startswith(_STOPPED):
        return ConnectionFailed(_OWN, said=error or text, answer=answer)
    said = text or json.dumps(structure, ensure_ascii=False, default=str)
    if (pattern := first_in(said, patterns)) is not None:
        what = f"the answer contains {pattern!r}, which this test calls an outage"
        return ConnectionFailed(what, answer=answer)
    return None


def first_in(said: str, patterns: Iterable[str]) -> str | None:
    """Return the first sign of an outage that stands in a text."""
    return next((pattern for pattern in patterns if pattern in said), None)
