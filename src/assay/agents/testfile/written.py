"""The format of a test file as models: every key with its values, and their JSON Schema."""

from __future__ import annotations

import math
import re
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    RootModel,
    StringConstraints,
    create_model,
    model_validator,
)

from assay.agents.connections.registry import KINDS, get_kind
from assay.agents.connections.template import Method, has_dots, parse_path
from assay.agents.model import ONCE, ChatFilter, JudgeSees
from assay.agents.testfile.criteria import TESTS
from assay.documents import InvalidValue, KeyPath, print_schema
from assay.errors import InputError
from assay.model import Ratio
from assay.starters import write_starter

# The types that the schema shows for values that functions read.
Item = TypeVar("Item")
_Several = Annotated[list[Item], Field(min_length=1)]
_Sentence = Annotated[str, StringConstraints(pattern=r"\S")]
_Criteria = _Sentence | _Several[_Sentence]
_Word = Annotated[str, StringConstraints(min_length=1)]
_Fraction = Annotated[str, StringConstraints(pattern=r"^\s*[0-9]+\s*/\s*[0-9]+\s*$")]
_Rooted = Annotated[str, StringConstraints(pattern="^/")]
_Name = Annotated[str, Field(json_schema_extra={"enum": list(KINDS)})]
_Names = Annotated[list[_Name], Field(min_length=1, json_schema_extra={"uniqueItems": True})]
_Positive = Annotated[float, Field(gt=0)]

_TRUTHS = {"true": True, "false": False}
_PATH = re.compile(r"/(?!/)[^\s\\#]*")


def _require_text(value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidValue("must be text, not {}", value, "put it in quotes")
    return value


def _require_words(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidValue("must be text, not {}", value)
    return value


def _require_object(value: Any, advice: str = "") -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidValue("must be an object, not {}", value, advice)
    return value


def _require_interactions(value: Any) -> Any:
    if not isinstance(value, list) or not value:
        raise InvalidValue("must be a list of at least one object")
    return value


def _parse_bool(value: Any) -> bool:
    found = _TRUTHS.get(value) if isinstance(value, str) else value
    if not isinstance(found, bool):
        raise InvalidValue("must be true or false, not {}", value)
    return found


def _parse_seconds(value: Any) -> float:
    """Return a time limit; also from text, because the environment gives text."""
    try:
        found = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not 0 < found < math.inf:
        raise InvalidValue("must be a number of seconds above 0, not {}", value)
    return found


def _parse_texts(value: Any) -> tuple[str, ...]:
    """Return one text or a list of texts, none of them empty."""
    several = value if isinstance(value, list) else [value]
    for one in several:
        if not isinstance(one, str) or not one.strip():
            raise InvalidValue("must be text or a list of texts; {} is neither", one)
    return tuple(several)


def _parse_connections(value: Any) -> tuple[str, ...]:
    several = _parse_texts(value)
    for one in several:
        try:
            get_kind(one)
        except InputError as error:
            raise InvalidValue("cannot be {}", one, error.advice or "") from None
    if not several or len(set(several)) < len(several):
        raise InvalidValue("must name at least one connection, and each only once")
    return several


def _parse_ratio(value: Any) -> Ratio:
    try:
        return Ratio.parse(value)
    except InputError as error:
        raise InvalidValue("cannot be {}", value, error.advice or "") from None


def _parse_path(value: Any) -> str:
    path = _require_words(value)
    if not _PATH.fullmatch(path) or has_dots(path):
        # Requests carry credentials, so a file does not choose where they go.
        raise InvalidValue(
            "must be a path below the address that --url or --host gives, not {}",
            value,
            'write it like "/v1/chat"',
        )
    return path


def _parse_steps(value: Any) -> KeyPath:
    return parse_path(_require_words(value))


Text = Annotated[str, BeforeValidator(_require_text)]
Words = Annotated[str, PlainValidator(_require_words, _Sentence)]
Texts = Annotated[tuple[str, ...], PlainValidator(_parse_texts, _Sentence | list[_Sentence])]
_Object = BeforeValidator(_require_object)
Object = Annotated[dict[str, Any], _Object]
Truth = Annotated[bool, PlainValidator(_parse_bool, bool)]
Seconds = Annotated[float, PlainValidator(_parse_seconds, _Positive)]
Connections = Annotated[tuple[str, ...], PlainValidator(_parse_connections, _Name | _Names)]
SuccessRatio = Annotated[Ratio, PlainValidator(_parse_ratio, _Fraction)]
RequestPath = Annotated[str, PlainValidator(_parse_path, _Rooted)]
Steps = Annotated[KeyPath, PlainValidator(_parse_steps, _Sentence)]


class _Written(BaseModel):
    # Unknown keys are ignored here: `read_model` reports them, and reads the others.
    model_config = ConfigDict(strict=True, json_schema_extra={"additionalProperties": False})

    @model_validator(mode="before")
    @classmethod
    def _require_keys(cls, value: Any) -> dict[str, Any]:
        return _require_object(value, f"its keys are {', '.join(list_keys(cls))}")


def _make_tests(name: str, values: Any) -> Any:
    """Return the model of an object of tests."""
    config = ConfigDict(extra="forbid", json_schema_extra={"minProperties": 1})
    fields: dict[str, Any] = {
        test: (_Criteria if test.endswith("gist") else values, Field(default_factory=str))
        for test in TESTS
    }
    return create_model(name, __config__=config, **fields)


# For the schema only: `criteria` reads tests, because only their values tell an object of tests
# from an object of keys to look into.
TextTests = _make_tests("TextTests", _Word | _Several[_Word])
ValueTests = _make_tests("ValueTests", str | float | bool | _Several[Any])
_Key = Annotated[str, StringConstraints(pattern=r"^[^.]*$")]
_CLOSED = Field(min_length=1, json_schema_extra={"additionalProperties": False})


class KeyTests(RootModel[Annotated[dict[_Key, "ValueTests | KeyTests"], _CLOSED]]):  # type: ignore[valid-type]
    """Tests of the values of keys, however deep."""


def _leave(value: Any) -> Any:
    return value


_TestsOfText = Annotated[Any, PlainValidator(_leave, TextTests)]
_TestsOfKeys = Annotated[Any, PlainValidator(_leave, KeyTests)]


class WrittenResponse(_Written):
    """What must be true of an answer."""

    text: _TestsOfText = Field(default_factory=dict)
    sly_data: _TestsOfKeys = Field(default_factory=dict)
    structure: _TestsOfKeys = Field(default_factory=dict)


class WrittenInteraction(_Written):
    """One message to the agent."""

    text: Text | None = Field(None, description="The message to the agent.")
    sly_data: Object | None = Field(None, description="Private data sent along with it.")
    timeout: Seconds | None = Field(
        None, alias="timeout_in_seconds", description="Until the answer is complete."
    )
    chat_filter: ChatFilter = "MINIMAL"
    continue_conversation: Truth = Field(
        True, description="Whether the next interaction continues this one."
    )
    response: WrittenResponse = Field(default_factory=WrittenResponse)


class WrittenRequest(_Written):
    """How the agent's HTTP API is called, for http-template and mcp."""

    method: Method = "POST"
    path: RequestPath = Field("", description="Below the address of --url or --host.")
    body: Any = Field(None, description="Any JSON; {{text}} and others are filled in.")


class WrittenAnswer(_Written):
    """Where an answer of that API has its parts: paths like choices.0.message.content."""

    text: Steps = Field(default_factory=tuple)
    structure: Steps = Field(default_factory=tuple)
    sly_data: Steps = Field(default_factory=tuple)
    context: Annotated[dict[str, Steps], _Object] | None = Field(
        None, description="What goes into the next request as {{context.NAME}}: the path of each."
    )
    error: Steps = Field(default_factory=tuple, description="Where an answer reports an error.")


class WrittenTest(_Written):
    """A test file."""

    agent: Words = Field(description="The name of the agent to test.")
    connections: Connections = Field(
        ("direct",),
        description="How to reach the agent; several run the test over each.",
    )
    success_ratio: SuccessRatio = Field(
        ONCE, description='How many of how many samples must pass: "8/10".'
    )
    use_direct: Truth = Field(
        False, description="Whether a direct session reaches other agents without a socket."
    )
    metadata: Object | None = Field(
        None, description="Sent with every request, as headers over HTTP; never stored."
    )
    timeout: Seconds | None = Field(
        None, alias="timeout_in_seconds", description="For all samples together."
    )
    failure_patterns: Texts = Field(
        (), description="Parts of an answer that show an outage: such a sample is an error."
    )
    judge_sees: JudgeSees = Field(
        "said",
        description="What a judge reads: the original text, or the text without private data.",
    )
    request: WrittenRequest | None = None
    answer: WrittenAnswer | None = None
    interactions: Annotated[
        list[WrittenInteraction], BeforeValidator(_require_interactions), Field(min_length=1)
    ]


def list_keys(model: type[BaseModel]) -> list[str]:
    """Return the keys of an object that is read as a model."""
    return [field.alias or name for name, field in model.model_fields.items()]


def schema_text() -> str:
    """Return the JSON Schema of a test file, as the models say it."""
    return print_schema(
        "agent-test", {**WrittenTest.model_json_schema(), "title": "Assay agent test file"}
    )


def write_conversation(folder: Path) -> list[Path]:
    """Write a first agent and its test file and return them; never write to a non-empty folder."""
    templates = resources.files("assay.agents") / "templates"
    return write_starter(templates, folder, {"NAME": str(folder)})
