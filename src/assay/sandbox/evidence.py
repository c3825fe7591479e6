"""Judges a proof from outside, by the events its process sent and by how that process ended."""

from __future__ import annotations

import signal
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from assay.sandbox.proof_lint import Inspection


class Status(StrEnum):
    """How a test ended: pytest's outcomes, and two more."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    TIMED_OUT = "timed out"


@dataclass(frozen=True)
class Caught:
    """An exception that satisfied a `raises` of the test.

    `classes` are the names of its class and all bases, nearest first; `in_proof` says that a line
    of the proof itself raised it.
    """

    classes: tuple[str, ...]
    message: str
    in_proof: bool


@dataclass(frozen=True)
class TestOutcome:
    """One test function, with one set of parameters: what happened, where and why."""

    # Keeps pytest from taking the class for a test where it is imported.
    __test__ = False

    name: str
    status: Status
    line: int | None = None
    exception: str | None = None
    message: str = ""
    text: str = ""
    output: str = ""
    seconds: float = 0.0
    objection: str | None = None
    caught: tuple[Caught, ...] = ()

    @property
    def evidence(self) -> bool:
        """Whether the outcome says something about the target."""
        return self.objection is None

    @property
    def function(self) -> str:
        """The name without parameters."""
        return self.name.partition("[")[0]


@dataclass(frozen=True)
class ChallengeResult:
    """The result of calling a proof again: the variants it held with, and what it touched.

    `imported`, `patched` and `overridden` are names of the target, `read` are modules whose source
    it read; `repeated` means that it held with the disputed value itself, as it should. `made` are
    expressions of the proof that evaluate to the disputed value, `doubts` are sentences that
    explain why the answer is not the target's.
    """

    held: tuple[str, ...] = ()
    repeated: bool = True
    imported: tuple[str, ...] = ()
    patched: tuple[str, ...] = ()
    overridden: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    made: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProofOutcome:
    """A whole proof: its tests, how it ran, and objections to its use as evidence."""

    tests: tuple[TestOutcome, ...]
    objection: str | None = None
    output: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    fresh: bool = False
    isolation: str = "none"
    attempts: int = 1
    challenge: ChallengeResult | None = None

    @property
    def evidence(self) -> bool:
        """Whether every test of the proof counts."""
        return self.objection is None and all(test.evidence for test in self.tests)

    @property
    def passed(self) -> bool:
        """Whether there are tests, and all of them passed and count."""
        return self.evidence and all(test.status is Status.PASSED for test in self.tests)

    def test(self, name: str) -> TestOutcome:
        """Return the test of that name; raise KeyError if the proof has none."""
        for test in self.tests:
            if test.name == name:
                return test
        raise KeyError(name)


# Raised by a failed check; any other exception means that the proof broke.
_CHECK_FAILURES = ("AssertionError", "Failed")


class _Event(BaseModel):
    # The sender may be hostile: unknown fields and wrong types are refused.
    model_config = ConfigDict(extra="forbid", strict=True)


class RaisedException(_Event):
    """An exception as the recorder saw it."""

    type: str
    bases: list[str]
    message: str
    line: int | None
    raised_in: str | None
    in_proof: bool
    by_check: bool
    broad: bool = False


class CollectEvent(_Event):
    """A file or class that could not be collected."""

    event: Literal["collect"]
    outcome: Literal["failed", "skipped"]
    error: RaisedException | None
    text: str


class CollectedEvent(_Event):
    """The tests that will run."""

    event: Literal["collected"]
    tests: list[tuple[str, str, int | None]]


class StartEvent(_Event):
    """A test begins."""

    event: Literal["start"]
    test: str


class PhaseEvent(_Event):
    """Set-up, call or teardown of a test has ended."""

    event: Literal["phase"]
    test: str
    phase: Literal["setup", "call", "teardown"]
    outcome: Literal["passed", "failed", "skipped"]
    raised: Literal["passed", "failed", "skipped"]
    expected_failure: bool
    error: RaisedException | None
    text: str
    output: str
    seconds: float
    caught: list[RaisedException]


class ChallengeEvent(_Event):
    """The result of calling the test with other values and without the target."""

    event: Literal["challenge"]
    held: tuple[str, ...]
    repeated: bool
    imported: tuple[str, ...]
    patched: tuple[str, ...]
    overridden: tuple[str, ...]
    read: tuple[str, ...]
    doubts: tuple[str, ...] = ()
    made: tuple[str, ...] = ()


class EndEvent(_Event):
    """The final message of the proof's process."""

    event: Literal["end"]
    stopped: str | None
    plugins: list[str]
    cpu: float


_EVENT: TypeAdapter[
    CollectEvent | CollectedEvent | StartEvent | PhaseEvent | ChallengeEvent | EndEvent
] = TypeAdapter(CollectEvent | CollectedEvent | StartEvent | PhaseEvent | ChallengeEvent | EndEvent)


class ProofEnding(BaseModel):
    """How the process of a proof ended, as its reaper and the supervisor saw it."""

    exit: int
    limit: str | None
    left_over: int
    elapsed: float
    output: str
    report: str
    token: str

    @property
    def timed_out(self) -> bool:
        return self.limit in ("wall_time", "cpu_time")


@dataclass
class _Events:
    """The events of a proof, sorted by test."""

    order: list[str] = field(default_factory=list)
    started: set[str] = field(default_factory=set)
    phases: dict[str, list[PhaseEvent]] = field(default_factory=dict)
    uncollected: list[CollectEvent] = field(default_factory=list)
    challenge: ChallengeResult | None = None
    end: EndEvent | None = None
    tampered: bool = False


def judge(inspection: Inspection, ending: ProofEnding) -> ProofOutcome:
    """Return the outcome of a proof; nothing that its process printed or returned counts."""
    events = _read(ending)
    objection = _object_to_all(inspection, ending, events)
    tests = [
        _judge_test(name, inspection, ending, events, objection)
        for name in dict.fromkeys([*events.order, *events.phases])
    ]
    functions = {test.function for test in tests}
    tests += [
        _judge_missing(name, line, ending, events, objection)
        for name, line in inspection.tests.items()
        if name not in functions
    ]
    return ProofOutcome(
        tests=tuple(tests),
        objection=objection,
        output=ending.output,
        seconds=ending.elapsed,
        cpu_seconds=events.end.cpu if events.end else 0.0,
        challenge=events.challenge,
    )


def _read(ending: ProofEnding) -> _Events:
    events = _Events()
    for line in ending.report.splitlines():
        token, _, text = line.partition(" ")
        try:
            event = _EVENT.validate_json(text)
        except ValidationError:
            event = None
        if token != ending.token or event is None or events.end is not None:
            events.tampered = True
        elif isinstance(event, CollectedEvent):
            events.order += [name for name, _, _ in event.tests]
        elif isinstance(event, StartEvent):
            events.started.add(event.test)
        elif isinstance(event, PhaseEvent):
            events.phases.setdefault(event.test, []).append(event)
        elif isinstance(event, CollectEvent):
            events.uncollected.append(event)
        elif isinstance(event, ChallengeEvent):
            events.challenge = ChallengeResult(**event.model_dump(exclude={"event"}))
        else:
            events.end = event
    events.tampered = events.tampered or not events.phases.keys() <= set(events.order)
    return events


def _object_to_all(inspection: Inspection, ending: ProofEnding, events: _Events) -> str | None:
    """Return the objections to the whole proof."""
    written = next((one for one in inspection.objections if one.test is None), None)
    if written is not None:
        return str(written)
    if events.tampered:
        return "the report was tampered with"
    if ending.timed_out:
        return "it ran into its time limit"
    if events.end is None:
        return f"its process ended before its report: {_describe_end(ending)}"
    if events.end.stopped is not None and not events.uncollected:
        return f"it stopped the tests: {events.end.stopped}"
    if events.end.plugins:
        return f"it brought a plugin: {events.end.plugins[0]}"
    if ending.left_over:
        return "it left a process running behind it"
    if events.uncollected:
        return f"it could not be collected: {_summary(events.uncollected[0])}"
    if not events.order:
        return "no test was collected"
    return None


def _summary(report: CollectEvent) -> str:
    if report.error is None:
        return report.text.strip().splitlines()[-1] if report.text.strip() else report.outcome
    name = report.error.type.rpartition(".")[2]
    lines = report.error.message.strip().splitlines()
    return f"{name}: {lines[0]}" if lines else name


def _describe_end(ending: ProofEnding) -> str:
    if ending.limit:
        return f"it hit its limit of {ending.limit.replace('_', ' ')}"
    if ending.exit < 0:
        names = {one.value: one.name for one in signal.Signals}
        return f"killed by {names.get(-ending.exit, f'signal {-ending.exit}')}"
    return f"exit code {ending.exit}"


def _judge_test(
    name: str, inspection: Inspection, ending: ProofEnding, events: _Events, objection: str | None
) -> TestOutcome:
    phases = events.phases.get(name, [])
    finished = any(phase.phase == "teardown" for phase in phases)
    if not finished:
        return _judge_unfinished(name, ending, events, objection)
    decisive = _find_decisive(phases)
    status = _status(decisive)
    error = decisive.error
    function = name.partition("[")[0]
    written = inspection.against(function)
    if objection is None and written is not None:
        objection = str(written)
    if objection is None and function not in inspection.tests:
        objection = "this test is not written in the proof"
    return TestOutcome(
        name=name,
        status=status,
        line=error.line if error else None,
        exception=error.type.removeprefix("builtins.") if error else None,
        message=error.message if error else "",
        text=decisive.text,
        output=max((phase.output for phase in phases), key=len, default=""),
        seconds=sum(phase.seconds for phase in phases),
        objection=objection or _object_to_test(phases, decisive, status),
        caught=tuple(
            Caught(tuple(one.bases), one.message, one.in_proof)
            for phase in phases
            for one in phase.caught
        ),
    )


def _find_decisive(phases: list[PhaseEvent]) -> PhaseEvent:
    """Return the phase that decides a test: the first that did not pass, else the call."""
    for outcome in ("failed", "skipped"):
        for phase in phases:
            if phase.outcome == outcome:
                return phase
    return next((phase for phase in phases if phase.phase == "call"), phases[0])


def _status(decisive: PhaseEvent) -> Status:
    if decisive.outcome == "failed" and decisive.phase != "call":
        return Status.ERROR
    return Status(decisive.outcome)


def _object_to_test(phases: list[PhaseEvent], decisive: PhaseEvent, status: Status) -> str | None:
    if any(phase.expected_failure for phase in phases):
        return "an expected failure (xfail) shows nothing"
    if any(phase.outcome == "passed" and phase.raised != "passed" for phase in phases):
        return "something rewrote the outcome of a test that did not pass"
    if status is Status.SKIPPED:
        return "it was skipped"
    if status is Status.PASSED:
        return _object_to_pass(phases)
    error = decisive.error
    if error is None:
        return "it failed without an exception"
    kind = error.type.rpartition(".")[2]
    if status is Status.ERROR:
        return f"its {decisive.phase} failed with {kind}"
    if error.by_check and any(base in _CHECK_FAILURES for base in error.bases):
        return None
    return f"it failed with {kind}, not by its own check"


def _object_to_pass(phases: Iterable[PhaseEvent]) -> str | None:
    for caught in (one for phase in phases for one in phase.caught):
        kind = caught.type.rpartition(".")[2]
        if caught.in_proof and caught.broad:
            return (
                f"`raises` accepts any exception and caught a {kind} raised by the proof itself "
                f"at line {caught.line}: name the exception"
            )
        if caught.in_proof and "AssertionError" in caught.bases:
            return f"`raises` caught the proof's own assertion at line {caught.line}"
    return None


def _judge_unfinished(
    name: str, ending: ProofEnding, events: _Events, objection: str | None
) -> TestOutcome:
    if name not in events.started:
        reason = "it was not reached"
        return TestOutcome(name, Status.ERROR, message=reason, objection=objection or reason)
    if ending.timed_out:
        reason = "it ran into its time limit"
        return TestOutcome(name, Status.TIMED_OUT, message=reason, objection=reason)
    reason = f"its process ended before the test did: {_describe_end(ending)}"
    return TestOutcome(name, Status.ERROR, message=reason, objection=reason)


def _judge_missing(
    name: str, line: int, ending: ProofEnding, events: _Events, objection: str | None
) -> TestOutcome:
    """Return the outcome of a test that the proof defines but pytest never collected."""
    error = next((one.error for one in events.uncollected if one.error is not None), None)
    skipped = any(one.outcome == "skipped" for one in events.uncollected)
    status = Status.SKIPPED if skipped else Status.ERROR
    if ending.timed_out and not events.order:
        status = Status.TIMED_OUT
    reason = objection or "it was not collected"
    if error is None:
        return TestOutcome(name, status, line=line, message=reason, objection=reason)
    return TestOutcome(
        name,
        status,
        line=error.line or line,
        exception=error.type.removeprefix("builtins."),
        message=error.message,
        text=events.uncollected[0].text,
        objection=reason,
    )
