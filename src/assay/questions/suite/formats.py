"""The public formats of a suite file as models, and their JSON Schema."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)

from assay.documents import InvalidValue, print_schema
from assay.errors import nearest
from assay.questions.claims.kinds import OPTION_RELATIONS, AnyClaim
from assay.questions.suite.files import SCHEMA
from assay.questions.verdict.exceptions import ExceptionMatch
from assay.starters import write_starter

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


def _text_or_nothing(value: Any) -> Any:
    return "" if value is None else value


def _to_list(value: Any) -> Any:
    return [value] if isinstance(value, str | dict) else value


def _require_options(value: Any) -> Any:
    if not isinstance(value, dict):
        raise ValueError("must be a mapping from letters to texts")
    return value


# An option left empty is a defect to report beside others, not a reason to read nothing.
MaybeText = Annotated[str, BeforeValidator(_text_or_nothing, json_schema_input_type=str | None)]
Options = Annotated[
    dict[str, MaybeText],
    BeforeValidator(_require_options, json_schema_input_type=dict[str, MaybeText]),
]
Texts = Annotated[list[Text], BeforeValidator(_to_list, json_schema_input_type=str | list[Text])]


def _check_relations(claims: list[AnyClaim]) -> list[AnyClaim]:
    for one in claims:
        if one.relation not in OPTION_RELATIONS:
            advice = nearest(one.relation, OPTION_RELATIONS)
            raise InvalidValue(
                "cannot have the relation {} to an option", one.relation.value, advice
            )
    return claims


_SomeClaims = Annotated[list[AnyClaim], Field(min_length=1)]
Claims = Annotated[
    _SomeClaims,
    AfterValidator(_check_relations),
    BeforeValidator(_to_list, json_schema_input_type=AnyClaim | _SomeClaims),
]
OptionClaims = dict[str, Claims]


class _Format(BaseModel):
    # Files of others carry fields of their own; a misspelled one is found by its likeness.
    model_config = ConfigDict(extra="ignore")


class SnippetReference(_Format):
    """A file, and the section of it between `--8<-- [start:x]` and `--8<-- [end:x]`."""

    file: Text = Field(description="Relative to the suite file, or to a folder above it.")
    section: Text | None = Field(None, description="Without one, the whole file is meant.")


class _Case(_Format):
    id: Text = Field(description="Unique in the file; a question is addressed as FILE::ID.")


class MultipleChoice(_Case):
    """A question with options by letter, one of which is keyed as right."""

    benchmark_type: Literal["multiple_choice"] = "multiple_choice"
    question: Text
    options: Options = Field(description="The texts of the options by letter.")
    correct_answer: Text = Field(description="The letter of the option that is right.")
    explanation: MaybeText = ""
    code_snippet_ref: SnippetReference | None = None
    exception_match: ExceptionMatch | None = Field(
        None, description="Overrides the suite's `exception_match` for this question."
    )
    claims: OptionClaims = Field(
        default={}, description="By letter, what an option says: a claim or a list of them."
    )


class AcceptedAnswer(_Format):
    """One accepted answer and the classes in which it may be found."""

    answer_template: MaybeText = ""
    answer: Text
    fully_qualified_class_name: Texts = Field(min_length=1)


class ApiUnderstanding(_Case):
    """A question that is answered by a name of the library."""

    benchmark_type: Literal["api_understanding"] = "api_understanding"
    question: Text
    answers: Annotated[list[AcceptedAnswer], BeforeValidator(_to_list)] = Field(min_length=1)
    category: MaybeText = ""
    rationale: MaybeText = ""
    template: MaybeText = ""
    file: MaybeText = ""


class FixError(_Case):
    """A program to repair: its test, the broken file and the repaired one."""

    benchmark_type: Literal["fix_error"] = "fix_error"
    name: MaybeText = ""
    description: MaybeText = ""
    test_file: Text = Field(description="Relative to the suite file, or to a folder above it.")
    unfixed_file: Text
    fixed_file: Text
    requirements: Texts | None = None
    error_output: MaybeText = ""


class SuiteFile(_Format):
    """A suite: its questions, and what they are about."""

    benchmarks: list[MultipleChoice | ApiUnderstanding | FixError]
    target: Texts | None = Field(
        None,
        description="Requirements, `current` (or `current:pydantic`), or folders relative to "
        "this file (`./src`).",
    )
    target_repo_url: Text | None = None
    target_repo_version: Text | None = None
    extra_dependencies: Texts | None = None
    exception_match: ExceptionMatch = ExceptionMatch.CLOSEST


class ClaimsFile(BaseModel):
    """The claims of a person about the questions of the suite beside it."""

    model_config = ConfigDict(extra="forbid")

    claims: dict[str, OptionClaims] = Field(
        description="By the id of the question and the letter of the option, one or more claims."
    )


class SuiteKeys(SuiteFile):
    """A suite file but for its questions, which are read one by one."""

    benchmarks: list[Any]


FORMATS: dict[str, type[MultipleChoice | ApiUnderstanding | FixError]] = {
    "multiple_choice": MultipleChoice,
    "api_understanding": ApiUnderstanding,
    "fix_error": FixError,
}
# Fields that only one of the formats has: by them it is known where `benchmark_type` is not given.
_TELLING = {
    "multiple_choice": ("options", "correct_answer"),
    "api_understanding": ("answers",),
    "fix_error": ("test_file", "unfixed_file", "fixed_file"),
}


def infer_type(fields: dict[str, Any]) -> str | None:
    """Return the type of a question by its fields; None where they tell none."""
    found = [kind for kind, telling in _TELLING.items() if any(name in fields for name in telling)]
    return found[0] if len(found) == 1 else None


def keys_of(model: type[BaseModel]) -> frozenset[str]:
    return frozenset(model.model_fields)


def schema_text() -> str:
    """Return the JSON Schema of a suite file, as the models say it."""
    return _print("suite", SuiteFile, "Assay question suite")


def claims_schema_text() -> str:
    """Return the JSON Schema of a file of claims."""
    return _print("claims", ClaimsFile, "Assay claims about a question suite")


def write_suite(folder: Path) -> list[Path]:
    """Write the files of a new suite and return them; never write to a non-empty folder."""
    generated = {
        f"suite{SCHEMA}": schema_text(),
        f"claims{SCHEMA}": claims_schema_text(),
    }
    templates = resources.files("assay.questions") / "templates"
    return write_starter(templates, folder, {"NAME": str(folder)}, generated)


def _print(name: str, model: type[BaseModel], title: str) -> str:
    schema = model.model_json_schema()
    parts = schema["$defs"]
    parts["Relation"]["enum"] = list(OPTION_RELATIONS)
    for part in parts.values():
        if "const" in part.get("properties", {}).get("kind", {}):
            part["required"] = ["kind", *part.get("required", ())]
    return print_schema(name, {**schema, "title": title})
