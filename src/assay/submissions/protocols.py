"""Interfaces between the parts of the package: a source of cases, and a runner for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, Self, TypeAlias

from assay.model import CaseResult, VerificationResult
from assay.submissions.adapters import find_adapter
from assay.submissions.assets import with_assets
from assay.submissions.cases import BaseCase
from assay.submissions.config import CheckpointConfig, GroupConfig, ProblemConfig


@dataclass(frozen=True)
class ExpectedCase:
    """A case and what is expected of it."""

    case: BaseCase
    expected: CaseResult

    is_judged_by_expected: ClassVar[bool] = True
    """Whether a verifier reads `expected`; else it only tells readers what the checks compare."""

    @property
    def stated(self) -> Mapping[str, Any]:
        """Everything that is expected, as values."""
        return self.expected.given()

    def describe_expectation(self) -> Any:
        """Everything a judgement of it depends on, as values."""
        return self.expected.given()

    def place_assets(self, assets: Mapping[str, str]) -> Self:
        """Return the case as it is run, with the paths of static assets in place of names."""
        if not assets:
            return self
        return replace(
            self,
            case=with_assets(self.case, assets),
            expected=with_assets(self.expected, assets),
        )


class CaseStream(Protocol):
    """The cases of one group, in order."""

    @property
    def is_stateful(self) -> bool:
        """Whether a case may depend on the results of earlier ones."""

    async def draw(self) -> ExpectedCase | None:
        """Return the next case, None after the last.

        Of a stateful stream it is drawn only after `update` was called for the one before.
        Raises CasesBrokenError if the loader raises, hangs or ends its process, NoCasesError if
        there is not even a first.
        """

    async def update(self, drawn: ExpectedCase, actual: CaseResult) -> None:
        """Pass the result of a case to the source; raise StoreBrokenError if that fails."""


class CaseSource(Protocol):
    """The source of a problem's cases and judgements: declarative files, or its own code."""

    def open(
        self, checkpoint: CheckpointConfig, group: GroupConfig
    ) -> AbstractAsyncContextManager[CaseStream]: ...

    async def verify(
        self,
        checkpoint: CheckpointConfig,
        group: GroupConfig,
        drawn: ExpectedCase,
        actual: CaseResult,
    ) -> dict[str, VerificationResult]:
        """Compare. Raises VerifierBrokenError if the verifier gives no judgement."""


class CaseRunner(Protocol):
    """Runs the cases of one group on a submission."""

    async def run(self, case: BaseCase) -> CaseResult:
        """Return what the program did: its own crash, time-out or dead server is a result too.

        The case is `placed`: in what is run, a name of a static asset is text like any other.

        Of a group that keeps its work folder or has a server, one case runs after another.
        Raises InfrastructureError for trouble that is not the program's.
        """


class Site(Protocol):
    """A submission prepared for one checkpoint: copied, and set up."""

    @property
    def digest(self) -> str:
        """A digest of everything that defines the program."""

    @property
    def missing(self) -> str | None:
        """The message for a missing program file."""

    @property
    def assets(self) -> Mapping[str, str]:
        """The path of every static asset, as a program sees it."""

    def runner(self, group: GroupConfig) -> AbstractAsyncContextManager[CaseRunner]: ...


def is_chain(problem: ProblemConfig, group: GroupConfig, stream: CaseStream) -> bool:
    """Return whether the cases of a group have to run in sequence."""
    is_shared = find_adapter(problem.adapter.type).is_shared
    return is_shared or not group.isolated or stream.is_stateful


Prepare: TypeAlias = Callable[[CheckpointConfig], AbstractAsyncContextManager[Site]]


class CasesBrokenError(Exception):
    """The (further) cases of a group are unavailable: the loader's fault, not the submission's."""

    is_mistake = True
    """Whether the author of the problem has to correct it; if not, the machine failed."""


class NoCasesError(CasesBrokenError):
    """A group has no cases: a mistake, and nothing that could pass."""


class ChainBrokenError(CasesBrokenError):
    """A case of a chain has no result, so the following ones cannot run."""

    def __init__(self, what: str, *, is_mistake: bool) -> None:
        super().__init__(what)
        self.is_mistake = is_mistake


class StoreBrokenError(CasesBrokenError):
    """A loader's store failed to record the result of a case.

    More cases can be drawn, but from a store that lacks this result: instead of blaming the
    submission for them, the group ends.
    """


LOST = "lost"
"""The sign of a verifier that hung or ended its process."""


class VerifierBrokenError(Exception):
    """A verifier gave no judgement: it raised, hung, exited, or returned something else.

    `sign` describes how, independent of the result: the exception type and the lines of the
    problem's code it passed through. Two errors with the same sign have one cause.
    """

    def __init__(self, what: str, sign: str = "") -> None:
        super().__init__(what)
        self.sign = sign or what


class SetUpFailedError(Exception):
    """A set-up command of the environment failed; the text has the command and its output."""
