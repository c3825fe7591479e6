"""The evidence of questions: what an option claims, its proof, and what was observed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.model import CaseRecord, Outcome
from assay.reports import render_evidence, render_overview
from assay.runs import Manifest, Parts, Run, Unit, create_folder, execute
from tests.reports.conftest import HOSTILE
from tests.reports.pages import Page

OLD = Path(__file__).parent.parent / "runs" / "old_runs"


def evidence_of(run: Run, identifier: str) -> Page:
    page = Page(render_evidence(run, run.row(identifier)))
    assert (page.open, page.unbalanced) == ([], [])
    return page


@pytest.mark.parametrize("version", ["first", "linked"])
def test_claim_proof_and_observation_stand_beside_each_other(version: str) -> None:
    with Run(OLD / version / "questions") as run:
        for row in run.rows():
            record: Any = run.read(row)
            page = evidence_of(run, row.id)
            text = "".join(part for parts in page.texts.values() for part in parts)
            for letter, option in record.detail.get("options", {}).items():
                assert any(part.startswith(letter) for part in page.texts["span"])
                for proof in option["proofs"]:
                    assert proof["file"] in text
                    assert all(test["name"] in text for test in proof["tests"])
            # Not as JSON any more.
            assert "\\n" not in text
            assert '"proofs"' not in text


def test_the_overview_counts_verdicts() -> None:
    with Run(OLD / "linked" / "questions") as run:
        page = Page(render_overview(run))
        counts = [int(part.split(" of ")[0]) for part in page.texts["td"] if " of " in part]
        assert sum(counts) == sum(run.counts().values())


def _proof(**more: Any) -> dict[str, Any]:
    return {
        "file": "test_a.py", "prover": "lexical", "statement": "`a` is there",
        "relation": "equivalent", "kind": "member", "grounds": "executed", "author": "program",
        "truth": "false", "reason": "", "isolation": "namespaces",
        "source": "DISPUTED = 'a'\n\n\ndef test_holds():\n    assert hasattr(str, DISPUTED)\n",
        "tests": [{"name": "test_holds", "status": "failed", "message": "assert False",
                   "output": "", "objection": None}],
        **more,
    }  # fmt: skip


def _option(state: str, **more: Any) -> dict[str, Any]:
    return {
        "text": "`a`", "state": state, "reason": "", "grounds": "executed", "author": "program",
        "derived_from": [], "notes": [], "proofs": [_proof()], **more,
    }  # fmt: skip


def _detail(**more: Any) -> dict[str, Any]:
    return {
        "version": 1, "type": "multiple_choice", "place": "suite.yaml:3", "question": "Which?",
        "snippet": "import a\n", "key": "A", "verdict": "Incorrect", "code": "key-fails",
        "reason": "the key A fails", "grounds": "executed", "author": "program", "answers": ["B"],
        "notes": ["a note"],
        "options": {"A": _option("FAILS"), "B": _option("HOLDS"), "C": _option("FAILS")},
        **more,
    }  # fmt: skip


def make_run(folder: Path, *details: Any) -> Run:
    path = create_folder(folder / "run", Manifest(subject="questions"))

    async def keep(unit: Unit, parts: Parts) -> CaseRecord:
        return CaseRecord(
            id=unit.id,
            subject="questions",
            outcome=Outcome.FAILED,
            reason="why",
            code="key-fails",
            detail=unit.payload,
        )

    units = (Unit(f"case {place}", place, "", one) for place, one in enumerate(details))
    execute(path, units, keep, waits=True)
    return Run(path)


def test_what_decides_is_open_and_marked(tmp_path: Path) -> None:
    with make_run(tmp_path, _detail()) as run:
        page = evidence_of(run, "case 0")
    folds = [one for one in page.all("details") if "fold" in (one["class"] or "")]
    assert [(one["class"], "open" in one) for one in folds] == [
        ("fold failed", True),
        ("fold failed", True),
        ("fold quiet", False),
    ]
    badges = ["key", "fails", "holds", "failed", "passed"]
    assert "key" in page.texts["span"]
    assert [part for part in page.texts["span"] if part in badges[:3]] == [
        "key", "fails", "holds", "fails",
    ]  # fmt: skip
    assert "observed" in page.texts["p"]


def test_questions_of_every_type_and_corrections_are_shown(tmp_path: Path) -> None:
    fix = {"status": "corrected", "kept": "written", "notes": ["checked"],
           "tries": [{"reason": "", "verdict": "Valid"}]}  # fmt: skip
    api = {
        "type": "api_understanding",
        "accepted": [{"answer": "X", "state": "exists", "names": {"a.X": "there"}}],
        "options": {},
        "key": None,
        "names": {"BaseModel": {"truth": "true", "proofs": [_proof(truth="open", reason="?")]}},
    }
    tests = [{"name": "test_one", "status": "failed", "message": "no", "output": "out",
              "objection": "it was not run alone"}]  # fmt: skip
    repair: dict[str, Any] = {
        "type": "fix_error",
        "options": {},
        "key": None,
        "unfixed": tests,
        "fixed": tests,
    }
    whole = {"whole": [_proof(relation="premise", options=["A"])], "fix": fix, "advice": "assay …"}
    with make_run(tmp_path, _detail(**whole), _detail(**api), _detail(**repair)) as run:
        texts = [
            "".join(part for parts in evidence_of(run, row.id).texts.values() for part in parts)
            for row in run.rows()
        ]
    assert "The question takes this for granted" in texts[0]
    assert "Correction: corrected (written)" in texts[0]
    assert "To settle it" in texts[0]
    assert "accepted answer" in texts[1]
    assert "tests before the repair" in texts[2]
    assert "Not evidence: it was not run alone" in texts[2]


def test_hostile_text_in_every_field_is_only_text(tmp_path: Path) -> None:
    def poison(value: Any) -> Any:
        if isinstance(value, dict):
            # States and the like are words of ours; whatever else they are, it must not matter.
            return {key: poison(one) for key, one in value.items()}
        if isinstance(value, list):
            return [poison(one) for one in value]
        return HOSTILE if isinstance(value, str) else value

    with make_run(tmp_path, poison(_detail())) as run:
        html = render_evidence(run, run.row("case 0"))
        overview = render_overview(run)
    for text in (html, overview):
        names = {name for name, _ in Page(text).elements}
        assert not names & {"script", "img", "style", "a"}
        assert not set(text) & set("\x00\x1b\x07\x9b\u202e\u2066\u2028\ufeff\r")


@pytest.mark.parametrize(
    "detail",
    [{"question": "?"}, {"question": 1, "verdict": 2, "place": 3, "options": 4}, ["a"], "text", 7],
)
def test_a_record_of_another_shape_is_shown_as_any_other(tmp_path: Path, detail: Any) -> None:
    with make_run(tmp_path, detail) as run:
        page = evidence_of(run, "case 0")
        render_overview(run)
    assert "why" in page.texts["p"]
