"""The public formats of a suite file as models, and their JSON Schema."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from assay.documents import print_schema
from assay.questions.verdict.exceptions import ExceptionMatch

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
    return print_schema({**SuiteFile.model_json_schema(), "title": "Assay question suite"})
