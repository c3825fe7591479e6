"""One sample of a test: a conversation, tried again after an outage, and the report about it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

from assay.agents.checking import CheckResult, GistJudge, check_answer
from assay.agents.connections import Connection
from assay.agents.conversation import Conversation, Ending, hold
from assay.agents.model import AgentFile
from assay.agents.sampling import retry_delay
from assay.agents.secrets import concealed
from assay.agents.stopwatch import Stopwatch
from assay.checks import failed
from assay.errors import InfrastructureError
from assay.results import AttributeResult, Case, VerifierReport

GROUP = "samples"


async def take_sample(
    file: AgentFile,
    connection: Connection,
    case: Case,
    judge: GistJudge,
    watch: Stopwatch,
    slots: asyncio.Semaphore,
) -> VerifierReport:
    """The report of one sample; an outage that outlasts its retries is an error."""
    started = time.perf_counter()
    conversation = await _held(file, connection, watch, slots)
    try:
        checked = await _checked(file, conversation, judge)
    except InfrastructureError as error:
        # The judge's outage says nothing about the agent.
        told = concealed(f"the judge gave no answer: {error}", file.secrets)
        return VerifierReport.from_error(case, time.perf_counter() - started, told)
    duration = time.perf_counter() - started
    results = {one.name: one.attribute() for one in checked}
    reason = concealed(conversation.reason or "", file.secrets)
    if conversation.ending is Ending.OUTAGE and not any(_is_wrong(one) for one in checked):
        return VerifierReport.from_error(case, duration, reason)
    if conversation.ending is Ending.TOO_SLOW:
        slow = f"{len(conversation.replies) + 1}.answer"
        results[slow] = AttributeResult.of(slow, None, None, failed(f"too slow: {reason}"))
    disputed = [one.name for one in checked if one.is_disputed]
    return _report(case, duration, results, disputed)


async def _held(
    file: AgentFile, connection: Connection, watch: Stopwatch, slots: asyncio.Semaphore
) -> Conversation:
    attempts = 0
    while True:
        # One that waits for its turn is not yet talking, so its time does not count.
        async with slots:
            with watch.running():
                conversation = await hold(
                    connection, file.interactions, failure_patterns=file.failure_patterns
                )
        attempts += 1
        delay = retry_delay(attempts)
        if conversation.ending is not Ending.OUTAGE or conversation.lasting or delay is None:
            return conversation
        with watch.running():
            await asyncio.sleep(delay)


async def _checked(
    file: AgentFile, conversation: Conversation, judge: GistJudge
) -> list[CheckResult]:
    """Every check on every answer that came."""
    answered = zip(file.interactions, conversation.replies, strict=False)
    several = await asyncio.gather(
        *(
            check_answer(reply.answer, interaction, judge=judge, secrets=file.secrets)
            for interaction, reply in answered
        )
    )
    return [one for results in several for one in results]


def _is_wrong(checked: CheckResult) -> bool:
    return checked.result.is_correct is False


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
