"""The report of one execution of a case: every attribute with its evidence, score and outcome."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field

from assay import values
from assay.results.cases import Case, CaseResult, GroupType, Outcome, now
from assay.results.verification import AT_DEFAULT, AttributeResult, VerificationResult
from assay.values import Value


class VerifierReport(BaseModel):
    """All that was verified about one execution of a case; `error` says why nothing could be."""

    model_config = ConfigDict(extra="forbid", use_enum_values=True)

    id: str
    group: str
    type: GroupType
    timestamp: datetime = Field(default_factory=now)
    duration: float = Field(allow_inf_nan=False)
    results: dict[str, AttributeResult]
    case: dict[str, Value] = Field(default_factory=dict)
    original_checkpoint: str | None = None
    original_group: str | None = None
    error: str | None = None

    @property
    def outcome(self) -> Outcome:
        """Passed only if something was verified, all of it is right and nothing stayed open."""
        if self.error is not None:
            return Outcome.ERROR
        verified = undecided = False
        for result in self.results.values():
            if result.is_correct is None:
                undecided = undecided or result.weight > 0
            elif result.is_correct:
                verified = True
            else:
                return Outcome.FAILED
        return Outcome.PASSED if verified and not undecided else Outcome.UNVERIFIED

    def did_pass(self) -> bool:
        """True only for the outcome `passed`."""
        return self.outcome is Outcome.PASSED

    def calculate_score(self) -> float:
        """The weighted share of verified attributes that are right; 0.0 if none was verified."""
        verified = [r for r in self.results.values() if r.is_correct is not None]
        heaviest = max([result.weight for result in verified], default=0.0)
        if heaviest == 0.0:
            return 0.0
        if len(verified) == 1:
            return 1.0 if verified[0].is_correct else 0.0
        # Scaled by the heaviest, so that the sum of finite weights stays finite.
        total = math.fsum([result.weight / heaviest for result in verified])
        right = math.fsum([r.weight / heaviest for r in verified if r.is_correct])
        return right / total

    def get_verified_attributes(self) -> Generator[AttributeResult, None, None]:
        """The attributes about which there is a judgement."""
        for result in self.results.values():
            if result.is_correct is not None:
                yield result

    def format_result(self) -> dict[str, str]:
        """Attribute name to 'P' or 'F', for what was verified."""
        return {
            result.attribute: "P" if result.is_correct else "F"
            for result in self.get_verified_attributes()
        }

    @classmethod
    def from_verifier_result(
        cls,
        case: Case,
        duration: float,
        actual_result: CaseResult,
        expected_result: CaseResult,
        raw_results: Mapping[str, VerificationResult],
    ) -> Self:
        """Every field and file of both results, and every key the verifier returned.

        A check is never dropped: a key that names no field is kept beside the fields.
        """
        actual, expected = actual_result.attributes(), expected_result.attributes()
        given = actual_result.model_fields_set | expected_result.model_fields_set
        results = {}
        for name in actual | expected | dict(raw_results):
            if name not in given and name not in raw_results and name in AT_DEFAULT:
                results[name] = AT_DEFAULT[name]
                continue
            both = actual.get(name), expected.get(name)
            # Once more, because a verifier may have changed what was valid before.
            values.check_value(both[0])
            values.check_value(both[1])
            results[name] = AttributeResult.of(name, *both, raw_results.get(name))
        return cls._of(case, duration, results, None)

    @classmethod
    def from_error(cls, case: Case, duration: float, error: str) -> Self:
        """The report of a case about which nothing can be said, and why."""
        return cls._of(case, duration, {}, error)

    @classmethod
    def _of(
        cls,
        case: Case,
        duration: float,
        results: dict[str, AttributeResult],
        error: str | None,
    ) -> Self:
        return values.construct(
            cls,
            {
                "id": case.id,
                "group": case.group,
                "type": case.group_type,
                "timestamp": now(),
                "duration": duration,
                "results": results,
                "case": case.describe(),
                "original_checkpoint": case.original_checkpoint,
                "original_group": case.original_group,
                "error": error,
            },
        )

    def is_plain(self) -> bool:
        """Whether no value of the case or its results is bytes, a float or nested."""
        several = list(self.case.values())
        for name, result in self.results.items():
            if result is not AT_DEFAULT.get(name):
                several += (result.actual, result.expected, result.diff)
        return values.are_plain(several)

    def pack(self) -> dict[str, Any]:
        """The short form of the journal, made of values only; outcome and score for its readers."""
        packed = dict(self.__dict__)
        packed["timestamp"] = self.timestamp.isoformat()
        packed["outcome"] = self.outcome._value_
        packed["score"] = self.calculate_score()
        packed["results"] = {
            name: None if result is AT_DEFAULT.get(name) else result.pack()
            for name, result in self.results.items()
        }
        return packed

    @classmethod
    def unpack(cls, packed: Mapping[str, Any]) -> Self:
        fields = {name: packed[name] for name in cls.model_fields}
        fields["results"] = {
            name: AttributeResult.unpack(name, result) for name, result in fields["results"].items()
        }
        return cls(**fields)

    def to_parquet_row(self) -> dict[str, Any]:
        """One flat row; outcome, score and passed are derived, for those who query it."""
        return {
            **self.__dict__,
            "timestamp": self.timestamp.isoformat(),
            "results": [result.to_parquet_safe() for result in self.results.values()],
            "case": values.encode(self.case),
            "outcome": self.outcome.value,
            "score": self.calculate_score(),
            "passed": self.did_pass(),
        }

    @classmethod
    def from_parquet_row(cls, row: Mapping[str, Any]) -> Self:
        """The inverse of `to_parquet_row`; columns a report does not have are passed over."""
        results = [AttributeResult.from_parquet_row(result) for result in row["results"]]
        fields = {name: row[name] for name in cls.model_fields if name in row}
        fields["results"] = {result.attribute: result for result in results}
        fields["case"] = values.decode(row["case"])
        return cls(**fields)
