"""Tells an answer from a report of a fault that arrives dressed as one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from assay.agents.connections.protocol import Answer, ConnectionFailed
from assay.agents.connections.structures import structure_in

# What neuro-san answers, with status 200, when its own model is out of reach or refuses the key.
_KNOWN = (
    re.compile(r"\s*(?:Error from [^\n]{1,500}?: )?Agent stopped\b"),
    re.compile(
        r"\s*A value for the [A-Z0-9_, ]+ environment variable must be correctly set in the"
    ),
)
_RETRYING = re.compile(r"\s*Retrying(?::|…|\.\.\.)")
_OWN = "the agent reports an outage of its own"


def is_retry(text: str | None) -> bool:
    """Whether a message only announces another attempt; the answer, if any, comes later."""
    return text is not None and _RETRYING.match(text) is not None


def outage_in(answer: Answer, patterns: Iterable[str] = ()) -> ConnectionFailed | None:
    """What an answer reports as broken, or None for a real answer.

    `patterns` are the parts of an answer that a test file names as signs of an outage.
    """
    text = answer.text or ""
    if any(known.match(text) for known in _KNOWN):
        return ConnectionFailed(_OWN, said=text, answer=answer)
    structure = answer.structure or (structure_in(text) if "Agent stopped" in text else None) or {}
    if str(structure.get("error", "")).startswith("Agent stopped"):
        return ConnectionFailed(_OWN, said=str(structure["error"]), answer=answer)
    said = text or json.dumps(structure, ensure_ascii=False, default=str)
    for pattern in patterns:
        if pattern in said:
            what = f"the answer contains {pattern!r}, which this test calls an outage"
            return ConnectionFailed(what, answer=answer)
    return None
