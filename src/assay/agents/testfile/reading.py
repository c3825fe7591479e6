"""Turns a parsed source into a test file and reports every problem in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from assay.agents.connections.addresses import make_headers
from assay.agents.connections.registry import Kind, get_kind
from assay.agents.connections.template import PLACEHOLDERS, Template, is_known, list_placeholders
from assay.agents.model import AgentFile, Check, Interaction
from assay.agents.secrets import find_secrets
from assay.agents.testfile.criteria import CriteriaReader
from assay.agents.testfile.source import FileProblems, FileSource, read_source
from assay.agents.testfile.written import (
    WrittenAnswer,
    WrittenInteraction,
    WrittenRequest,
    WrittenTest,
    list_keys,
)
from assay.documents import MISSING_KEY, MappingNode, Mistake, Place, read_model
from assay.errors import InputError, nearest
from assay.findings import Finding
from assay.model import compute_fingerprint
from assay.redaction import redact

INTERACTIONS = "interactions"
REQUEST = "request"
ANSWER = "answer"
PARTS = ("text", "structure", "sly_data")
TOP_KEYS = list_keys(WrittenTest)


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
    file, problems = _read(source)
    # Values are already redacted; metadata is often a plain word and would garble the message.
    secrets = find_secrets(source.environment, None)
    problems = _redact_problems([*source.problems, *problems], secrets)
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


def _read(source: FileSource) -> tuple[AgentFile | None, list[Finding]]:
    """Return the content of a source, or None if values are invalid, and all problems in it."""
    if not isinstance(source.node, MappingNode):
        return None, [Finding("wrong-value", "a test file is an object", source.find_place(()))]
    written, mistakes = read_model(
        WrittenTest,
        _drop_definitions(source, source.node),
        source.places,
        preview=source.preview,
    )
    criteria = CriteriaReader(source, list(map(_to_finding, mistakes)))
    given = source.value.get(INTERACTIONS)
    checks = [
        criteria.read_checks(one.get("response"), (INTERACTIONS, number, "response"))
        for number, one in enumerate(given if isinstance(given, list) else ())
        if isinstance(one, dict)
    ]
    problems = criteria.problems
    # If something is invalid, reporting that there are no tests would only confuse.
    if not any(checks) and not problems:
        message = "no interaction has a test: whatever the agent says would pass"
        advice = 'for example "response": {"text": {"keywords": "…"}}'
        place = source.find_place((INTERACTIONS,))
        problems.append(Finding("nothing-tested", message, place, advice))
    if written is None:
        return None, problems
    file = _make_file(source, written, checks)
    problems += _find_bad_placeholders(source, file.template)
    return file, [*problems, *find_unanswerable(file, file.connections)]


def _drop_definitions(source: FileSource, node: MappingNode) -> MappingNode:
    """Return the file without keys that are substituted, or that an included file shares."""

    def is_definition(key: str) -> bool:
        is_included = source.find_place((key,)).file != source.path
        return key in source.referred or (is_included and not get_close_matches(key, TOP_KEYS))

    kept = (pair for pair in node.pairs if pair.key in TOP_KEYS or not is_definition(pair.key))
    return replace(node, pairs=tuple(kept))


def _to_finding(mistake: Mistake) -> Finding:
    found = Finding.of_mistake(mistake)
    if found.code != MISSING_KEY:
        return found
    return replace(found, advice="a test file has an `agent` and a list of `interactions` with it")


def _make_file(
    source: FileSource, written: WrittenTest, checks: list[tuple[Check, ...]]
) -> AgentFile:
    kept = {key: source.value[key] for key in source.value if key in TOP_KEYS and key != "metadata"}
    return AgentFile(
        path=source.path,
        agent=written.agent,
        interactions=tuple(
            _make_interaction(source, number, *pair)
            for number, pair in enumerate(zip(written.interactions, checks, strict=True))
        ),
        connections=written.connections,
        success_ratio=written.success_ratio,
        timeout=written.timeout,
        use_direct=written.use_direct,
        metadata=written.metadata,
        agent_place=source.find_place(("agent",)),
        metadata_places={
            key: source.find_place(("metadata", key)) for key in written.metadata or ()
        },
        template=_make_template(written.request, written.answer),
        failure_patterns=written.failure_patterns,
        judge_sees=written.judge_sees,
        secrets=source.secrets,
        credentials=source.credentials,
        fingerprint=compute_fingerprint(redact(kept, source.secrets)),
    )


def _make_interaction(
    source: FileSource, number: int, written: WrittenInteraction, checks: tuple[Check, ...]
) -> Interaction:
    return Interaction(
        number=number + 1,
        place=source.find_place((INTERACTIONS, number)),
        text=written.text,
        sly_data=written.sly_data,
        chat_filter=written.chat_filter,
        timeout=written.timeout,
        continue_conversation=written.continue_conversation,
        checks=checks,
    )


def _make_template(request: WrittenRequest | None, answer: WrittenAnswer | None) -> Template | None:
    """Return the template that the file defines for its own HTTP API, if it has one."""
    request, answer = request or WrittenRequest(), answer or WrittenAnswer()
    if not request.model_fields_set and not answer.model_fields_set:
        return None
    parts = {name: getattr(answer, name) for name in PARTS}
    return Template(
        request.method,
        request.path,
        request.body,
        parts={name: steps for name, steps in parts.items() if steps},
        context=answer.context or {},
        error=answer.error,
    )


def _find_bad_placeholders(source: FileSource, template: Template | None) -> Iterator[Finding]:
    """Yield a problem for every unknown placeholder, and for a body that cannot be sent."""
    if template is None:
        return
    known = [*PLACEHOLDERS, *(f"context.{each}" for each in template.context)]
    for key, value in (("path", template.path), ("body", template.body)):
        place = source.find_place((REQUEST, key))
        for name in list_placeholders(value):
            if not is_known(name, template.context):
                message = f"`{REQUEST}.{key}` has the unknown placeholder {{{{{name}}}}}"
                yield Finding("wrong-value", message, place, nearest(name, known))
    if template.method == "GET" and template.body is not None:
        message = f"`{REQUEST}.body` cannot be sent with GET"
        yield Finding("wrong-value", message, source.find_place((REQUEST, "body")), "use POST")


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
