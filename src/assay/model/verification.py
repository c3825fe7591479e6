"""The results of a verifier, one per attribute of a case."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol, Self, TypeAlias, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field

from assay.errors import InputError
from assay.model.cases import CaseResult
from assay.model.values import Value, construct, decode_value, encode_value


class VerificationResult(BaseModel):
    """What a check found out about one attribute; `is_correct` None means it could not decide."""

    # Frozen, so that what was validated stays valid.
    model_config = ConfigDict(extra="forbid", frozen=True)

    diff: Value
    is_correct: bool | None
    weight: float = Field(default=1.0, gt=0.0, allow_inf_nan=False)

    @classmethod
    def create(cls, diff: Any, is_correct: bool | None, weight: float = 1.0) -> Self:
        """Make a result from a DeepDiff or any JSON value."""
        return cls(diff=_plain_diff(diff), is_correct=is_correct, weight=weight)


def _plain_diff(diff: Any) -> Any:
    # Asked by name, because importing deepdiff to ask by type would cost half a second.
    if type(diff).__name__ == "DeepDiff" and hasattr(diff, "to_json"):
        return json.loads(diff.to_json())
    return diff


class AttributeResult(BaseModel):
    """One attribute of a case: both values, their difference and the judgement.

    `is_correct` None with weight 0 was not looked at; with a weight, a check could not decide.
    """

    # Frozen, because reports share the many that say nothing.
    model_config = ConfigDict(frozen=True)

    attribute: str
    actual: Value
    expected: Value
    diff: Value = None
    is_correct: bool | None = None
    weight: float = Field(default=1.0, ge=0.0, allow_inf_nan=False)

    @classmethod
    def of(
        cls, attribute: str, actual: Any, expected: Any, found: VerificationResult | None
    ) -> Self:
        """Return an attribute of two results and what the verifier said of it, if anything."""
        diff, is_correct, weight = (
            (None, None, 0.0) if found is None else (found.diff, found.is_correct, found.weight)
        )
        return construct(
            cls,
            {
                "attribute": attribute,
                "actual": actual,
                "expected": expected,
                "diff": diff,
                "is_correct": is_correct,
                "weight": weight,
            },
        )

    @property
    def is_undecided(self) -> bool:
        return self.is_correct is None and self.weight > 0

    def pack(self) -> PackedResult:
        """Return the short form of the journal."""
        if self.is_correct is None and self.weight == 0 and self.diff is None:
            return [self.actual, self.expected]
        packed = dict(self.__dict__)
        del packed["attribute"]
        return packed

    @classmethod
    def unpack(
        cls, attribute: str, packed: PackedResult, report: Mapping[str, Any]
    ) -> AttributeResult:
        if packed is None:
            if attribute in AT_DEFAULT:
                return AT_DEFAULT[attribute]
            packed = [report[INHERITED[attribute]]] * 2
        if isinstance(packed, list):
            return cls.of(attribute, packed[0], packed[1], None)
        return cls(attribute=attribute, **packed)

    def to_parquet_safe(self) -> dict[str, Any]:
        """Columns of one type each: the three values as JSON text."""
        row = dict(self.__dict__)
        for name in _VALUE_FIELDS:
            row[name] = encode_value(row[name])
        return row

    @classmethod
    def from_parquet_row(cls, row: Mapping[str, Any]) -> Self:
        fields = {name: row[name] for name in _ALL_FIELDS}
        for name in _VALUE_FIELDS:
            fields[name] = decode_value(fields[name])
        return cls(**fields)


_ALL_FIELDS = tuple(AttributeResult.model_fields)
_VALUE_FIELDS = ("actual", "expected", "diff")

# Nothing: as any result of the case has it, not looked at. Two values: not looked at. Else all.
PackedResult: TypeAlias = dict[str, Any] | list[Any] | None
PackedReport: TypeAlias = dict[str, Any]

# What a result has from its case, and under which name the report has it.
INHERITED = {"id": "id", "group": "group", "group_type": "type"}

# What most attributes of most reports are; reports share them, and the journal writes them as null.
AT_DEFAULT = {
    name: AttributeResult.of(name, field.default, field.default, None)
    for name, field in CaseResult.model_fields.items()
    if name not in INHERITED and name != "files"
}


def unpack_values(
    attribute: str, packed: PackedResult, report: Mapping[str, Any]
) -> tuple[Any, Any]:
    """Return the actual and the expected value of a packed result."""
    if packed is None:
        usual = AT_DEFAULT.get(attribute)
        value = usual.actual if usual is not None else report[INHERITED[attribute]]
        return value, value
    if isinstance(packed, list):
        return packed[0], packed[1]
    return packed["actual"], packed["expected"]


VerifierReturnType: TypeAlias = dict[str, VerificationResult]


@runtime_checkable
class VerifierProtocol(Protocol):
    """What compares the actual result of a case with the expected one."""

    def __init__(self, checkpoint_config: Any) -> None: ...

    def __call__(
        self, group_name: str, case_name: str, actual: CaseResult, expected: CaseResult
    ) -> VerifierReturnType:
        """Compare and return one result per attribute."""
        ...


def check_results(raw: Any) -> VerifierReturnType:
    """Return what a verifier returned; raise an error that says how it breaks the protocol."""
    if type(raw) is not dict and not isinstance(raw, Mapping):
        raise InputError(
            f"the verifier returned {type(raw).__name__}, not a mapping of names to results",
            advice="return {'output': VerificationResult.create(diff, is_correct)}",
        )
    for name, result in raw.items():
        if not isinstance(name, str):
            raise InputError(
                f"the verifier returned the key {name!r}, which is {type(name).__name__}, not text",
                advice=f"write {str(name)!r}, or the name of the attribute that it judges",
            )
        if not isinstance(result, VerificationResult):
            raise InputError(
                f"the verifier returned {type(result).__name__} for {name!r}, "
                "not a VerificationResult",
                advice="make each result with VerificationResult.create(diff, is_correct, weight)",
            )
    return dict(raw)
