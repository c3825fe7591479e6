"""The content of a test file: an agent, its interactions, and the checks on its answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from assay.agents.connections.template import Template
from assay.documents import Place
from assay.model import Ratio
from assay.redaction import redact

Section: TypeAlias = Literal["text", "sly_data", "structure"]
ChatFilter: TypeAlias = Literal["MINIMAL", "MAXIMAL"]
JudgeSees: TypeAlias = Literal["said", "redacted"]

SECTIONS: Final[tuple[Section, ...]] = ("text", "sly_data", "structure")

ONCE: Final = Ratio(1, 1)
_NOT = "not_"


@dataclass(frozen=True)
class Check:
    """One criterion that an answer must meet.

    A list of values in a test file becomes one check per value, so that each has its own result.
    """

    section: Section
    path: tuple[str, ...]
    """The keys that lead to the value below the section; empty for text."""
    test: str
    """The stock test as the file names it: keywords, not_gist and so on."""
    value: Any
    place: Place
    index: int | None = None
    """Its position among several values of one test."""

    @property
    def is_negated(self) -> bool:
        return self.test.startswith(_NOT)

    @property
    def is_gist(self) -> bool:
        """Whether a model has to judge it."""
        return self.test.removeprefix(_NOT) == "gist"

    @property
    def name(self) -> str:
        """Its place in the response: `sly_data.order.total.less`, `text.keywords[1]`."""
        position = "" if self.index is None else f"[{self.index}]"
        return ".".join((self.section, *self.path, self.test)) + position


@dataclass(frozen=True)
class Interaction:
    """One message to the agent and what must be true of its answer."""

    number: int
    """From 1, in the order of the file."""
    place: Place
    text: str | None = None
    # Private data is kept out of every text that might be logged by chance.
    sly_data: dict[str, Any] | None = field(default=None, repr=False)
    chat_filter: ChatFilter = "MINIMAL"
    timeout: float | None = None
    """Seconds until its answer must be complete."""
    continue_conversation: bool = True
    """Whether the next interaction goes on from this one; otherwise it starts anew."""
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True)
class AgentFile:
    """A test file with every default filled in."""

    path: Path
    agent: str
    interactions: tuple[Interaction, ...]
    connections: tuple[str, ...] = ("direct",)
    success_ratio: Ratio = ONCE
    timeout: float | None = None
    """Seconds for all samples of the test on one connection, retries included."""
    use_direct: bool = False
    """How a direct session lets the agent reach other agents."""
    agent_place: Place | None = None
    metadata: dict[str, Any] | None = field(default=None, repr=False)
    metadata_places: Mapping[str, Place] = field(default_factory=dict)
    template: Template | None = field(default=None, repr=False)
    """How the agent's HTTP API is called, for connections that need to know it."""
    failure_patterns: tuple[str, ...] = ()
    """Parts of an answer that show an outage behind the agent: such a sample is an error."""
    judge_sees: JudgeSees = "said"
    """Whether a judge reads what was really said, or the same without private data."""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What must never be stored, and the name to store in its place."""
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Those of the secrets that are never sent to a judge."""
    fingerprint: str = ""
    """Changes when anything changes that the file asks for."""

    @property
    def name(self) -> str:
        """The agent as it may be stored: its name may come from the environment."""
        name: str = redact(self.agent, self.secrets)
        return name

    @property
    def sections(self) -> frozenset[Section]:
        """The parts of answers that its checks look at."""
        return frozenset(
            check.section for interaction in self.interactions for check in interaction.checks
        )
