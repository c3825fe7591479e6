"""Cases, and their actual or expected results."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from assay.model.values import Value, check_value, construct


def now() -> datetime:
    """Return the moment a result is made, with its time zone."""
    return datetime.now(UTC)


_second: tuple[int, str] = 0, ""


def now_text() -> str:
    """`now().isoformat()`, of which all but the fraction is written once a second."""
    global _second
    seconds, fraction = divmod(time.time_ns() // 1000, 1_000_000)
    known, text = _second
    if seconds != known:
        text = datetime.fromtimestamp(seconds, UTC).isoformat()[:19]
        _second = seconds, text
    return f"{text}.{fraction:06}+00:00" if fraction else f"{text}+00:00"


class GroupType(StrEnum):
    """What kind of behaviour a group of cases is about."""

    CORE = "Core"
    FUNCTIONALITY = "Functionality"
    ERROR = "Error"
    REGRESSION = "Regression"


# As text, because pydantic's `use_enum_values` does not reach defaults.
_FUNCTIONALITY: Any = GroupType.FUNCTIONALITY.value


class Outcome(StrEnum):
    """How a report or a case ended; only `passed` is a pass."""

    PASSED = "passed"
    FAILED = "failed"
    UNVERIFIED = "unverified"
    ERROR = "error"


MISTAKE = "mistake"
"""The code of an error that whoever wrote the cases has to correct; any other is the machine's."""


class Case(BaseModel):
    """One thing to try: an id, the group it belongs to, and whatever else its task needs.

    Frozen: a task that changed its case would change what the record says was tried.
    """

    model_config = ConfigDict(extra="allow", use_enum_values=True, frozen=True)
    __pydantic_extra__: dict[str, Value]

    # Ids name cases in files and databases. With a least length, pydantic also sees to it that
    # they are text that has a UTF-8 form.
    id: str = Field(min_length=1)
    group: str = "cases"
    group_type: GroupType = _FUNCTIONALITY
    original_checkpoint: str | None = None
    original_group: str | None = None

    def result(self, **fields: Any) -> CaseResult:
        """Return a result of this case, with id and group already filled in."""
        if type(self) is Case and fields.keys() <= _FREE_FIELDS:
            try:
                return _result_of_values(self, fields)
            except ValueError:
                # Pydantic says the same with the name of the field.
                pass
        return CaseResult(id=self.id, group=self.group, group_type=self.group_type, **fields)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # Only what is no field comes here. Pydantic finds the same, after asking much else.
            extra = self.__pydantic_extra__
            if extra and name in extra:
                return extra[name]
            return super().__getattr__(name)

    def describe(self) -> dict[str, Any]:
        """Everything that makes the case what it is, as values."""
        return {**self.__dict__, **(self.__pydantic_extra__ or {})}


class CaseResult(BaseModel):
    """What happened when a case ran, or what was expected to; further fields are kept as given."""

    model_config = ConfigDict(extra="allow", use_enum_values=True)
    __pydantic_extra__: dict[str, Value]

    id: str
    group: str
    group_type: GroupType = _FUNCTIONALITY
    type: str = "base"
    elapsed: float = Field(
        default=0.0,
        allow_inf_nan=False,
        validation_alias=AliasChoices("elapsed", "execution_time"),
    )
    status_code: int = Field(default=0, ge=-(2**63), lt=2**63)
    resource_path: str | None = None
    adapter_error: bool = False
    output: Value = None
    stderr: Value = None
    timed_out: bool = False
    files: dict[str, Value] | list[Value] = Field(default_factory=dict)

    @property
    def execution_time(self) -> float:
        """Another name of `elapsed`, used by existing verifiers."""
        return self.elapsed

    def given(self) -> dict[str, Any]:
        """Return the fields that were set beside those of the case: what its fingerprint needs."""
        fields, extra = self.__dict__, self.__pydantic_extra__ or {}
        names = self.__pydantic_fields_set__ - _FIELDS_OF_CASE
        return {name: fields[name] if name in fields else extra[name] for name in names}

    def attributes(self) -> dict[str, Any]:
        """Field name to value, extra fields included, each file as `files-<name>`."""
        attributes = {**self.__dict__, **(self.__pydantic_extra__ or {})}
        if files := attributes.pop("files"):
            attributes |= {f"files-{name}": content for name, content in _name_files(files)}
        return attributes


_FIELDS_OF_CASE = frozenset({"id", "group", "group_type"})
# The fields that take any value: a result of nothing but these needs no more than `check_value`.
_FREE_FIELDS = frozenset({"output", "stderr"})
_DEFAULTS = {name: field.default for name, field in CaseResult.model_fields.items()}


def _result_of_values(case: Case, given: dict[str, Any]) -> CaseResult:
    """Make what nearly every task returns without validating the case's values again.

    A run makes two of these for every case, and pydantic takes three times as long.
    """
    about, fields = case.__dict__, _DEFAULTS.copy()
    fields["id"], fields["group"] = about["id"], about["group"]
    fields["group_type"], fields["files"] = about["group_type"], {}
    for name, value in given.items():
        fields[name] = check_value(value)
    return construct(CaseResult, fields, {*_FIELDS_OF_CASE, *given}, {})


def _name_files(files: Mapping[str, Any] | Iterable[Any]) -> list[tuple[str, Any]]:
    """Files by name; an expected result may list specifications with a `path` instead."""
    if isinstance(files, Mapping):
        return sorted(files.items(), key=_name)
    named: dict[str, Any] = {}
    for position, spec in enumerate(files):
        path = spec.get("path") if isinstance(spec, Mapping) else None
        # Nothing is dropped: without a path, or with one that was there before, it has a number.
        name = path if isinstance(path, str) and path not in named else f"{path or ''}[{position}]"
        named[name] = spec
    return sorted(named.items(), key=_name)


def _name(named: tuple[str, Any]) -> str:
    return named[0]
