"""What is kept of a conversation: both sides, turn by turn, as plain data without secrets.

A run keeps one such value per sample, as a part of its case. It is made of what was really said,
and everything that must not be stored is replaced before anything is shortened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from assay.agents.connections import Answer
from assay.agents.model import Interaction
from assay.agents.sampling.checking import CheckResult
from assay.agents.sampling.conversation import Asked, Conversation, ConversationEnd
from assay.agents.secrets import find_private_in_answers, hide_values
from assay.config import Transcripts
from assay.documents import MEGABYTE
from assay.model import Outcome
from assay.redaction import redact

_VERSION = 1
# How much of each text is kept; the first length with which the whole is small enough.
_LENGTHS = (100_000, 10_000, 1_000, 200)
_MOST = 4 * MEGABYTE


class Attempt(NamedTuple):
    """A conversation, the checks on its answers, and what must not be stored of it."""

    conversation: Conversation
    checked: Sequence[CheckResult]
    secrets: Mapping[str, str]
    reason: str
    """Why it ended early, without secrets."""


def is_wanted(transcripts: Transcripts, outcome: Outcome) -> bool:
    """Return whether the conversation of a sample with this outcome is kept."""
    return transcripts == "all" or (transcripts == "failed" and outcome is not Outcome.PASSED)


def describe_sample(
    attempts: Sequence[Attempt], interactions: Sequence[Interaction], judge: str
) -> dict[str, Any]:
    """Return the conversation of a sample; all attempts but the last met an outage."""
    value: dict[str, Any] = {
        "version": _VERSION,
        "judge": judge,
        "attempts": [_describe_attempt(one, interactions) for one in attempts],
    }
    for length in _LENGTHS:
        short: dict[str, Any] = _shorten(value, length)
        if _measure(short) <= _MOST:
            break
    return short


def _describe_attempt(attempt: Attempt, interactions: Sequence[Interaction]) -> dict[str, Any]:
    conversation = attempt.conversation
    private = find_private_in_answers(interactions, conversation.answers, shortest=1)
    hide = _make_hider(private, attempt.secrets)
    answers: list[Answer | None] = [*conversation.answers]
    # The last message may have no answer.
    answers += [None] * (len(conversation.asked) - len(answers))
    turns = [
        _describe_turn(interaction, asked, answer, attempt, hide)
        for interaction, asked, answer in zip(
            interactions, conversation.asked, answers, strict=False
        )
    ]
    return {
        "turns": turns,
        "ending": conversation.ending.value,
        "reason": attempt.reason if conversation.ending is not ConversationEnd.COMPLETE else "",
        "seconds": conversation.seconds,
    }


def _make_hider(private: Mapping[str, str], secrets: Mapping[str, str]) -> Callable[[Any], Any]:
    def hide(value: Any) -> Any:
        return None if value is None else redact(hide_values(value, private), secrets)

    return hide


def _describe_turn(
    interaction: Interaction,
    asked: Asked,
    answer: Answer | None,
    attempt: Attempt,
    hide: Callable[[Any], Any],
) -> dict[str, Any]:
    message, exchange = asked
    checked = [one for one in attempt.checked if one.interaction == interaction.number]
    text = answer.text if answer is not None else None
    steps = [list(one) for one in exchange.steps]
    if steps and steps[-1][1] == text:
        # The last step of several agents is the answer itself.
        steps.pop()
    turn: dict[str, Any] = {
        "interaction": interaction.number,
        "is_new": message.chat_context is None,
        "sent": {
            "text": redact(message.text, attempt.secrets),
            "sly_data": hide(message.sly_data or None),
        },
        "answer": None,
        "seconds": exchange.seconds,
        "first_byte": exchange.first_byte,
        "tokens": exchange.tokens,
        "origin": redact(exchange.origin, attempt.secrets),
        "steps": redact(steps, attempt.secrets),
        "steps_left_out": exchange.steps_left_out,
        "checks": [one.name for one in checked],
        "judged": [_describe_ruling(one) for one in checked if one.ruling],
    }
    if answer is not None:
        turn["answer"] = {
            "text": redact(text, attempt.secrets),
            "structure": redact(answer.structure, attempt.secrets),
            "sly_data": hide(answer.sly_data),
        }
    return turn


def _describe_ruling(one: CheckResult) -> dict[str, Any]:
    assert one.ruling is not None
    return {
        "check": one.name,
        # What the judge was asked: whether this is true of that.
        "criterion": one.expected,
        "sample": one.actual,
        "holds": one.ruling.holds,
        "votes": [{"holds": vote.holds, "reason": vote.reason} for vote in one.ruling.votes],
    }


def _shorten(value: Any, length: int) -> Any:
    """Return a value of the same shape with its long texts cut."""
    if isinstance(value, str) and len(value) > length:
        return f"{value[:length]}… ({len(value) - length:,} more characters left out)"
    if isinstance(value, dict):
        return {key: _shorten(inner, length) for key, inner in value.items()}
    if isinstance(value, list):
        return [_shorten(inner, length) for inner in value]
    return value


def _measure(value: Any) -> int:
    """Return about how many characters a value takes."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(len(key) + _measure(inner) + 8 for key, inner in value.items())
    if isinstance(value, list):
        return sum(_measure(inner) + 2 for inner in value)
    return 8
