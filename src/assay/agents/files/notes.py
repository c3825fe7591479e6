"""What a test file says that is no mistake and yet may not be what was meant."""

from __future__ import annotations

from collections.abc import Iterator

from assay.agents.files.problems import Note
from assay.agents.model import AgentFile
from assay.agents.trust import make_trust
from assay.config import load_config
from assay.documents import Place
from assay.errors import InputError
from assay.redaction import redact

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
    if "python" in file.connections:
        yield _note_code(file)


def _note_code(file: AgentFile) -> Note:
    """Return what code a file runs; the code itself is not run for it."""
    paths = load_config().agents.python_paths
    rules = make_trust(paths).for_file(file.path)
    assert rules is not None
    try:
        refusal = rules.find_refusal(file.agent)
    except InputError as error:
        refusal = str(error)
    message = f"runs code: {file.agent} is imported and called in this process, with your rights"
    advice = "look at it before you run a file that is not yours"
    if refusal is not None:
        message = f"names code that `verify` refuses to run: {file.agent}"
        advice = refusal
    place = file.agent_place or Place(file.path, 1)
    return Note(redact(message, file.secrets), place, redact(advice, file.secrets))
