"""The compact form of a report in the journal, built directly from the results.

Large runs write it without building the models first, which would double the cost; readers get the
models. `VerifierReport` is built from it too, so that both agree.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from assay.model.cases import Case, CaseResult, Outcome, now_text
from assay.model.statistics import Share
from assay.model.values import are_plain, check_value
from assay.model.verification import (
    AT_DEFAULT,
    INHERITED,
    PackedReport,
    PackedResult,
    VerificationResult,
)

Judgement: TypeAlias = tuple[bool | None, float]


def outcome_of(judgements: Iterable[Judgement]) -> Outcome:
    """Passed only if something was verified, all of it is right and nothing stayed open."""
    verified = undecided = False
    for is_correct, weight in judgements:
        if is_correct is None:
            undecided = undecided or weight > 0
        elif is_correct:
            verified = True
        else:
            return Outcome.FAILED
    return _PASSED if verified and not undecided else Outcome.UNVERIFIED


# Bound once: in Python 3.11 every mention of a member of an enumeration is a call.
_PASSED = Outcome.PASSED


def score_of(judgements: Sequence[Judgement]) -> float:
    """Return the weighted share of what was verified that is right; 0.0 if nothing was."""
    right = [weight for is_correct, weight in judgements if is_correct]
    wrong = [weight for is_correct, weight in judgements if is_correct is False]
    if not wrong:
        return 1.0 if any(right) else 0.0
    heaviest = max(*right, *wrong, 0.0)
    if heaviest == 0.0:
        return 0.0
    # Scaled by the heaviest, so that the sum of finite weights stays finite.
    total = math.fsum([weight / heaviest for weight in right + wrong])
    return math.fsum([weight / heaviest for weight in right]) / total


def pack_report(
    case: Case,
    duration: float,
    actual_result: CaseResult,
    expected_result: CaseResult,
    raw_results: Mapping[str, VerificationResult],
) -> PackedReport:
    """Return every field and file of both results, and every key the verifier returned.

    A check is never dropped: a key that names no field is kept beside the fields. Raises
    ValueError if a verifier has put something into a result that cannot be kept.
    """
    judgements = [(found.is_correct, found.weight) for found in raw_results.values()]
    return _pack(
        case,
        duration,
        _pack_results(case, actual_result, expected_result, raw_results),
        outcome_of(judgements),
        score_of(judgements),
        None,
    )


def pack_error(case: Case, duration: float, error: str) -> PackedReport:
    """Return the report of a case about which nothing can be said, and why."""
    return _pack(case, duration, {}, Outcome.ERROR, 0.0, error)


def _pack(
    case: Case,
    duration: float,
    results: dict[str, PackedResult],
    outcome: Outcome,
    score: float,
    error: str | None,
) -> PackedReport:
    about = case.describe()
    return {
        "id": about["id"],
        "group": about["group"],
        "type": about["group_type"],
        "timestamp": now_text(),
        "duration": duration,
        "results": results,
        "case": about,
        "original_checkpoint": about["original_checkpoint"],
        "original_group": about["original_group"],
        "error": error,
        "outcome": outcome._value_,
        "score": score,
    }


def _pack_results(
    case: Case,
    actual_result: CaseResult,
    expected_result: CaseResult,
    raw_results: Mapping[str, VerificationResult],
) -> dict[str, PackedResult]:
    given = actual_result.__pydantic_fields_set__.union(
        expected_result.__pydantic_fields_set__, raw_results
    )
    packed: dict[str, PackedResult]
    if _are_usual(case, actual_result, expected_result) and _IMPLIED.isdisjoint(raw_results):
        actual, expected = actual_result.__dict__, expected_result.__dict__
        packed = _USUAL_NAMES | dict.fromkeys(raw_results)
        told = sorted(given - _IMPLIED)
    else:
        actual, expected = actual_result.attributes(), expected_result.attributes()
        packed = dict.fromkeys(actual | expected | dict(raw_results))
        told = [name for name in packed if name in given or _is_unusual(name, actual, expected)]
    for name in told:
        here, there, found = actual.get(name), expected.get(name), raw_results.get(name)
        # Checked once more, because a verifier may have changed what was valid before.
        both = [check_value(here), check_value(there)]
        if found is not None:
            packed[name] = _pack_found(both, found)
        elif name not in INHERITED or not here == there == case.__dict__[name]:
            packed[name] = both
    return packed


def _is_unusual(name: str, *several: Mapping[str, Any]) -> bool:
    """Return whether an attribute that nobody gave is a subclass's own default."""
    usual = AT_DEFAULT.get(name)
    return usual is None or any(one.get(name) != usual.actual for one in several)


def _are_usual(case: Case, *several: CaseResult) -> bool:
    """Return whether results have no files, no own fields, and of the case what they should.

    Nearly all are like that, and most of their attributes need not be looked at one by one.
    """
    own = _inherited(case.__dict__)
    for result in several:
        fields = result.__dict__
        if type(result) is not CaseResult or result.__pydantic_extra__ or fields["files"]:
            return False
        try:
            if _inherited(fields) != own:
                return False
        except KeyError:
            # Made without validation, and not whole.
            return False
    return True


_inherited = itemgetter(*INHERITED)
_USUAL_NAMES: dict[str, PackedResult] = dict.fromkeys(
    name for name in CaseResult.model_fields if name != "files"
)
# About these there is nothing to say in a usual result.
_IMPLIED = frozenset({*INHERITED, "files"})


def _pack_found(both: list[Any], found: VerificationResult) -> dict[str, Any]:
    return {"actual": both[0], "expected": both[1], **found.__dict__}


class SampleCounts(NamedTuple):
    """How the samples of a case ended, and how many requests had to be repeated for them."""

    taken: int = 0
    passed: int = 0
    failed: int = 0
    is_early: bool = False
    """Whether no more were taken because the verdict was certain; a rate would be biased."""
    repeated: int = 0

    @property
    def share(self) -> Share:
        """The passes among the samples that were judged; errors say nothing of the subject."""
        return Share(self.passed, self.passed + self.failed)


NO_SAMPLES = SampleCounts()
DECIDED_EARLY = "decided early"
"""The key in the detail of a record that says that not all samples were taken."""


def count_samples(record: Mapping[str, Any]) -> SampleCounts:
    """Return how the samples of a packed record ended."""
    reports, detail = record["reports"], record["detail"]
    outcomes = [report["outcome"] for report in reports]
    repeated = sum(_count_repeated(report["case"]) for report in reports)
    is_early = type(detail) is dict and detail.get(DECIDED_EARLY) is True
    return SampleCounts(
        len(outcomes), outcomes.count("passed"), outcomes.count("failed"), is_early, repeated
    )


def _count_repeated(case: Mapping[str, Any]) -> int:
    count = case.get("repeated")
    return count if type(count) is int and 0 <= count < _MOST_REPEATED else 0


# A journal may be somebody else's, and sqlite takes no larger numbers than 64 bits.
_MOST_REPEATED = 1_000_000_000


def is_packed_record(record: Mapping[str, Any]) -> bool:
    """Return whether this is shaped as a record's short form; anybody may write a journal."""
    try:
        return (
            all(isinstance(record[name], kind) for name, kind in _RECORD.items())
            and record["outcome"] in _OUTCOMES
            and math.isfinite(record["score"] + record["duration"])
            and "detail" in record
            and all(isinstance(count, int | float) for count in record["usage"].values())
            and all(map(_is_packed_report, record["reports"]))
        )
    except (KeyError, TypeError):
        return False


def _is_packed_report(report: PackedReport) -> bool:
    return (
        all(isinstance(report[name], kind) for name, kind in _REPORT.items())
        and report["outcome"] in _OUTCOMES
        and all(map(_is_packed_result, report["results"].values()))
    )


def _is_packed_result(result: PackedResult) -> bool:
    if isinstance(result, dict):
        is_decided = result["is_correct"] in (None, True, False)
        return is_decided and isinstance(result["weight"], _NUMBER) and result.keys() >= _VALUES
    return result is None or (isinstance(result, list) and len(result) == 2)


_TEXT_OR_NONE = (str, type(None))
_NUMBER = (int, float)
_RECORD: dict[str, Any] = {
    **dict.fromkeys(("id", "subject", "outcome", "reason", "code", "fingerprint", "started"), str),
    "reports": list,
    "usage": dict,
    "duration": _NUMBER,
    "score": _NUMBER,
}
_REPORT: dict[str, Any] = {
    **dict.fromkeys(("id", "group", "type", "timestamp", "outcome"), str),
    **dict.fromkeys(("original_checkpoint", "original_group", "error"), _TEXT_OR_NONE),
    "results": dict,
    "case": dict,
    "duration": _NUMBER,
    "score": _NUMBER,
}
_VALUES = {"actual", "expected", "diff"}
_OUTCOMES = frozenset(outcome.value for outcome in Outcome)


def is_plain(report: PackedReport) -> bool:
    """Return whether no value in it is bytes, a float or nested; see `encode_value`."""
    several = [*report["case"].values()]
    for result in filter(None, report["results"].values()):
        several += result if type(result) is list else _three_values(result)
    return are_plain(several)


_three_values = itemgetter("actual", "expected", "diff")


def list_wrong(report: PackedReport) -> list[str]:
    """Return the attributes that are wrong."""
    results = report["results"].items()
    return [name for name, found in results if type(found) is dict and found["is_correct"] is False]


def list_undecided(report: PackedReport) -> list[str]:
    """Return the attributes about which a check could not decide."""
    return [
        name
        for name, found in report["results"].items()
        if type(found) is dict and found["is_correct"] is None and found["weight"] > 0
    ]
