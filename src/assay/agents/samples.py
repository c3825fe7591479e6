"""One sample of a test: a conversation, tried again after an outage, and the report about it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from assay.agents.checking import CheckResult, GistJudge, Judged, check_answer
from assay.agents.connections import Connection, credentials_of
from assay.agents.conversation import Conversation, Ending, hold
from assay.agents.model import AgentFile
from assay.agents.private import private_in_answers, private_in_errors
from assay.agents.sampling import retry_delay
from assay.agents.stopwatch import Stopwatch
from assay.checks import failed
from assay.errors import InfrastructureError, Unverifiable
from assay.redaction import redactor
from assay.results import AttributeResult, Case, VerifierReport

GROUP = "samples"


@dataclass(frozen=True)
class Sampler:
    """Takes the samples of one test over one connection."""

    file: AgentFile
    connection: Connection
    judge: GistJudge
    watch: Stopwatch
    slots: asyncio.Semaphore
    """The places for conversations of all tests together."""

    async def take(self, case: Case) -> VerifierReport:
        """The report of one sample; an outage that outlasts its retries is an error.

        A sample that fails a check before the outage has failed, and is not tried again: it would
        have a second chance that others do not have.
        """
        attempts = 0
        while True:
            attempt = await self._attempt()
            attempts += 1
            delay = retry_delay(attempts)
            if delay is None or not attempt.is_worth_repeating:
                return self._report(case, attempt)
            async with self.watch.talking():
                await asyncio.sleep(delay)

    async def _attempt(self) -> _Attempt:
        # Who waits for a place is not talking yet: that time is nobody's.
        async with self.slots, self.watch.talking():
            conversation = await hold(
                self.connection,
                self.file.interactions,
                failure_patterns=self.file.failure_patterns,
            )
        judge = _Patient(self.judge)
        checked = await self._checked(conversation, judge)
        return _Attempt(conversation, checked, judge.outage)

    async def _checked(self, conversation: Conversation, judge: GistJudge) -> list[CheckResult]:
        """Every check on every answer that came."""
        private = private_in_answers(self.file.interactions, conversation.answers)
        secrets = {**private, **self._secrets}
        tasks = []
        try:
            async with asyncio.TaskGroup() as group:
                for interaction, reply in zip(
                    self.file.interactions, conversation.replies, strict=False
                ):
                    checking = check_answer(reply.answer, interaction, judge=judge, secrets=secrets)
                    tasks.append(group.create_task(checking))
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return [one for task in tasks for one in task.result()]

    @cached_property
    def _secrets(self) -> dict[str, str]:
        return {**credentials_of(self.connection), **self.file.secrets}

    def _report(self, case: Case, attempt: _Attempt) -> VerifierReport:
        conversation = attempt.conversation
        if attempt.is_error:
            return VerifierReport.from_error(case, conversation.seconds, self._error(attempt))
        results = {one.name: one.attribute() for one in attempt.checked}
        if conversation.ending is Ending.TOO_SLOW:
            slow = f"{len(conversation.replies) + 1}.answer"
            reason = f"too slow: {conversation.told(self._concealing(conversation))}"
            results[slow] = AttributeResult.of(slow, None, None, failed(reason))
        disputed = [one.name for one in attempt.checked if one.is_disputed]
        return _report(case, conversation.seconds, results, disputed)

    def _error(self, attempt: _Attempt) -> str:
        """What is said of an outage; it may quote what was sent or came back."""
        conceal = self._concealing(attempt.conversation)
        if attempt.conversation.ending is Ending.OUTAGE:
            return attempt.conversation.told(conceal)
        return conceal(attempt.judges_outage or "")

    def _concealing(self, conversation: Conversation) -> Callable[[str], str]:
        private = private_in_errors(self.file.interactions, conversation.answers)
        return redactor({**private, **self._secrets})


@dataclass(frozen=True)
class _Attempt:
    conversation: Conversation
    checked: list[CheckResult]
    judges_outage: str | None

    @property
    def _has_failed(self) -> bool:
        is_wrong = any(one.result.is_correct is False for one in self.checked)
        return is_wrong or self.conversation.ending is Ending.TOO_SLOW

    @property
    def is_error(self) -> bool:
        """Whether nothing can be said about the agent."""
        is_outage = self.conversation.ending is Ending.OUTAGE
        return not self._has_failed and (is_outage or self.judges_outage is not None)

    @property
    def is_worth_repeating(self) -> bool:
        """Whether it was the agent that could not be asked, and might be asked in a moment."""
        is_outage = self.conversation.ending is Ending.OUTAGE
        return is_outage and not self.conversation.lasting and not self._has_failed


class _Patient:
    """A judge whose outage leaves its check open, so that what other checks found still counts."""

    def __init__(self, judge: GistJudge) -> None:
        self._judge = judge
        self.outage: str | None = None

    async def gist(self, criterion: str, sample: Any) -> Judged:
        try:
            return await self._judge.gist(criterion, sample)
        except InfrastructureError as error:
            self.outage = f"the judge gave no answer: {error}"
            raise Unverifiable(self.outage) from None


def _report(
    case: Case, duration: float, results: Mapping[str, AttributeResult], disputed: list[str]
) -> VerifierReport:
    """The report; about which checks the judge's votes differ is kept for the assessor."""
    return VerifierReport(
        id=case.id,
        group=case.group,
        type=case.group_type,
        duration=duration,
        results=dict(results),
        case={**case.describe(), **({"disputed": disputed} if disputed else {})},
    )
