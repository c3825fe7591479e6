"""The example suite through the real sandbox: exactly what is planted is found, under any key."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from assay.model import CaseRecord
from assay.questions.examination import Examination, examine
from assay.questions.model import Question
from assay.questions.proof_runners import ProofRunners
from assay.questions.provers import load_provers
from assay.questions.selection import Selection, build_environments, samples, select
from assay.questions.verdict.stems import classify
from assay.questions.verdict.verdict import Verdict, is_settled, judge
from assay.questions.verification import Work, verify_one

FOLDER = Path(__file__).parents[2] / "examples" / "questions"
PLANTED: dict[str, dict[str, Any]] = yaml.safe_load((FOLDER / "planted.yaml").read_text())


class Verified(NamedTuple):
    """What one pass over the suites found out, and whether it wrote anything."""

    work: list[Work]
    records: dict[str, CaseRecord]
    examinations: dict[str, Examination]
    changed: list[str]


def contents() -> dict[Path, tuple[bytes, int]]:
    return {
        path: (path.read_bytes(), path.stat().st_mtime_ns)
        for path in FOLDER.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def verified() -> Verified:
    suites = tuple(
        str(FOLDER / f"{name}.yaml") for name in ("pydantic", "api_understanding", "fix_error")
    )
    work = select(Selection(suites, str(FOLDER)))
    runners = ProofRunners(build_environments(work), provers=load_provers(), samples=samples(work))
    before = contents()
    records, examinations = asyncio.run(verify_all(work, runners))
    after = contents()
    changed = [str(path) for path in before | after if before.get(path) != after.get(path)]
    return Verified(work, records, examinations, changed)


async def verify_all(
    work: list[Work], runners: ProofRunners
) -> tuple[dict[str, CaseRecord], dict[str, Examination]]:
    async with runners:
        records = await asyncio.gather(*(verify_one(one, runners) for one in work))
        examinations = {}
        for one in work:
            question = one.entry.question
            if isinstance(question, Question):
                runner = runners.of(one.target)
                found = await examine(question, one.store.load(question), runner)
                examinations[one.entry.id] = found
    named = {one.entry.id: record for one, record in zip(work, records, strict=True)}
    return named, examinations


def detail(record: CaseRecord) -> dict[str, Any]:
    assert isinstance(record.detail, dict)
    return record.detail


def test_exactly_the_planted_defects_are_found(verified: Verified) -> None:
    found = {name: detail(record)["verdict"] for name, record in verified.records.items()}
    assert found == {name: PLANTED[name]["verdict"] for name in found}
    assert len(found) == 44


def test_a_replay_touches_no_file(verified: Verified) -> None:
    assert verified.changed == []


def test_a_dead_name_beside_a_live_one_is_noted(verified: Verified) -> None:
    noted = {
        name
        for name, record in verified.records.items()
        if any(note.startswith("dead-name") for note in detail(record).get("notes", ()))
    }
    assert noted == {
        name for name, planted in PLANTED.items() if "dead-name" in planted.get("lint", ())
    }


def test_the_broader_exception_is_noted(verified: Verified) -> None:
    options = detail(verified.records["adapter-refusal"])["options"]
    assert any("broader-exception" in note for one in options.values() for note in one["notes"])


def test_under_any_other_key_no_settled_question_stays_valid(verified: Verified) -> None:
    tried = 0
    for one in verified.work:
        question = one.entry.question
        if not isinstance(question, Question):
            continue
        findings = verified.examinations[one.entry.id].findings
        if not is_settled(question, findings) or PLANTED[one.entry.id]["verdict"] != "Valid":
            continue
        assert one.entry.key is not None
        stem = classify(question.text)
        assert judge(question, stem, findings, one.entry.key.answer).verdict is Verdict.VALID
        for other in question.options:
            if other != one.entry.key.answer:
                tried += 1
                judgement = judge(question, stem, findings, other)
                assert judgement.verdict is not Verdict.VALID, (one.entry.id, other)
    assert tried > 40
