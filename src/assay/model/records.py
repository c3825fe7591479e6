"""The record of one case in a run, with a report per execution."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping
from datetime import datetime
from typing import Any, NamedTuple, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from assay.model.cases import Case, CaseResult, GroupType, Outcome, now
from assay.model.packing import Judgement, outcome_of, pack_error, pack_report, score_of
from assay.model.values import Value, decode_value, encode_value
from assay.model.verification import (
    AT_DEFAULT,
    INHERITED,
    AttributeResult,
    PackedReport,
    PackedResult,
    VerificationResult,
)

WRONG_INPUT = "wrong-input"
"""The code of an error that is the user's own: a file that cannot be used."""


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
        return outcome_of(self._judgements())

    def _judgements(self) -> list[Judgement]:
        return [(result.is_correct, result.weight) for result in self.results.values()]

    def did_pass(self) -> bool:
        """True only for the outcome `passed`."""
        return self.outcome is Outcome.PASSED

    def calculate_score(self) -> float:
        """Return the weighted share of verified attributes that are right; 0.0 without any."""
        return score_of(self._judgements())

    def get_verified_attributes(self) -> Generator[AttributeResult, None, None]:
        """Yield the attributes about which there is a judgement."""
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
        """Return every field and file of both results, and every key the verifier returned."""
        return cls.unpack(pack_report(case, duration, actual_result, expected_result, raw_results))

    @classmethod
    def from_error(cls, case: Case, duration: float, error: str) -> Self:
        """Return the report of a case about which nothing can be said, and why."""
        return cls.unpack(pack_error(case, duration, error))

    def pack(self) -> dict[str, Any]:
        """Return the short form of the journal: values only, with outcome and score."""
        packed = dict(self.__dict__)
        packed["timestamp"] = self.timestamp.isoformat()
        packed["outcome"] = self.outcome.value
        packed["score"] = self.calculate_score()
        packed["results"] = {
            name: None if result is AT_DEFAULT.get(name) else self._pack_result(name, result)
            for name, result in self.results.items()
        }
        return packed

    def _pack_result(self, name: str, result: AttributeResult) -> PackedResult:
        packed = result.pack()
        if name in INHERITED and isinstance(packed, list):
            own = self.__dict__[INHERITED[name]]
            return None if packed[0] == packed[1] == own else packed
        return packed

    @classmethod
    def unpack(cls, packed: Mapping[str, Any]) -> Self:
        fields = {name: packed[name] for name in cls.model_fields}
        fields["results"] = {
            name: AttributeResult.unpack(name, result, packed)
            for name, result in fields["results"].items()
        }
        return cls(**fields)

    def to_parquet_row(self) -> dict[str, Any]:
        """Return one flat row; outcome, score and passed are derived, for those who query it."""
        return {
            **self.__dict__,
            "timestamp": self.timestamp.isoformat(),
            "results": [result.to_parquet_safe() for result in self.results.values()],
            "case": encode_value(self.case),
            "outcome": self.outcome.value,
            "score": self.calculate_score(),
            "passed": self.did_pass(),
        }

    @classmethod
    def from_parquet_row(cls, row: Mapping[str, Any]) -> Self:
        """Return the report of `to_parquet_row`; columns a report does not have are skipped."""
        results = [AttributeResult.from_parquet_row(result) for result in row["results"]]
        fields = {name: row[name] for name in cls.model_fields if name in row}
        fields["results"] = {result.attribute: result for result in results}
        fields["case"] = decode_value(row["case"])
        return cls(**fields)


class CaseRecord(BaseModel):
    """One counted case; its reports, one per sample, are the evidence beneath.

    `code` is the short name of what was found (a verdict, say); with the id and the fingerprint of
    the input it identifies a known finding in a baseline.
    """

    model_config = ConfigDict(extra="forbid")

    id: str
    subject: str
    outcome: Outcome
    reason: str = ""
    code: str = ""
    reports: list[VerifierReport] = Field(default_factory=list)
    detail: Value = None
    fingerprint: str = ""
    usage: dict[str, float] = Field(default_factory=dict)
    started: datetime = Field(default_factory=now)
    duration: float = Field(default=0.0, ge=0.0, allow_inf_nan=False)

    def calculate_score(self) -> float:
        """Return the mean score of the reports; 0.0 without any."""
        return _mean([report.calculate_score() for report in self.reports])

    def pack(self) -> dict[str, Any]:
        """Return the short form of the journal, made of values only."""
        packed = dict(self.__dict__)
        packed["outcome"] = self.outcome.value
        packed["reports"] = reports = [report.pack() for report in self.reports]
        packed["score"] = _mean([report["score"] for report in reports])
        packed["started"] = self.started.isoformat()
        return packed

    @classmethod
    def unpack(cls, packed: Mapping[str, Any]) -> Self:
        fields = {name: packed[name] for name in cls.model_fields}
        fields["reports"] = [VerifierReport.unpack(report) for report in fields["reports"]]
        return cls(**fields)


class FinishedCase(NamedTuple):
    """A record in the short form of the journal, for runs that make very many.

    It is what `CaseRecord.pack` gives, without the models; `unpack` gives the models.
    """

    outcome: Outcome
    packed: dict[str, Any]

    @classmethod
    def of(
        cls,
        identifier: str,
        subject: str,
        outcome: tuple[Outcome, str],
        code: str,
        reports: list[PackedReport],
        fingerprint: str,
        started: str,
        duration: float,
    ) -> Self:
        packed: dict[str, Any] = {
            "id": identifier,
            "subject": subject,
            "outcome": outcome[0]._value_,
            "reason": outcome[1],
            "code": code,
            "reports": reports,
            "detail": None,
            "fingerprint": fingerprint,
            "usage": {},
            "started": started,
            "duration": duration,
            "score": _mean([report["score"] for report in reports]),
        }
        return cls(outcome[0], packed)

    def pack(self) -> dict[str, Any]:
        return self.packed


def _mean(scores: list[float]) -> float:
    if len(scores) == 1:
        return scores[0]
    return math.fsum(scores) / len(scores) if scores else 0.0


# A subject's rule from the reports of a case to its outcome and the reason for it.
OutcomeRule: TypeAlias = Callable[[list[VerifierReport]], tuple[Outcome, str]]
