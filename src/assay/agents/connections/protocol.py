"""The interface of a connection (one question in, one answer out) and its three errors.

    AssayError
    ├── TooSlow                  the agent gave no complete answer in time: a failure
    ├── AgentFailed              the agent's own code raised, or gave no answer: a failure
    └── InfrastructureError
        └── ConnectionFailed     the agent was not reachable or not able to answer: an error

A connection is opened once per test and creates one session per sample, so that samples cannot
affect each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias

from assay.errors import AssayError, InfrastructureError

if TYPE_CHECKING:
    from assay.agents.connections.template import Template
    from assay.agents.trust import CodeRules


import json
import re

Part: TypeAlias = Literal["text", "structure", "sly_data"]
_SHOWN = 200
ALL_PARTS: Final[frozenset[Part]] = frozenset({"text", "structure", "sly_data"})


class AgentFailed(AssayError):  # noqa: N818 - it says what is the case
    """The agent's own code raised an error or ended without an answer: its failure.

    It is not retried, because a second attempt would hide the first. The agent's message is kept
    whole, as with `ConnectionFailed`.
    """

    def __init__(
        self,
        what: str,
        *,
        said: str = "",
        answer: Answer | None = None,
        advice: str | None = None,
    ) -> None:
        super().__init__(what, advice=advice)
        self.said = said
        self.answer = answer


class ConnectionFailed(InfrastructureError):  # noqa: N818 - it says what is the case
    """An outage: no server, no such agent, a broken stream, an answer that reports a fault.

    The other side's message is kept whole, because it may quote secrets: they are replaced before
    it is cut, so that no part of one remains. `str()` of the error leaves it out.
    """

    def __init__(
        self,
        what: str,
        *,
        said: str = "",
        answer: Answer | None = None,
        where: str | None = None,
        advice: str | None = None,
        lasting: bool = False,
    ) -> None:
        super().__init__(what, where=where, advice=advice)
        self.said = said
        # The answer that reports the fault, with the private data that may be quoted.
        self.answer = answer
        # An unknown agent or a refused certificate will not change within a second.
        self.lasting = lasting


class TooSlow(AssayError):  # noqa: N818 - it says what is the case
    """The answer was not complete within its limit; that is the agent's failure."""


def describe_failure(error: AssayError, redact: Callable[[str], str]) -> str:
    """Return the messages of an error and of the other side, on few lines, without secrets."""
    # Once more after white space is folded: a secret may have been broken over lines.
    said = redact(" ".join(redact(getattr(error, "said", "")).split()))
    cut = said if len(said) <= _SHOWN else f"{said[:_SHOWN]}…"
    what = f"{error.what}: {cut}" if cut else error.what
    return redact(str(AssayError(what, where=error.where, advice=error.advice)))


@dataclass(frozen=True)
class Message:
    """A message to the agent. Private parts are excluded from its repr."""

    # None if the interaction has no text; an empty text is one.
    text: str | None
    sly_data: dict[str, Any] = field(default_factory=dict, repr=False)
    # The context of the previous answer, unchanged; None starts a conversation.
    chat_context: Any = field(default=None, repr=False)
    chat_filter: str = "MINIMAL"
    timeout: float | None = None


@dataclass(frozen=True)
class Answer:
    """An answer; parts that the agent did not give are None."""

    text: str | None = None
    structure: dict[str, Any] | None = None
    sly_data: dict[str, Any] | None = field(default=None, repr=False)
    chat_context: Any = field(default=None, repr=False)


@dataclass(frozen=True)
class Settings:
    """All settings a connection may need to reach its agent."""

    agent: str
    host: str | None = None
    port: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict, repr=False)
    use_direct: bool = False
    ca_file: Path | None = None
    verify: bool = True
    # The address of a server where host and port do not say enough.
    url: str | None = None
    # The variable that holds the key of an OpenAI-compatible API.
    key_variable: str = "OPENAI_API_KEY"
    # The templates for a custom HTTP API.
    template: Template | None = None
    # The program and its arguments, which only the user names, never a file.
    command: tuple[str, ...] = ()
    # Where a Python agent may come from; None if a caller names it, not a file.
    code_rules: CodeRules | None = None
    # Seconds to reach a server; how long it may be silent where no limit is set.
    connect_timeout: float = 10.0
    silence: float = 600.0


class Session(Protocol):
    """The session of a single sample.

    The caller enforces the limit: it cancels `ask` when the time is over, and `ask` must then end
    at once, whatever the agent does.
    """

    async def ask(self, message: Message) -> Answer: ...

    async def close(self) -> None:
        """End what belongs to the sample; most sessions have nothing to end."""
        return


class Connection(Protocol):
    """A connection to one agent, shared by all samples of a test.

    A connection with its own credentials lists them in `secrets`: a mapping from value to the name
    that replaces it wherever the agent quotes it.
    """

    async def session(self) -> Session: ...

    async def close(self) -> None:
        """End what all samples shared; nothing by default."""
        return


def get_credentials(connection: Connection) -> Mapping[str, str]:
    """Return the credentials of the connection itself; most have none."""
    found: Mapping[str, str] = getattr(connection, "secrets", {})
    return found


_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)


def find_structure(text: str) -> dict[str, Any] | None:
    """Return the object that makes up the whole text, or else the first one in a code fence."""
    for candidate in (text, *_FENCED.findall(text)):
        if "{" not in candidate:
            continue
        try:
            found = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    return None


def format_text(value: Any) -> str | None:
    """Return a value as the text of an answer; None if there is none."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)
