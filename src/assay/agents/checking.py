"""Compares an answer with all checks of its interaction; each has its own result."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from assay.agents.model import Check, Interaction
from assay.agents.secrets import concealed
from assay.checks import ABSENT, failed, passed, run_check
from assay.errors import Unverifiable
from assay.results import AttributeResult, VerificationResult

_NO_SECRETS: Mapping[str, str] = {}


class Answered(Protocol):
    """What the agent answered; None for a part that it did not give."""

    @property
    def text(self) -> str | None: ...
    @property
    def structure(self) -> dict[str, Any] | None: ...
    @property
    def sly_data(self) -> dict[str, Any] | None: ...


class Judged(Protocol):
    """Whether a criterion holds, and why in a sentence."""

    @property
    def holds(self) -> bool: ...
    @property
    def reason(self) -> str: ...


class GistJudge(Protocol):
    """Who decides whether a text meets a criterion in words."""

    async def gist(self, criterion: str, sample: str) -> Judged:
        """Raises Unverifiable if it has no means to decide; other errors are outages."""
        ...


@dataclass(frozen=True)
class CheckResult:
    """What came of one check; the values are as they may be stored, without secrets."""

    check: Check
    interaction: int
    actual: Any
    expected: Any
    result: VerificationResult

    @property
    def name(self) -> str:
        """Unique within a sample: `2.sly_data.order.total.less`."""
        return f"{self.interaction}.{self.check.name}"

    def attribute(self) -> AttributeResult:
        """The attribute of a sample's report."""
        return AttributeResult.of(self.name, self.actual, self.expected, self.result)


async def check_answer(
    answer: Answered,
    interaction: Interaction,
    *,
    judge: GistJudge | None = None,
    secrets: Mapping[str, str] = _NO_SECRETS,
) -> list[CheckResult]:
    """The results of all checks, in the order of the file.

    The judge's errors other than Unverifiable are not caught: they say nothing about the agent.
    """
    found = await _all_of(
        [_result_of(check, answer, judge, secrets) for check in interaction.checks]
    )
    return [
        CheckResult(
            check,
            interaction.number,
            _stored(value_of(check, answer), secrets),
            concealed(check.value, secrets),
            _without_secrets(result, secrets),
        )
        for check, result in zip(interaction.checks, found, strict=True)
    ]


def value_of(check: Check, answer: Answered) -> Any:
    """What a check looks at, or ABSENT."""
    value: Any = getattr(answer, check.section)
    for key in check.path:
        value = value.get(key, ABSENT) if isinstance(value, dict) else ABSENT
    # A part the answer does not have is absent; null inside of a part is a value.
    return ABSENT if value is None and not check.path else value


async def _result_of(
    check: Check, answer: Answered, judge: GistJudge | None, secrets: Mapping[str, str]
) -> VerificationResult:
    value = value_of(check, answer)
    if not check.is_gist:
        return run_check(check.test, value, [check.value])
    if value is ABSENT:
        return failed("absent")
    try:
        return await _judged(check, value, judge, secrets)
    except Unverifiable as reason:
        return VerificationResult(diff=str(reason), is_correct=None)


async def _judged(
    check: Check, value: Any, judge: GistJudge | None, secrets: Mapping[str, str]
) -> VerificationResult:
    if judge is None:
        raise Unverifiable("no model is set that could judge a gist", advice="set one with --model")
    sample = concealed(value, secrets)
    text = sample if isinstance(sample, str) else json.dumps(sample, ensure_ascii=False)
    judged = await judge.gist(concealed(check.value, secrets), text)
    return passed(judged.reason) if judged.holds != check.is_negated else failed(judged.reason)


async def _all_of(
    several: Iterable[Coroutine[Any, Any, VerificationResult]],
) -> list[VerificationResult]:
    """The results of all; the first error ends the others and is the error of the whole."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in several]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]


def _stored(value: Any, secrets: Mapping[str, str]) -> Any:
    return None if value is ABSENT else concealed(value, secrets)


def _without_secrets(result: VerificationResult, secrets: Mapping[str, str]) -> VerificationResult:
    return result.model_copy(update={"diff": concealed(result.diff, secrets)})
