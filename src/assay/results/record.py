"""The record of one case of a run: the unit that exit codes, totals and comparisons count."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from assay.results.cases import Outcome, now
from assay.results.report import VerifierReport
from assay.results.verification import PackedReport
from assay.values import Value

WRONG_INPUT = "wrong-input"
"""The code of an error that is the user's own: a file that cannot be used."""


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
        """The mean score of the reports; 0.0 without any."""
        return _mean([report.calculate_score() for report in self.reports])

    def pack(self) -> dict[str, Any]:
        """The short form of the journal, made of values only."""
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
