"""One sample of a test: a conversation, retried after an outage, and its report."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from assay.agents.connections import Connection, get_credentials
from assay.agents.model import AgentFile
from assay.agents.sampling.checking import CheckResult, GistJudge, check_answer, gather
from assay.agents.sampling.conversation import Conversation, ConversationEnd, hold
from assay.agents.sampling.stopwatch import Stopwatch, TimeIsOver
from assay.agents.sampling.tally import RETRIES, retry_delay
from assay.agents.sampling.transcript import Attempt, describe_sample, is_wanted
from assay.agents.secrets import find_private_in_answers, find_private_in_errors
from assay.checks import failed
from assay.config import Transcripts
from assay.errors import InfrastructureError, InputError, Unverifiable
from assay.model import AttributeResult, Case, VerifierReport
from assay.models import Judge, JudgeVerdict
from assay.redaction import redact_error, redactor

GROUP = "samples"
_TOO_LATE = "the limit of the test came before another attempt was complete"

Place: TypeAlias = Callable[[], AbstractAsyncContextManager[None]]


@dataclass(frozen=True)
class Requests:
    """How often the agent was asked for one sample."""

    sent: int = 0
    repeated: int = 0
    """How many of them failed and were repeated."""

    def after(self, conversation: Conversation, *, is_repeated: bool = False) -> Requests:
        return Requests(self.sent + conversation.requests, self.repeated + is_repeated)


_NONE = Requests()


class TakenSample(NamedTuple):
    """The report of a sample, and its conversation if it is to be kept."""

    report: VerifierReport
    conversation: dict[str, Any] | None = None


@dataclass(frozen=True)
class Sampler:
    """Takes the samples of one test over one connection."""

    file: AgentFile
    connection: Connection
    judge: Judge
    watch: Stopwatch
    place: Place
    """Waits for one of the places for conversations, and holds it."""
    retries: int = RETRIES
    transcripts: Transcripts = "all"

    async def take(self, case: Case, earlier: Requests = _NONE) -> TakenSample:
        """Return one sample; an outage that outlasts its retries is an error.

        A sample that fails a check before the outage has failed and is not retried: it would get a
        second chance that others do not have. One that hits the test's time limit during a retry is
        an error too: without the outage it would have been in time.
        """
        requests = earlier
        attempts: list[_Attempt] = []
        while True:
            try:
                attempts.append(await self._attempt(case))
            except TimeIsOver:
                if not attempts:
                    raise
                # The outage is the result of the sample: no answer followed it.
                attempts[-1] = replace(attempts[-1], is_cut_off=True)
                last = replace(requests, repeated=requests.repeated - 1)
                return self._finish(case, attempts, last)
            attempt, delay = attempts[-1], retry_delay(len(attempts), self.retries)
            is_repeated = delay is not None and attempt.is_worth_repeating
            requests = requests.after(attempt.conversation, is_repeated=is_repeated)
            if delay is None or not is_repeated:
                return self._finish(case, attempts, requests)
            await asyncio.sleep(delay)

    def _finish(self, case: Case, attempts: Sequence[_Attempt], requests: Requests) -> TakenSample:
        report = self._report(case, attempts[-1], requests)
        if not is_wanted(self.transcripts, report.outcome):
            return TakenSample(report)
        several = [
            Attempt(one.conversation, one.checked, one.secrets, self._describe_ending(one))
            for one in attempts
        ]
        return TakenSample(
            report, describe_sample(several, self.file.interactions, self.judge.model)
        )

    async def _attempt(self, case: Case) -> _Attempt:
        async with self.place():
            conversation = await hold(
                self.connection,
                self.file.interactions,
                failure_patterns=self.file.failure_patterns,
                watch=self.watch,
            )
        secrets = {
            **find_private_in_answers(self.file.interactions, conversation.answers),
            **self._secrets,
        }
        judge = _SampleJudge(self.judge, int(case.describe()["sample"]), secrets)
        checked = await self._check(conversation, judge, secrets)
        return _Attempt(conversation, checked, secrets, judge.outage)

    async def _check(
        self, conversation: Conversation, judge: GistJudge, secrets: Mapping[str, str]
    ) -> list[CheckResult]:
        """Run every check on every answer."""
        withheld = secrets if self.file.judge_sees == "redacted" else self._credentials
        answered = zip(self.file.interactions, conversation.replies, strict=False)
        checked = await gather(
            check_answer(one.answer, interaction, judge=judge, secrets=secrets, withheld=withheld)
            for interaction, one in answered
        )
        return [result for results in checked for result in results]

    @cached_property
    def _secrets(self) -> dict[str, str]:
        return {**get_credentials(self.connection), **self.file.secrets}

    @cached_property
    def _credentials(self) -> dict[str, str]:
        return {**get_credentials(self.connection), **self.file.credentials}

    def _report(self, case: Case, attempt: _Attempt, requests: Requests) -> VerifierReport:
        conversation = attempt.conversation
        disputed = [one.name for one in attempt.checked if one.is_disputed]
        about = {
            **case.describe(),
            "requests": requests.sent,
            "repeated": requests.repeated,
            # About which checks the judge's votes differ is for the assessor.
            **({"disputed": disputed} if disputed else {}),
        }
        if attempt.is_error:
            about["is_outage"] = conversation.ending is ConversationEnd.OUTAGE
            report = VerifierReport.from_error(
                case, conversation.seconds, self._describe_error(attempt)
            )
            return report.model_copy(update={"case": about})
        results = {one.name: one.attribute() for one in attempt.checked}
        if conversation.ending in (ConversationEnd.TOO_SLOW, ConversationEnd.FAILED):
            missing = f"{len(conversation.replies) + 1}.answer"
            reason = self._describe_ending(attempt)
            reason = (
                f"too slow: {reason}" if conversation.ending is ConversationEnd.TOO_SLOW else reason
            )
            results[missing] = AttributeResult.of(missing, None, None, failed(reason))
        return VerifierReport(
            id=case.id,
            group=case.group,
            type=case.group_type,
            duration=conversation.seconds,
            results=results,
            case=about,
        )

    def _describe_ending(self, attempt: _Attempt) -> str:
        """Return why a conversation ended early; it may quote what was sent or received."""
        return attempt.conversation.explain(self._make_redactor(attempt.conversation))

    def _describe_error(self, attempt: _Attempt) -> str:
        """Return the description of an outage; it may quote what was sent or received."""
        if attempt.conversation.ending is ConversationEnd.OUTAGE:
            reason = self._describe_ending(attempt)
            return f"{reason} ({_TOO_LATE})" if attempt.is_cut_off else reason
        return self._make_redactor(attempt.conversation)(attempt.judges_outage or "")

    def _make_redactor(self, conversation: Conversation) -> Callable[[str], str]:
        private = find_private_in_errors(self.file.interactions, conversation.answers)
        return redactor({**private, **self._secrets})


@dataclass(frozen=True)
class _Attempt:
    conversation: Conversation
    checked: list[CheckResult]
    secrets: Mapping[str, str]
    judges_outage: str | None
    is_cut_off: bool = False
    """Whether the limit of the test ended the attempt after this one."""

    @property
    def _has_failed(self) -> bool:
        is_wrong = any(one.result.is_correct is False for one in self.checked)
        return is_wrong or self.conversation.ending in (
            ConversationEnd.TOO_SLOW,
            ConversationEnd.FAILED,
        )

    @property
    def is_error(self) -> bool:
        """Whether the sample says nothing about the agent."""
        is_outage = self.conversation.ending is ConversationEnd.OUTAGE
        return not self._has_failed and (is_outage or self.judges_outage is not None)

    @property
    def is_worth_repeating(self) -> bool:
        """Whether the agent could not be reached and a retry may succeed."""
        is_outage = self.conversation.ending is ConversationEnd.OUTAGE
        return is_outage and not self.conversation.lasting and not self._has_failed


class _SampleJudge:
    """The judge for one sample: every sample gets its own ruling, even if answers are equal.

    An outage leaves its check open, so that the results of other checks still count.
    """

    def __init__(self, judge: Judge, sample: int, secrets: Mapping[str, str]) -> None:
        self._judge, self._sample = judge, sample
        self._redact = redactor(secrets)
        self.outage: str | None = None

    async def gist(self, criterion: str, sample: Any) -> JudgeVerdict:
        try:
            return await self._judge.gist(
                criterion, sample, number=self._sample, redact=self._redact
            )
        except InfrastructureError as error:
            self.outage = f"the judge gave no answer: {error}"
            raise Unverifiable(self.outage) from None
        except InputError as error:
            # A provider may quote a request it refuses.
            redact_error(error, self._redact)
            raise
