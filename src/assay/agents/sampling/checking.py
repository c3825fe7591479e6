"""Runs all checks of an interaction on its answer, with one result per check."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from assay.agents.connections import Answer
from assay.agents.model import Check, Interaction
from assay.checks import ABSENT, failed, passed, run_check
from assay.errors import Unverifiable
from assay.model import AttributeResult, VerificationResult
from assay.models import JudgeVerdict, control_criterion, speaks_to_judge
from assay.redaction import redact, redactor

T = TypeVar("T")

_NO_SECRETS: Mapping[str, str] = {}
_SEEN_IN_PART = (
    "credentials are never shown to a judge, private data not with `judge_sees: redacted`; "
    "test what must not be said with not_keywords"
)


class GistJudge(Protocol):
    """Decides whether a value, usually a text, meets a criterion in words."""

    async def gist(self, criterion: str, sample: Any) -> JudgeVerdict:
        """Decide; raise Unverifiable if it has no means to decide; other errors are outages."""
        ...


@dataclass(frozen=True)
class CheckResult:
    """The result of one check; its values can be stored and contain no secrets."""

    check: Check
    interaction: int
    actual: Any
    expected: Any
    result: VerificationResult
    ruling: JudgeVerdict | None = None
    """What the judge decided, if it was asked."""

    @property
    def name(self) -> str:
        """Unique within a sample: `2.sly_data.order.total.less`."""
        return f"{self.interaction}.{self.check.name}"

    @property
    def is_disputed(self) -> bool:
        """Whether the votes of the judge differ about what was decided."""
        is_decided = self.result.is_correct is not None
        return is_decided and self.ruling is not None and not self.ruling.is_unanimous

    def attribute(self) -> AttributeResult:
        """Return the attribute of a sample's report."""
        return AttributeResult.of(self.name, self.actual, self.expected, self.result)


async def check_answer(
    answer: Answer,
    interaction: Interaction,
    *,
    judge: GistJudge | None = None,
    secrets: Mapping[str, str] = _NO_SECRETS,
    withheld: Mapping[str, str] = _NO_SECRETS,
) -> list[CheckResult]:
    """Return the results of all checks, in the order of the file.

    Verdicts are made on what was really said. `secrets` are replaced in what is stored of it, and
    `withheld` in what the judge reads. The judge's errors other than Unverifiable are not caught:
    they say nothing about the agent.
    """
    return await gather(
        [
            _check(answer, interaction, check, judge, secrets, withheld)
            for check in interaction.checks
        ]
    )


async def _check(
    answer: Answer,
    interaction: Interaction,
    check: Check,
    judge: GistJudge | None,
    secrets: Mapping[str, str],
    withheld: Mapping[str, str],
) -> CheckResult:
    value = find_value(check, answer)
    actual, expected = redact(value, secrets), redact(check.value, secrets)
    stored = None if actual is ABSENT else actual
    if not check.is_gist:
        result = _run_stock(check, value, actual, expected)
        return CheckResult(check, interaction.number, stored, expected, result)
    result, ruling = await _judge_gist(check, value, judge, withheld)
    # The reason may quote what the judge has read, or even its own key.
    result = result.model_copy(update={"diff": redact(result.diff, secrets)})
    ruling = None if ruling is None else ruling.redact(redactor(secrets))
    return CheckResult(check, interaction.number, stored, expected, result, ruling)


def find_value(check: Check, answer: Answer) -> Any:
    """Return the value a check looks at, or ABSENT; an agent that says nothing has no text."""
    value: Any = getattr(answer, check.section)
    for key in check.path:
        value = value.get(key, ABSENT) if isinstance(value, dict) else ABSENT
    if check.path:
        # Null and empty text inside of a part are values.
        return value
    is_blank = isinstance(value, str) and not value.strip()
    return ABSENT if value is None or is_blank else value


def _run_stock(check: Check, value: Any, actual: Any, expected: Any) -> VerificationResult:
    """Return the verdict on the actual values, with a diff of their redacted form."""
    result = run_check(check.test, value, [check.value])
    if actual == value and expected == check.value:
        return result
    # A diff may split a secret, so it is computed on redacted values.
    stored = run_check(check.test, actual, [expected])
    same = stored.is_correct is result.is_correct
    diff = stored.diff if same else "differs in a value that is kept secret"
    return VerificationResult(diff=diff, is_correct=result.is_correct)


async def _judge_gist(
    check: Check, value: Any, judge: GistJudge | None, withheld: Mapping[str, str]
) -> tuple[VerificationResult, JudgeVerdict | None]:
    """Return the result of the check, and what the judge decided if it was asked."""
    if value is ABSENT:
        return failed("absent"), None
    sample, criterion = redact(value, withheld), redact(check.value, withheld)
    judged: JudgeVerdict | None = None
    try:
        if judge is None:
            raise Unverifiable("no model is set to judge a gist", advice="set one with --model")
        is_redacted = sample != value
        if is_redacted and check.is_negated:
            # A forbidden value may be exactly what was redacted.
            raise Unverifiable("the judge may not see all of this answer", advice=_SEEN_IN_PART)
        judged = await judge.gist(criterion, sample)
        has_passed = judged.holds != check.is_negated
        if is_redacted and not has_passed:
            raise Unverifiable(
                f"the judge may not see all of this answer; it says: {judged.reason}",
                advice=_SEEN_IN_PART,
            )
        if has_passed and speaks_to_judge(sample):
            await _refuse_if_led(judge, sample, judged)
    except Unverifiable as reason:
        return VerificationResult(diff=str(reason), is_correct=None), judged
    result = passed if has_passed else failed
    return result(judged.reason), judged


async def _refuse_if_led(judge: GistJudge, sample: Any, judged: JudgeVerdict) -> None:
    """Raise Unverifiable if the judge also accepts a criterion that must be false.

    Only a verdict in the agent's favour is tested: no answer has a reason to make a judge fail it.
    This, and asking only where an answer seems to address a judge, limits the cost to one more
    ruling on few samples.
    """
    control = control_criterion(sample, holds=not judged.holds)
    if control is None:
        return
    if (await judge.gist(control, sample)).holds == judged.holds:
        wrong = "holds" if judged.holds else "does not hold"
        raise Unverifiable(
            f"the answer influences the judge, which also says that this {wrong}: {control}",
            advice="judge it with another model, or test it with keywords",
        )


async def gather(several: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Return all results; the first error cancels the others and is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in several]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]
