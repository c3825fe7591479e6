"""Calibrates the provers on a suite: every Valid question is verified again with defects in it.

What is stored of the original is never looked at for a mutant, and nothing is kept of either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from assay.errors import BudgetExceeded
from assay.model import AttributeResult, CaseRecord, GroupType, Outcome, VerifierReport, values
from assay.questions.calibration.mutants import EXPECTED, Defect, Mutant, mutants, sound_variants
from assay.questions.calibration.scoring import Calibration, Result, Tried, result_of, score
from assay.questions.laboratories import Laboratories
from assay.questions.model import Key, Question
from assay.questions.proofs.store import NoProofs
from assay.questions.verdict.exceptions import BROADER
from assay.questions.verdict.verdict import Verdict
from assay.questions.verifying import Work, error_record, fingerprint, verify_one
from assay.runs import Parts, Run, Unit
from assay.tracebacks import format_exception

SUBJECT = "calibration"
DETAIL_VERSION = 1
LEFT_OUT = "left-out"


@dataclass(frozen=True)
class Planting:
    """How many mutants of a kind a question gets, and the seed that chooses them."""

    count: int = 1
    seed: int = 0


@dataclass(frozen=True)
class CalibrationWorker:
    """Tries single questions with planted defects."""

    laboratories: Laboratories
    planting: Planting

    async def run(self, unit: Unit, parts: Parts) -> CaseRecord:
        """Return the record of one question."""
        try:
            return await calibrate_one(unit.payload, self.laboratories, self.planting)
        except BudgetExceeded:
            raise
        except Exception as error:
            # Whatever goes wrong with one question is its error and not the end of the others.
            record = error_record(unit.payload, format_exception(error))
            mark = _fingerprint(unit.payload, self.planting)
            return record.model_copy(update={"subject": SUBJECT, "fingerprint": mark})


def list_calibrations(work: Iterable[Work], planting: Planting) -> Iterator[Unit]:
    """List questions as the cases of a calibration."""
    for place, one in enumerate(work):
        yield Unit(one.identifier, place, _fingerprint(one, planting), one)


def _fingerprint(work: Work, planting: Planting) -> str:
    return values.fingerprint(fingerprint(work), planting.count, planting.seed)


async def calibrate_one(work: Work, laboratories: Laboratories, planting: Planting) -> CaseRecord:
    """The record of one question: what was said of it with each defect, if it is Valid itself."""
    question, key = work.entry.question, work.entry.key
    original = await verify_one(work, laboratories, writes=False)
    verdict = str((original.detail or {})["verdict"])
    if not isinstance(question, Question) or key is None or verdict != Verdict.VALID:
        return _left_out(work, planting, verdict)
    planted = [
        *sound_variants(question, key.answer, planting.seed),
        *mutants(question, key.answer, planting.seed, planting.count, shadowed=_shadowed(original)),
    ]
    tried = [
        (one, await verify_one(_mutated(work, one), laboratories, writes=False)) for one in planted
    ]
    return _record(work, planting, [_values(*one) for one in tried])


def _shadowed(record: CaseRecord) -> list[str]:
    options: dict[str, Any] = (record.detail or {}).get("options", {})
    return [letter for letter, one in options.items() if BROADER in " ".join(one["notes"])]


def _mutated(work: Work, mutant: Mutant) -> Work:
    entry = replace(work.entry, question=mutant.question, key=Key(mutant.key))
    identifier = f"{work.identifier}~{mutant.name}"
    return replace(work, entry=entry, identifier=identifier, store=NoProofs(work.entry.file))


def _values(mutant: Mutant, record: CaseRecord) -> dict[str, Any]:
    detail: dict[str, Any] = record.detail or {}
    answers = None if mutant.answers is None else sorted(mutant.answers)
    result = result_of(mutant.defect, detail["verdict"], detail.get("answers", ()), answers)
    return {
        "name": mutant.name,
        "defect": mutant.defect.value if mutant.defect else None,
        "change": mutant.change,
        "question": mutant.question.text,
        "options": dict(mutant.question.options),
        "key": mutant.key,
        "answers": answers,
        "verdict": detail["verdict"],
        "reason": detail["reason"],
        "result": result.value,
    }


# --- Records -----------------------------------------------------------------------------------


def _left_out(work: Work, planting: Planting, verdict: str) -> CaseRecord:
    return CaseRecord(
        id=work.identifier,
        subject=SUBJECT,
        outcome=Outcome.UNVERIFIED,
        reason=f"left out: it is {verdict}, and only a Valid question shows what a defect changes",
        code=LEFT_OUT,
        detail={"version": DETAIL_VERSION, "verdict": verdict, "mutants": []},
        fingerprint=_fingerprint(work, planting),
    )


def _record(work: Work, planting: Planting, tried: list[dict[str, Any]]) -> CaseRecord:
    report = VerifierReport(
        id=work.identifier,
        group=work.entry.file.stem,
        type=GroupType.FUNCTIONALITY,
        duration=0.0,
        results={one["name"]: _attribute(one) for one in tried},
    )
    bad = [one for one in tried if one["result"] in (Result.MISSED, Result.WRONG)]
    reason = "; ".join(f"{one['result']}: {one['name']}" for one in bad)
    return CaseRecord(
        id=work.identifier,
        subject=SUBJECT,
        outcome=Outcome.FAILED if bad else Outcome.PASSED,
        reason=reason or "no defect was called Valid, and nothing was accused wrongly",
        code=str(bad[0]["result"]) if bad else "calibrated",
        reports=[report],
        detail={"version": DETAIL_VERSION, "verdict": Verdict.VALID.value, "mutants": tried},
        fingerprint=_fingerprint(work, planting),
    )


def _attribute(tried: dict[str, Any]) -> AttributeResult:
    right = {Result.FOUND: True, Result.CONFIRMED: True, Result.OPEN: None}
    is_correct = right.get(Result(tried["result"]), False)
    defect = tried["defect"]
    return AttributeResult(
        attribute=tried["name"],
        actual=f"{tried['verdict']}: {tried['reason']}",
        expected=EXPECTED[Defect(defect)].value if defect else "Valid or Unproven",
        diff=None if is_correct else tried["change"],
        is_correct=is_correct,
        weight=0.0 if is_correct is None else 1.0,
    )


def calibration_of(run: Run) -> Calibration:
    """The numbers of a run."""
    tried: list[Tried] = []
    left_out, errors = [], []
    for row in run.rows():
        packed = run.read_packed(row)
        if packed["outcome"] == Outcome.ERROR:
            errors.append(f"{packed['id']}: {packed['reason']}")
        elif packed["code"] == LEFT_OUT:
            left_out.append(packed["id"])
        else:
            tried += [_tried(packed["id"], one) for one in packed["detail"]["mutants"]]
    return score(tried, left_out, errors)


def _tried(question: str, mutant: dict[str, Any]) -> Tried:
    return Tried(
        question=question,
        name=mutant["name"],
        defect=Defect(mutant["defect"]) if mutant["defect"] else None,
        verdict=mutant["verdict"],
        result=Result(mutant["result"]),
        change=mutant["change"],
        reason=mutant["reason"],
    )
