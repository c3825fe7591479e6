"""What a test file says that is no mistake and yet may not be what was meant."""

from __future__ import annotations

from collections.abc import Iterator

from assay.agents.files.problems import Note
from assay.agents.model import AgentFile

_ONLY_NEGATED = (
    "every test is a `not_` form of text: a fault that arrives as an answer passes them all"
)
_ADVICE = (
    "add a test of what the answer must say, or name what an outage looks like in "
    "`failure_patterns`"
)


def notes_on(file: AgentFile) -> Iterator[Note]:
    """The notes on a file that has no problems."""
    checks = [check for interaction in file.interactions for check in interaction.checks]
    # A key that a fault does not have fails its tests, so those on text are the ones that pass.
    is_blind = all(check.is_negated and check.section == "text" for check in checks)
    if is_blind and not file.failure_patterns:
        yield Note(_ONLY_NEGATED, checks[0].place, _ADVICE)
