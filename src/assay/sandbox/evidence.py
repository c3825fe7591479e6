"""Judges a proof from outside: from the events its process sent and from how that process ended."""

from __future__ import annotations

import signal
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from assay.sandbox.integrity import Inspection
from assay.sandbox.outcomes import Caught, ChallengeResult, ProofOutcome, Status, TestOutcome

# What a failed check raises: anything else is a proof that broke, not one that was answered.
_CHECK_FAILURES = ("AssertionError", "Failed")


class _Event(BaseModel):
    # The sender may be hostile: nothing unknown, nothing of another type.
    model_config = ConfigDict(extra="forbid", strict=True)


class Raised(_Event):
    """An exception as the recorder saw it."""

    type: str
    bases: list[str]
    message: str
    line: int | None
    raised_in: str | None
    in_proof: bool
    by_check: bool
    broad: bool = False


class Collect(_Event):
    """A file or class that could not be collected."""

    event: Literal["collect"]
    outcome: Literal["failed", "skipped"]
    error: Raised | None
    text: str


class Collected(_Event):
    """The tests that will run."""

    event: Literal["collected"]
    tests: list[tuple[str, str, int | None]]


class Start(_Event):
    """A test begins."""

    event: Literal["start"]
    test: str


class Phase(_Event):
    """Set-up, call or teardown of a test has ended."""

    event: Literal["phase"]
    test: str
    phase: Literal["setup", "call", "teardown"]
    outcome: Literal["passed", "failed", "skipped"]
    raised: Literal["passed", "failed", "skipped"]
    expected_failure: bool
    error: Raised | None
    text: str
    output: str
    seconds: float
    caught: list[Raised]


class Challenge(_Event):
    """What came of calling the test with other values and without the target."""

    event: Literal["challenge"]
    held: list[str]
    repeated: bool
    imported: list[str]
    patched: list[str]
    overridden: list[str]
    read: list[str]
    doubts: list[str] = []
    made: list[str] = []


class End(_Event):
    """The last word of the proof's process."""

    event: Literal["end"]
    stopped: str | None
    plugins: list[str]
    cpu: float


_EVENT: TypeAdapter[Collect | Collected | Start | Phase | Challenge | End] = TypeAdapter(
    Collect | Collected | Start | Phase | Challenge | End
)


class Ending(BaseModel):
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
class _Story:
    """The events of a proof, sorted by test."""

    order: list[str] = field(default_factory=list)
    started: set[str] = field(default_factory=set)
    phases: dict[str, list[Phase]] = field(default_factory=dict)
    uncollected: list[Collect] = field(default_factory=list)
    challenge: ChallengeResult | None = None
    end: End | None = None
    tampered: bool = False


def judge(inspection: Inspection, ending: Ending) -> ProofOutcome:
    """The outcome of a proof; nothing its process printed or returned is taken for a result."""
    story = _read(ending)
    objection = _against_all(inspection, ending, story)
    tests = [
        _judge_test(name, inspection, ending, story, objection)
        for name in dict.fromkeys([*story.order, *story.phases])
    ]
    functions = {test.function for test in tests}
    tests += [
        _missing(name, line, ending, story, objection)
        for name, line in inspection.tests.items()
        if name not in functions
    ]
    return ProofOutcome(
        tests=tuple(tests),
        objection=objection,
        output=ending.output,
        seconds=ending.elapsed,
        cpu_seconds=story.end.cpu if story.end else 0.0,
        challenge=story.challenge,
    )


def _read(ending: Ending) -> _Story:
    story = _Story()
    for line in ending.report.splitlines():
        token, _, text = line.partition(" ")
        try:
            event = _EVENT.validate_json(text)
        except ValidationError:
            event = None
        if token != ending.token or event is None or story.end is not None:
            story.tampered = True
        elif isinstance(event, Collected):
            story.order += [name for name, _, _ in event.tests]
        elif isinstance(event, Start):
            story.started.add(event.test)
        elif isinstance(event, Phase):
            story.phases.setdefault(event.test, []).append(event)
        elif isinstance(event, Collect):
            story.uncollected.append(event)
        elif isinstance(event, Challenge):
            story.challenge = _challenged(event)
        else:
            story.end = event
    story.tampered = story.tampered or not story.phases.keys() <= set(story.order)
    return story


def _challenged(event: Challenge) -> ChallengeResult:
    return ChallengeResult(
        held=tuple(event.held),
        repeated=event.repeated,
        imported=tuple(event.imported),
        patched=tuple(event.patched),
        overridden=tuple(event.overridden),
        read=tuple(event.read),
        doubts=tuple(event.doubts),
        made=tuple(event.made),
    )


def _against_all(inspection: Inspection, ending: Ending, story: _Story) -> str | None:
    """What speaks against the whole proof."""
    written = next((one for one in inspection.objections if one.test is None), None)
    if written is not None:
        return str(written)
    if story.tampered:
        return "the report was tampered with"
    if ending.timed_out:
        return "it ran into its time limit"
    if story.end is None:
        return f"its process ended before its report: {_how(ending)}"
    if story.end.stopped is not None and not story.uncollected:
        return f"it stopped the tests: {story.end.stopped}"
    if story.end.plugins:
        return f"it brought a plugin: {story.end.plugins[0]}"
    if ending.left_over:
        return "it left a process running behind it"
    if story.uncollected:
        return f"it could not be collected: {_summary(story.uncollected[0])}"
    if not story.order:
        return "no test was collected"
    return None


def _summary(report: Collect) -> str:
    if report.error is None:
        return report.text.strip().splitlines()[-1] if report.text.strip() else report.outcome
    name = report.error.type.rpartition(".")[2]
    lines = report.error.message.strip().splitlines()
    return f"{name}: {lines[0]}" if lines else name


def _how(ending: Ending) -> str:
    if ending.limit:
        return f"it hit its limit of {ending.limit.replace('_', ' ')}"
    if ending.exit < 0:
        names = {one.value: one.name for one in signal.Signals}
        return f"killed by {names.get(-ending.exit, f'signal {-ending.exit}')}"
    return f"exit code {ending.exit}"


def _judge_test(
    name: str, inspection: Inspection, ending: Ending, story: _Story, objection: str | None
) -> TestOutcome:
    phases = story.phases.get(name, [])
    finished = any(phase.phase == "teardown" for phase in phases)
    if not finished:
        return _unfinished(name, ending, story, objection)
    decisive = _decisive(phases)
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
        objection=objection or _against_test(phases, decisive, status),
        caught=tuple(
            Caught(tuple(one.bases), one.message, one.in_proof)
            for phase in phases
            for one in phase.caught
        ),
    )


def _decisive(phases: list[Phase]) -> Phase:
    """The phase that gives a test its outcome: the first that did not pass, else the call."""
    for outcome in ("failed", "skipped"):
        for phase in phases:
            if phase.outcome == outcome:
                return phase
    return next((phase for phase in phases if phase.phase == "call"), phases[0])


def _status(decisive: Phase) -> Status:
    if decisive.outcome == "failed" and decisive.phase != "call":
        return Status.ERROR
    return Status(decisive.outcome)


def _against_test(phases: list[Phase], decisive: Phase, status: Status) -> str | None:
    if any(phase.expected_failure for phase in phases):
        return "an expected failure (xfail) shows nothing"
    if any(phase.outcome == "passed" and phase.raised != "passed" for phase in phases):
        return "something rewrote the outcome of a test that did not pass"
    if status is Status.SKIPPED:
        return "it was skipped"
    if status is Status.PASSED:
        return _against_pass(phases)
    error = decisive.error
    if error is None:
        return "it failed without an exception"
    kind = error.type.rpartition(".")[2]
    if status is Status.ERROR:
        return f"its {decisive.phase} failed with {kind}"
    if error.by_check and any(base in _CHECK_FAILURES for base in error.bases):
        return None
    return f"it failed with {kind}, not by a check of its own"


def _against_pass(phases: Iterable[Phase]) -> str | None:
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


def _unfinished(name: str, ending: Ending, story: _Story, objection: str | None) -> TestOutcome:
    if name not in story.started:
        reason = "it was not reached"
        return TestOutcome(name, Status.ERROR, message=reason, objection=objection or reason)
    if ending.timed_out:
        reason = "it ran into its time limit"
        return TestOutcome(name, Status.TIMED_OUT, message=reason, objection=reason)
    reason = f"its process ended before the test did: {_how(ending)}"
    return TestOutcome(name, Status.ERROR, message=reason, objection=reason)


def _missing(
    name: str, line: int, ending: Ending, story: _Story, objection: str | None
) -> TestOutcome:
    """A test that is written in the proof but was never collected."""
    error = next((one.error for one in story.uncollected if one.error is not None), None)
    skipped = any(one.outcome == "skipped" for one in story.uncollected)
    status = Status.SKIPPED if skipped else Status.ERROR
    if ending.timed_out and not story.order:
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
        text=story.uncollected[0].text,
        objection=reason,
    )
