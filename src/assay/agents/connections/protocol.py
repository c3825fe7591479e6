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

    It is not tried again, because a second attempt would hide the first. What the agent said comes
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

    What the other side said about it comes whole, because it may quote secrets: they are replaced
    before it is cut, so that no part of one is left. As a text the error does without it.
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
        # An unknown agent or a refused certificate will not be different in a second.
        self.lasting = lasting


class TooSlow(AssayError):  # noqa: N818 - it says what is the case
    """The answer was not complete within its limit; that is the agent's failure."""


def describe_failure(error: AssayError, redact: Callable[[str], str]) -> str:
    """Return what an error says and what the other side said, on few lines, without secrets."""
    # Once more after white space is folded: a secret may have been broken over lines.
    said = redact(" ".join(redact(getattr(error, "said", "")).split()))
    cut = said if len(said) <= _SHOWN else f"{said[:_SHOWN]}…"
    what = f"{error.what}: {cut}" if cut else error.what
    return redact(str(AssayError(what, where=error.where, advice=error.advice)))


@dataclass(frozen=True)
class Message:
    """What is said to the agent. Private parts stay out of every text logged by chance."""

    # None if the interaction has no text; an empty text is one.
    text: str | None
    sly_data: dict[str, Any] = field(default_factory=dict, repr=False)
    # What the answer before brought, untouched; None begins a conversation.
    chat_context: Any = field(default=None, repr=False)
    chat_filter: str = "MINIMAL"
    timeout: float | None = None


@dataclass(frozen=True)
class Answer:
    """What came back; a part that the agent did not give is None."""

    text: str | None = None
    structure: dict[str, Any] | None = None
    sly_data: dict[str, Any] | None = field(default=None, repr=False)
    chat_context: Any = field(default=None, repr=False)


@dataclass(frozen=True)
class Settings:
    """Everything that any connection may need to find its agent."""

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
    # How the file describes an HTTP API of its own.
    template: Template | None = None
    # The program and its arguments, which only the user names, never a file.
    command: tuple[str, ...] = ()
    # Where a Python agent may come from; None if a caller names it, not a file.
    code_rules: CodeRules | None = None
    # Seconds to reach a server; how long it may be silent where no limit is set.
    connect_timeout: float = 10.0
    silence: float = 600.0


class Session(Protocol):
    """The one that a single sample talks to.

    The caller sets the limit: it cancels `ask` when the time is over, and `ask` must then end at
    once, whatever the agent does.
    """

    async def ask(self, message: Message) -> Answer: ...

    async def close(self) -> None:
        """End what belongs to the sample; most sessions have nothing to end."""
        return


class Connection(Protocol):
    """One way to one agent, shared by all samples of a test.

    One that has credentials of its own names them in `secrets`: by their value, what stands for
    them wherever the agent quotes them.
    """

    async def session(self) -> Session: ...

    async def close(self) -> None:
        """End what all samples shared; nothing by default."""
        return


def get_credentials(connection: Connection) -> Mapping[str, str]:
    """Return the credentials that a connection has of its own; most have none."""
    found: Mapping[str, str] = getattr(connection, "secrets", {})
    return found


_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)


def find_structure(text: str) -> dict[str, Any] | None:
    """Return the object that the whole text is, or else the first one in a fence."""
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
