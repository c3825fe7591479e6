"""What a reader says of a question: how it is to be read, and typed claims about its options."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, StringConstraints, TypeAdapter, ValidationError

from assay.questions.claims import kinds
from assay.questions.claims.kinds import OPTION_RELATIONS
from assay.questions.model import Question
from assay.questions.proofs.claims import Relation
from assay.questions.verdict.stems import StemKind

MOST_PER_OPTION = 3
_LONGEST = 2_000
_FENCE = re.compile(r"```\w*\s*\n(.*?)```", re.DOTALL)
_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_LETTER = re.compile(r"(?:option\s+)?[\"'(]?(\w+)[\"').:]?", re.IGNORECASE)

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=_LONGEST)]


class ProgramClaim(kinds.TypedClaim):
    """What no other kind says: a proof engineer writes the test."""

    kind: Literal["program"] = "program"
    says: Text
    sketch: str = Field("", max_length=_LONGEST)

    @property
    def statement(self) -> str:
        return " ".join(self.says.split()).rstrip(".")


ReaderClaim: TypeAlias = Annotated[
    kinds.ImportRuns
    | kinds.PathExists
    | kinds.HasMember
    | kinds.TakesParameter
    | kinds.DefaultIs
    | kinds.AnnotationIs
    | kinds.InheritsFrom
    | kinds.IsOfNature
    | kinds.ConstantIs
    | kinds.InEnumeration
    | kinds.AcceptsCall
    | kinds.HasOption
    | kinds.Raises
    | kinds.Runs
    | kinds.Prints
    | kinds.Returns
    | kinds.Warns
    | ProgramClaim,
    Field(discriminator="kind"),
]
_CLAIM: TypeAdapter[Any] = TypeAdapter(ReaderClaim)


class Asks:
    """How a question is to be read, in the words of a reader."""

    KINDS: Mapping[str, StemKind] = {
        "one_true": StemKind.ONE_TRUE,
        "one_false": StemKind.ONE_FALSE,
        "best_of": StemKind.SUPERLATIVE,
        "why": StemKind.WHY,
    }


# What only people need to say of a claim, or what follows from the rest of it.
_UNASKED = frozenset(
    {"exact", "among", "imports", "which", "as_field", "is_method", "fresh_interpreter"}
)


def answer_schema() -> dict[str, Any]:
    """Return the JSON Schema of an answer, as providers enforce it.

    A claim has one shape there, with the fields of all kinds: it is a tenth as long as one shape
    for each kind, and taken by more providers. What a kind needs is checked by `read_answer`.
    """
    fields: dict[str, Any] = {}
    for schema in _schemas():
        for name, one in schema["properties"].items():
            shape = {key: value for key, value in one.items() if key in ("type", "items", "enum")}
            fields[name] = shape if fields.get(name, shape) == shape else {}
    fields["kind"] = _one_of(one["properties"]["kind"]["const"] for one in _schemas())
    fields["relation"] = _one_of(map(str, OPTION_RELATIONS))
    claim = {
        "type": "object",
        "properties": {name: one for name, one in fields.items() if name not in _UNASKED},
        "required": ["kind"],
    }
    option = {
        "type": "object",
        "properties": {
            "option": {"type": "string"},
            "claims": {"type": "array", "items": claim},
        },
        "required": ["option", "claims"],
    }
    return {
        "title": "ReaderAnswer",
        "type": "object",
        "properties": {
            "asks": _one_of([*Asks.KINDS, "unclear"]),
            "options": {"type": "array", "items": option},
        },
        "required": ["asks", "options"],
    }


def _one_of(words: Iterable[str]) -> dict[str, Any]:
    return {"type": "string", "enum": list(words)}


@dataclass(frozen=True)
class ParsedAnswer:
    """What could be read of an answer; `problems` are by option, the empty one is of all."""

    asks: StemKind | None = None
    claims: Mapping[str, tuple[kinds.TypedClaim, ...]] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)

    def problem_text(self) -> str:
        """Return an error message for its author; empty if there is none."""
        return "\n".join(self.problems.values())


def parse_json(output: Any) -> Any:
    """Return the value in an answer, plain or in a fence; raise ValueError if there is none."""
    if not isinstance(output, str):
        return output
    bare = _THOUGHTS.sub("", output).strip()
    fenced = _FENCE.search(bare)
    return json.loads(fenced[1] if fenced else bare)


def read_answer(output: Any, question: Question, options: Sequence[str]) -> ParsedAnswer:
    """Return the claims in an answer: JSON text or its value.

    `options` are those that need claims; claims about others are ignored.
    """
    try:
        value = parse_json(output)
    except ValueError as error:
        return ParsedAnswer(problems={"": f"the answer is not a JSON object: {error}"})
    given = value.get("options") if isinstance(value, dict) else None
    if isinstance(given, dict):
        given = [{"option": option, "claims": claims} for option, claims in given.items()]
    if not isinstance(given, list):
        return ParsedAnswer(problems={"": "the answer must be an object with `asks` and `options`"})
    problems: dict[str, str] = {}
    asks = value.get("asks")
    if asks not in (*Asks.KINDS, "unclear"):
        known = ", ".join([*Asks.KINDS, "unclear"])
        problems["asks"] = f"asks: must be one of {known}, not {_show(asks)}"
    claims: dict[str, tuple[kinds.TypedClaim, ...]] = {}
    for number, item in enumerate(given):
        where = f"options[{number}]"
        letter = find_letter(item.get("option"), question) if isinstance(item, dict) else None
        if letter is None:
            problems[where] = f"{where}.option: there is no option {_show(item)}"
        elif letter in options and letter not in claims:
            read = _read_claims(item.get("claims"), where)
            if isinstance(read, str):
                problems[letter] = read
            else:
                claims[letter] = read
    for letter in options:
        if letter not in claims and letter not in problems:
            problems[letter] = f"option {letter} has no entry"
    return ParsedAnswer(Asks.KINDS.get(asks) if isinstance(asks, str) else None, claims, problems)


def _read_claims(given: Any, where: str) -> tuple[kinds.TypedClaim, ...] | str:
    if not isinstance(given, list) or len(given) > MOST_PER_OPTION:
        return f"{where}.claims: must be a list of at most {MOST_PER_OPTION} claims"
    found: list[kinds.TypedClaim] = []
    for number, item in enumerate(given):
        try:
            claim: kinds.TypedClaim = _CLAIM.validate_python(item)
        except ValidationError as error:
            return f"{where}.claims[{number}]: {_explain(error, item)}"
        if claim.relation not in OPTION_RELATIONS:
            claim = claim.model_copy(update={"relation": Relation.NECESSARY})
        found.append(claim)
    if sum(isinstance(one, ProgramClaim) for one in found) > 1:
        return f"{where}.claims: at most one of them is a program"
    return tuple(found)


def find_letter(given: Any, question: Question) -> str | None:
    """Return the option letter: `a`, `A)` and `Option A` mean A if there is an A."""
    found = _LETTER.fullmatch(given.strip()) if isinstance(given, str) else None
    letters = {letter.upper(): letter for letter in question.options}
    return letters.get(found[1].upper()) if found else None


def _explain(error: ValidationError, item: Any) -> str:
    """Return the first problems of a claim, with the schema of its kind."""
    told = []
    for one in error.errors()[:3]:
        path = ".".join(str(part) for part in one["loc"][1:])
        told.append(f"{path}: {one['msg']}" if path else one["msg"])
    kind = item.get("kind") if isinstance(item, dict) else None
    schema = next((one for one in _schemas() if one["properties"]["kind"]["const"] == kind), None)
    shape = f"; the schema of {kind} is {json.dumps(schema)}" if schema else ""
    return f"{'; '.join(told)}{shape}"


def _schemas() -> list[dict[str, Any]]:
    schema = _CLAIM.json_schema()
    return [one for one in schema["$defs"].values() if "kind" in one.get("properties", {})]


def _show(value: Any) -> str:
    return json.dumps(value, default=str)[:60]
