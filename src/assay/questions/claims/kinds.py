"""Kinds of claims: what can be said about a library, as typed data.

A reader makes claims: `questions.lexical` of the words of a question, `questions.person` of what a
person wrote beside a suite. `claims.writers` turns each into a proof. To add a kind, add a class
here and to `AnyClaim`, and a writer there and to `WRITERS`.
"""

from __future__ import annotations

import ast
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from assay.questions.proofs.claims import Grounds, Relation


def _check_path(text: str) -> str:
    if not all(part.isidentifier() for part in text.split(".")):
        raise ValueError("write a dotted name, such as package.module.Class")
    return text


def _check_code(text: str) -> str:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"is not valid Python: {error}") from None
    return text


def _check_literal(value: Any) -> Any:
    try:
        ast.literal_eval(repr(value))
    except (SyntaxError, ValueError):
        raise ValueError("write a number, a text, true, false, null, a list or a mapping") from None
    return value


Path = Annotated[str, AfterValidator(_check_path)]
Code = Annotated[str, AfterValidator(_check_code)]
Plain = Annotated[Any, AfterValidator(_check_literal)]


# What a claim about one option can mean for it.
OPTION_RELATIONS = (Relation.EQUIVALENT, Relation.NECESSARY, Relation.SUFFICIENT)


class TypedClaim(BaseModel):
    """What an option says about the target: a kind, a subject, a value and a relation.

    A relation that is not given is the weakest: what is false refutes the option, what is true
    leaves it open.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    relation: Relation = Relation.NECESSARY

    # A claim about imports needs a new interpreter; one about a full path leaves no doubt about
    # how the option is to be read.
    fresh: ClassVar[bool] = False
    absent_path: ClassVar[bool] = False
    grounds: ClassVar[Grounds] = Grounds.EXECUTED

    @property
    def statement(self) -> str:
        raise NotImplementedError


class ImportRuns(TypedClaim):
    """An import statement runs."""

    kind: Literal["importable"] = "importable"
    code: Code
    fresh: ClassVar[bool] = True
    absent_path: ClassVar[bool] = True

    @property
    def statement(self) -> str:
        return f"`{self.code}` runs"


class PathExists(TypedClaim):
    """A full dotted path leads to something."""

    kind: Literal["exists"] = "exists"
    subject: Path
    fresh: ClassVar[bool] = True
    absent_path: ClassVar[bool] = True

    @property
    def statement(self) -> str:
        return f"`{self.subject}` can be reached by its full name"


class WordOccurs(TypedClaim):
    """A name occurs somewhere in the files of the target."""

    kind: Literal["known"] = "known"
    value: Path

    @property
    def statement(self) -> str:
        return f"the target knows something called `{self.value}`"


class HasMember(TypedClaim):
    """A class, or anything it makes, has or takes something of that name.

    `as_field` asks for a declared field of a model, and leaves anything else of that name open.
    """

    kind: Literal["member"] = "member"
    subject: Path
    value: Path
    as_field: bool = False

    @property
    def statement(self) -> str:
        what = "a field" if self.as_field else "or takes something"
        return f"`{self.subject}` has {what} called `{self.value}`"


class TakesParameter(TypedClaim):
    """A function, a method or a class takes a parameter of that name."""

    kind: Literal["parameter"] = "parameter"
    subject: Path
    value: Path

    @property
    def statement(self) -> str:
        return f"`{self.value}` is a parameter of `{self.subject}`"


class DefaultIs(TypedClaim):
    """A parameter has this default."""

    kind: Literal["default"] = "default"
    subject: Path
    parameter: Path
    value: Plain

    @property
    def statement(self) -> str:
        return f"the default of `{self.parameter}` of `{self.subject}` is `{self.value!r}`"


class AnnotationIs(TypedClaim):
    """A parameter, a field or (without one) what a function returns has this type.

    `exact` refutes every other type; otherwise only one that has nothing in common with it.
    """

    kind: Literal["annotation"] = "annotation"
    subject: Path
    parameter: Path | None = None
    value: Code
    exact: bool = False

    @property
    def statement(self) -> str:
        what = f"`{self.parameter}` of `{self.subject}`" if self.parameter else ""
        return f"the type of {what or f'what `{self.subject}` returns'} is `{self.value}`"


class InheritsFrom(TypedClaim):
    """A class inherits from another: from any base, or from one that it names itself.

    `nearest` leaves a base open that is not named itself, `direct` refutes it.
    """

    kind: Literal["base"] = "base"
    subject: Path
    value: Path
    which: Literal["any", "nearest", "direct"] = "any"

    @property
    def statement(self) -> str:
        return f"`{self.subject}` inherits from `{self.value}`"


class IsOfNature(TypedClaim):
    """A member of a class is a property, a class method, … or asynchronous."""

    kind: Literal["nature"] = "nature"
    subject: Path
    member: Path
    value: Literal["class method", "static method", "property", "asynchronous", "instance method"]

    @property
    def statement(self) -> str:
        return f"`{self.subject}.{self.member}` is of the kind {self.value!r}"


class ConstantIs(TypedClaim):
    """A constant, a class attribute or a member of an enumeration has this value."""

    kind: Literal["constant"] = "constant"
    subject: Path
    value: Plain

    @property
    def statement(self) -> str:
        return f"the value of `{self.subject}` is `{self.value!r}`"


class InEnumeration(TypedClaim):
    """An enumeration has a member of that name, of that value, or either."""

    kind: Literal["enumeration"] = "enumeration"
    subject: Path
    value: Plain
    by: Literal["name", "value", "either"] = "name"

    @property
    def statement(self) -> str:
        return f"`{self.subject}` has a member or value `{self.value}`"


class AcceptsCall(TypedClaim):
    """A signature accepts a call: `keywords` by name, and so many `positional` arguments."""

    kind: Literal["accepts"] = "accepts"
    subject: Path
    positional: int = 0
    keywords: tuple[Path, ...] = ()
    is_method: bool = False

    @property
    def statement(self) -> str:
        given = ", ".join([*["…"] * self.positional, *(f"{one}=…" for one in self.keywords)])
        return f"`{self.subject}` accepts the call `({given})`"


class HasOption(TypedClaim):
    """A command has an option."""

    kind: Literal["command-option"] = "command-option"
    subject: str
    value: str

    @property
    def statement(self) -> str:
        return f"`{self.subject}` has the option `{self.value}`"


class SameThing(TypedClaim):
    """Two paths lead to the same thing, so that two options say the same."""

    kind: Literal["same"] = "same"
    subject: Path
    value: Path

    @property
    def statement(self) -> str:
        return f"`{self.subject}` and `{self.value}` are the same"


class Experiment(TypedClaim):
    """Code that is run once and observed: `setup` leads up to `code`, which is asked about."""

    setup: Code = ""
    code: Code
    fresh_interpreter: bool = Field(default=False, exclude=True)


class Raises(Experiment):
    """The code raises an exception of this class; without one, any exception."""

    kind: Literal["raises"] = "raises"
    value: Path | None = None
    imports: Code = ""

    @property
    def statement(self) -> str:
        return f"the code raises {'an exception' if self.value is None else f'`{self.value}`'}"


class Runs(Experiment):
    """The code runs to its end."""

    kind: Literal["runs"] = "runs"

    @property
    def statement(self) -> str:
        return "the code runs to its end"


class Prints(Experiment):
    """The code prints a text.

    `exact` refutes every other text, otherwise quotes and spaces do not count. `among` are texts of
    which one must be printed before any other is refuted.
    """

    kind: Literal["prints"] = "prints"
    value: str
    exact: bool = False
    among: tuple[str, ...] = ()

    @property
    def statement(self) -> str:
        return f"the code prints `{self.value}`"


class Returns(Experiment):
    """The expression that is the code has a value.

    `among` are texts of which one must be the value before any other text is refuted.
    """

    kind: Literal["returns"] = "returns"
    value: Plain
    among: tuple[str, ...] = ()

    @property
    def statement(self) -> str:
        return f"the value of the code is `{self.value!r}`"


class Warns(Experiment):
    """The code warns with this class of warnings."""

    kind: Literal["warns"] = "warns"
    value: Path
    imports: Code = ""

    @property
    def statement(self) -> str:
        return f"the code warns with `{self.value}`"


class FreeProgram(TypedClaim):
    """A pytest file with its two sides, for what no other kind says."""

    kind: Literal["program"] = "program"
    says: str
    source: Code

    @property
    def statement(self) -> str:
        return self.says


AnyClaim: TypeAlias = Annotated[
    ImportRuns
    | PathExists
    | WordOccurs
    | HasMember
    | TakesParameter
    | DefaultIs
    | AnnotationIs
    | InheritsFrom
    | IsOfNature
    | ConstantIs
    | InEnumeration
    | AcceptsCall
    | HasOption
    | SameThing
    | Raises
    | Runs
    | Prints
    | Returns
    | Warns
    | FreeProgram,
    Field(discriminator="kind"),
]
