"""A public name as described by the index."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, Field


class Failure(BaseModel):
    """Why a module could not be imported; `missing` is the module it needed and did not find.

    `error` is the name of an exception, or Hung, Crashed, Exited, or Late: the time was over.
    """

    model_config = ConfigDict(frozen=True)

    error: str
    message: str = ""
    missing: str = ""

    def __str__(self) -> str:
        needed = f" (needs {self.missing})" if self.missing else ""
        return f"{self.error}: {self.message}{needed}"


class Parameter(BaseModel):
    """One parameter of a signature; `default` is a repr, None where there is none."""

    model_config = ConfigDict(frozen=True)

    name: str
    kind: str
    default: str | None = None
    annotation: str = ""
    doc: str = ""

    @property
    def is_required(self) -> bool:
        """Whether a call without it fails."""
        return self.default is None and not self.kind.startswith("var_")

    def __str__(self) -> str:
        stars = {"var_positional": "*", "var_keyword": "**"}.get(self.kind, "")
        annotation = f": {self.annotation}" if self.annotation else ""
        default = "" if self.default is None else f" = {self.default}"
        return f"{stars}{self.name}{annotation}{default}"


class Symbol(BaseModel):
    """A public name: where it is defined, from where it can be imported, and what it is.

    A member's `owner` is the path of its class, an option's that of its command ("tool serve"), a
    parameter's that of its function. What is `foreign` belongs to another distribution and is
    known only because a class of the target inherits from it. What is not `available` stands in
    the source of a module that could not be imported here.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    path: str
    kind: str
    module: str = ""
    owner: str = ""
    paths: tuple[str, ...] = ()
    """Every path it can be imported from, the one a reader should use first."""
    doc: str = ""
    """The first paragraph of its documentation."""
    details: str = ""
    """The rest of it."""
    parameters: tuple[Parameter, ...] | None = None
    """None where there is no signature to be had; a class has that of its constructor."""
    returns: str = ""
    annotation: str = ""
    default: str | None = None
    required: bool | None = None
    aliases: tuple[str, ...] = ()
    """Other names that are accepted in its place: of a field by the constructor, of an option."""
    serialized_as: str = ""
    by_name: bool = True
    """Of a field that has an alias: whether it may be given by its own name too."""
    extra: str = ""
    """Of a pydantic model: forbid, ignore or allow."""
    bases: tuple[str, ...] = ()
    """The classes it inherits from, in the order in which they are asked."""
    decorators: tuple[str, ...] = ()
    deprecated: str = ""
    """What the mark says; empty if it has none."""
    calls: str = ""
    """Of a function: the only name that its code uses, or its own if it stands under another."""
    is_async: bool = False
    is_abstract: bool = False
    is_enum: bool = False
    is_dynamic: bool = False
    """Has `__getattr__`: that a name is not listed here does not mean that it is absent."""
    is_namespace: bool = False
    on_instance: bool = False
    """Set or annotated only: the class itself does not have the attribute."""
    available: bool = True
    foreign: bool = False
    type: str = ""
    failure: Failure | None = None
    exports: tuple[str, ...] = ()
    """Of a module: its `__all__`."""
    foreign_names: dict[str, str] = Field(default_factory=dict)
    """Of a module: what it has imported from elsewhere, with where that is defined."""
    missing_names: dict[str, str] = Field(default_factory=dict)
    """Of a module: names that it offers and that cannot be had here, with the reason."""

    @property
    def name(self) -> str:
        """The last component."""
        return self.path.rpartition(" " if self.kind in ("command", "option") else ".")[2]

    @property
    def import_path(self) -> str:
        """The path a reader should import it from."""
        return self.paths[0] if self.paths else self.path

    @property
    def is_private(self) -> bool:
        """Whether every path to it contains a name with a leading underscore."""
        return is_private(self.import_path)

    @property
    def signature(self) -> str:
        """The parameters as they would be written."""
        if self.parameters is None:
            return "(…)"
        returned = f" -> {self.returns}" if self.returns else ""
        return f"({', '.join(_format_parameters(self.parameters))}){returned}"

    def parameter(self, name: str) -> Parameter | None:
        return next((one for one in self.parameters or () if one.name == name), None)


def _format_parameters(parameters: tuple[Parameter, ...]) -> Iterator[str]:
    """Yield the parameters with the marks between those of different kinds."""
    kinds = [one.kind for one in parameters]
    for position, one in enumerate(parameters):
        before = kinds[position - 1] if position else ""
        if before == "positional_only" != one.kind:
            yield "/"
        if one.kind == "keyword_only" and before not in ("keyword_only", "var_positional"):
            yield "*"
        yield str(one)
    if kinds and kinds[-1] == "positional_only":
        yield "/"


def is_private(path: str) -> bool:
    return any(part.startswith("_") and not part.endswith("__") for part in path.split("."))


def is_test(path: str) -> bool:
    """Return whether a path leads through a module of tests."""
    return any(
        part in ("tests", "test", "conftest") or part.startswith("test_")
        for part in path.split(".")
    )


def plainness(path: str) -> tuple[bool, bool, int, int, str]:
    """Return a sort key for paths, from the one to show to readers to the one to avoid."""
    return is_test(path), is_private(path), path.count("."), len(path), path
