"""Turns a parsed source into a test file and reports every problem in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from assay.agents.connections.addresses import make_headers
from assay.agents.connections.registry import Kind, get_kind
from assay.agents.connections.template import Template
from assay.agents.model import CHAT_FILTERS, JUDGE_SEES, ONCE, AgentFile, Interaction
from assay.agents.secrets import find_secrets
from assay.agents.testfile import fields
from assay.agents.testfile.criteria import CriteriaReader
from assay.agents.testfile.fields import Fields, InvalidValue, read_template
from assay.agents.testfile.source import FileProblems, FileSource, read_source
from assay.documents import KeyPath, Place
from assay.errors import InputError
from assay.findings import Finding
from assay.model import Ratio, compute_fingerprint
from assay.redaction import redact

INTERACTIONS = "interactions"
REQUEST = "request"
ANSWER = "answer"
TOP_KEYS = (
    "agent",
    "connections",
    "success_ratio",
    "use_direct",
    "metadata",
    "timeout_in_seconds",
    "failure_patterns",
    "judge_sees",
    REQUEST,
    ANSWER,
    INTERACTIONS,
)
INTERACTION_KEYS = (
    "text",
    "sly_data",
    "timeout_in_seconds",
    "chat_filter",
    "continue_conversation",
    "response",
)


@dataclass(frozen=True)
class ReadFile:
    """The result of reading one file."""

    path: Path
    file: AgentFile | None
    """None if there is any problem."""
    problems: list[Finding] = field(default_factory=list)
    has_interactions: bool = True
    """Without them it is a file for something else, and no test."""


def read_file(path: Path) -> ReadFile:
    """Return a test file and all its problems."""
    try:
        source = read_source(path)
    except FileProblems as error:
        return ReadFile(path, None, error.problems)
    reader = _Reader(source, list(source.problems))
    file = reader.read()
    # Values are already redacted; metadata is often a plain word and would garble the message.
    problems = _redact_problems(reader.problems, find_secrets(source.environment, None))
    return ReadFile(path, None if problems else file, problems, _has_interactions(source.value))


def _has_interactions(value: Any) -> bool:
    """Return whether it is a test, or a list of tests, which is a mistake to report."""
    several = value if isinstance(value, list) else [value]
    return any(isinstance(one, dict) and INTERACTIONS in one for one in several)


def _redact_problems(problems: list[Finding], secrets: Mapping[str, str]) -> list[Finding]:
    """Return problems without secrets: a message may quote a value and end up in a log."""
    return [
        replace(
            one,
            message=redact(one.message, secrets),
            advice=redact(one.advice, secrets),
        )
        for one in problems
    ]


def make_error(problems: list[Finding], *, is_linted: bool = True) -> InputError:
    """Return the first problem as an error that also gives the number of others.

    `is_linted` means that lint, which does not know the options, finds them too.
    """
    error = problems[0].error()
    if len(problems) > 1:
        more = f"and {len(problems) - 1} more"
        more += ": `assay agents lint` shows them all" if is_linted else ""
        error.advice = f"{error.advice}\n  {more}" if error.advice else more
    return error


@dataclass
class _Reader:
    source: FileSource
    problems: list[Finding]

    def read(self) -> AgentFile | None:
        given = self.source.value
        top = Fields(self.source, (), given if isinstance(given, dict) else {}, self.problems)
        if top.given is not given:
            top.refuse("wrong-value", "a test file is an object", "")
            return None
        top.refuse_unknown([*TOP_KEYS, *self._definitions(given)])
        if "agent" not in given:
            top.refuse("missing-key", "`agent` is missing", "", "name the agent to talk to")
        metadata = top.take("metadata", fields.parse_optional_object, None)
        file = AgentFile(
            path=self.source.path,
            agent=top.take("agent", fields.parse_text, ""),
            interactions=self._interactions(top),
            connections=top.take("connections", _connections, ("direct",)),
            success_ratio=top.take("success_ratio", _ratio, ONCE),
            timeout=top.take("timeout_in_seconds", fields.parse_seconds, None),
            use_direct=top.take("use_direct", fields.parse_bool, False),
            metadata=metadata,
            agent_place=self.source.find_place(("agent",)),
            metadata_places={
                key: self.source.find_place(("metadata", key)) for key in metadata or ()
            },
            template=self._template(top),
            failure_patterns=top.take("failure_patterns", fields.parse_texts, ()),
            judge_sees=top.take("judge_sees", fields.choose_from(JUDGE_SEES), JUDGE_SEES[0]),
            secrets=self.source.secrets,
            credentials=self.source.credentials,
            fingerprint=self._fingerprint(given),
        )
        self._refuse_unanswerable(file)
        return file

    def _definitions(self, given: dict[str, Any]) -> list[str]:
        """Return top-level keys that are substituted, or that an included file shares."""
        return [
            key
            for key in given
            if key in self.source.referred
            or (
                self.source.find_place((key,)).file != self.source.path
                and not get_close_matches(key, TOP_KEYS)
            )
        ]

    def _fingerprint(self, given: dict[str, Any]) -> str:
        kept = {key: given[key] for key in given if key in TOP_KEYS and key != "metadata"}
        return compute_fingerprint(redact(kept, self.source.secrets))

    def _interactions(self, top: Fields) -> tuple[Interaction, ...]:
        given = top.given.get(INTERACTIONS)
        if INTERACTIONS not in top.given:
            advice = "a test file has a list of interactions with the agent"
            top.refuse("missing-key", f"`{INTERACTIONS}` is missing", "", advice)
        elif not isinstance(given, list) or not given:
            message = f"`{INTERACTIONS}` must be a list of at least one object"
            top.refuse("wrong-value", message, INTERACTIONS)
        else:
            return self._each_interaction(given)
        return ()

    def _each_interaction(self, given: list[Any]) -> tuple[Interaction, ...]:
        known = len(self.problems)
        criteria = CriteriaReader(self.source, self.problems)
        found = [self._interaction(criteria, one, number) for number, one in enumerate(given, 1)]
        interactions = tuple(one for one in found if one is not None)
        is_untested = not any(one.checks for one in interactions)
        # If tests were invalid, reporting that there are none would only confuse.
        if is_untested and len(self.problems) == known:
            message = "no interaction has a test: whatever the agent says would pass"
            advice = 'for example "response": {"text": {"keywords": "…"}}'
            place = self.source.find_place((INTERACTIONS,))
            self.problems.append(Finding("nothing-tested", message, place, advice))
        return interactions

    def _interaction(self, criteria: CriteriaReader, given: Any, number: int) -> Interaction | None:
        at: KeyPath = (INTERACTIONS, number - 1)
        if not isinstance(given, dict):
            message = f"interaction {number} must be an object, not {self.source.preview(given)}"
            self.problems.append(Finding("wrong-value", message, self.source.find_place(at)))
            return None
        one = Fields(self.source, at, given, self.problems)
        one.refuse_unknown(INTERACTION_KEYS)
        return Interaction(
            number=number,
            place=self.source.find_place(at),
            text=one.take("text", fields.parse_optional_text, None),
            sly_data=one.take("sly_data", fields.parse_optional_object, None),
            chat_filter=one.take("chat_filter", fields.choose_from(CHAT_FILTERS), CHAT_FILTERS[0]),
            timeout=one.take("timeout_in_seconds", fields.parse_seconds, None),
            continue_conversation=one.take("continue_conversation", fields.parse_bool, True),
            checks=criteria.read_checks(given.get("response", {}), (*at, "response")),
        )

    def _template(self, top: Fields) -> Template | None:
        """Return the template that the file defines for its own HTTP API."""
        given = [
            key for key in (REQUEST, ANSWER) if top.take(key, fields.parse_optional_object, None)
        ]
        if not given:
            return None
        request, answer = (
            Fields(self.source, (key,), top.given.get(key) or {}, self.problems)
            for key in (REQUEST, ANSWER)
        )
        return read_template(request, answer)

    def _refuse_unanswerable(self, file: AgentFile) -> None:
        self.problems += find_unanswerable(file, file.connections)


def find_unanswerable(file: AgentFile, connections: Iterable[str]) -> list[Finding]:
    """Return a problem for everything in a file that a connection can neither send nor return."""
    problems: list[Finding] = []
    for kind in map(get_kind, connections):
        if kind.sends_headers:
            problems += _find_bad_headers(file)
        if kind.needs_template and file.interactions and not _is_whole(file.template):
            problems.append(
                Finding(
                    "missing-key",
                    f"{kind.name} needs to know the server's API: `{REQUEST}` and `{ANSWER}`",
                    file.interactions[0].place,
                    "docs/connections.md has an example",
                )
            )
        for interaction in file.interactions:
            problems += _find_unsupported(kind, interaction)
    # The same limitation of two connections is reported once.
    return list(dict.fromkeys(problems))


def _find_bad_headers(file: AgentFile) -> Iterator[Finding]:
    """Yield a problem for all metadata that cannot be sent as headers of HTTP."""
    for key, value in (file.metadata or {}).items():
        try:
            make_headers({key: value})
        except InputError as error:
            place = file.metadata_places.get(key) or Place(file.path, 1)
            yield Finding("wrong-value", error.what, place, error.advice or "")


def _find_unsupported(kind: Kind, interaction: Interaction) -> Iterator[Finding]:
    if interaction.text is None and kind.needs_text:
        message = f"{kind.name} cannot send an interaction without a text"
        advice = "give it a `text`, or use another connection"
        yield Finding("missing-key", message, interaction.place, advice)
    if interaction.sly_data and not kind.takes_sly_data:
        message = f"{kind.name} cannot send sly_data"
        advice = "put it in the text, or use another connection"
        yield Finding("wrong-value", message, interaction.place, advice)
    for check in interaction.checks:
        if check.section not in kind.returns:
            message = f"{kind.name} never returns {check.section}, so {check.name} could never pass"
            advice = "test another part of the answer, or use another connection"
            yield Finding("impossible-test", message, check.place, advice)


def _is_whole(template: Template | None) -> bool:
    return template is not None and bool(template.path and template.parts)


def _connections(value: Any) -> tuple[str, ...]:
    several = fields.parse_texts(value)
    for one in several:
        try:
            get_kind(one)
        except InputError as error:
            raise InvalidValue("cannot be {}", one, error.advice or "") from None
    if not several or len(set(several)) < len(several):
        raise InvalidValue("must name at least one connection, and each only once")
    return several


def _ratio(value: Any) -> Ratio:
    try:
        return Ratio.parse(value)
    except InputError as error:
        raise InvalidValue("cannot be {}", value, error.advice or "") from None
