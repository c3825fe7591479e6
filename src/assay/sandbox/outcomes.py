"""What came of a proof: every test with its outcome, and whether it counts as evidence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How a test ended, in the words of pytest, and two it has none for."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    TIMED_OUT = "timed out"


@dataclass(frozen=True)
class Caught:
    """An exception that a `raises` of the test was satisfied with.

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
    """What a proof did when it was called again: with which variants it held, what it touched.

    `imported`, `patched` and `overridden` are names of the target, `read` modules of which it read
    the source; `repeated` says that it held with the disputed value itself, as it should. `made`
    are expressions of the proof that come to the disputed value, `doubts` sentences that say why
    the answer is not the target's.
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
    """A whole proof: its tests, how it ran, and what speaks against taking it as evidence."""

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
        """Whether there are tests and all of them passed and count."""
        return self.evidence and all(test.status is Status.PASSED for test in self.tests)

    def test(self, name: str) -> TestOutcome:
        """The test of that name; KeyError if the proof has none."""
        for test in self.tests:
            if test.name == name:
                return test
        raise KeyError(name)
