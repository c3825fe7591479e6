"""The example questions are what they promise: every kind, every planted defect, every proof."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.questions.proofs.proof_file import UnfitProofError, read_proof
from assay.questions.proofs.proving import objections

FOLDER = Path(__file__).parents[2] / "examples" / "questions"
SUITES = ("pydantic", "api_understanding", "fix_error", "compaction")
PROOFS = sorted((FOLDER / "proofs").rglob("*.py"))
DERIVED = re.compile(r"(?:None|All) of the above|Both [A-E] and [A-E]")
VERSIONS = {"1.16.0", "1.24.1", "2.13.0"}


def read(name: str) -> Any:
    return yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))


def entries(*suites: str) -> list[dict[str, Any]]:
    return [entry for suite in suites for entry in read(suite)["benchmarks"]]


def choices(suite: str) -> list[dict[str, Any]]:
    return [one for one in entries(suite) if one["benchmark_type"] == "multiple_choice"]


def proofs_of(suite: str, question: str, option: str) -> list[Path]:
    folder = FOLDER / "proofs" / suite / question
    return [path for path in sorted(folder.glob("*.py")) if option_of(path) == option]


def option_of(proof: Path) -> str:
    match = re.fullmatch(r"test_option_([A-E])(?:_\d+)?\.py", proof.name)
    assert match is not None, proof
    return match[1]


PLANTED: dict[str, dict[str, Any]] = read("planted")


def test_every_question_is_in_the_table_once() -> None:
    ids = [entry["id"] for entry in entries(*SUITES)]
    assert sorted(ids) == sorted(PLANTED)
    # The folder of a question's proofs is named after its id, whatever makes names out of ids.
    assert all(re.fullmatch(r"[a-z][a-z0-9-]*", one) for one in ids)


def test_there_are_about_forty_questions_and_most_are_sound() -> None:
    choice = [PLANTED[entry["id"]] for entry in choices("pydantic")]
    assert 40 <= len(entries("pydantic", "api_understanding", "fix_error")) <= 45
    assert sum("planted" not in one for one in choice) >= len(choice) * 0.4
    assert {one["verdict"] for one in choice} == {"Valid", "Incorrect", "Ambiguous", "Unproven"}


def test_every_kind_is_there() -> None:
    texts = {entry["id"]: entry["question"] for entry in choices("pydantic")}
    options = [text for entry in choices("pydantic") for text in entry["options"].values()]
    for derived in ("None of the above", "All of the above", "Both A and C"):
        assert derived in options
    for word in (" NOT ", " EXCEPT ", "recommended", "best", "Why "):
        assert any(word in text for text in texts.values()), word
    assert sum("code_snippet_ref" in entry for entry in choices("pydantic")) == 6
    assert [one["benchmark_type"] for one in entries("api_understanding")] == [
        "api_understanding"
    ] * 4
    assert [PLANTED[one["id"]]["verdict"] for one in entries("fix_error")] == [
        "Valid",
        "Trivial",
        "Leaked",
        "Broken",
    ]


@pytest.mark.parametrize("suite", ["pydantic", "compaction"])
def test_only_letters_of_the_question_are_in_the_table(suite: str) -> None:
    for entry in choices(suite):
        known = PLANTED[entry["id"]]
        letters = [*known.get("holds", []), *known.get("contradicted", []), *known.get("open", [])]
        assert len(set(letters)) == len(letters), entry["id"]
        assert set(letters) <= set(entry["options"]), entry["id"]


def test_verdicts_follow_from_the_key_where_one_option_is_asked_for() -> None:
    for entry in choices("pydantic"):
        known = PLANTED[entry["id"]]
        negated = " NOT " in entry["question"] or " EXCEPT " in entry["question"]
        right = entry["correct_answer"] in known.get("holds", [])
        if known["verdict"] == "Valid":
            assert right is not negated, entry["id"]
        if known["verdict"] == "Ambiguous":
            assert right, entry["id"]
            assert len(known["holds"]) > 1, entry["id"]


@pytest.mark.parametrize("suite", ["pydantic", "compaction"])
def test_every_option_that_can_be_proven_has_a_proof(suite: str) -> None:
    for entry in choices(suite):
        for option, text in entry["options"].items():
            is_open = option in PLANTED[entry["id"]].get("open", [])
            expected = not is_open and not DERIVED.fullmatch(text)
            assert bool(proofs_of(suite, entry["id"], option)) is expected, (entry["id"], option)


def test_every_proof_belongs_to_an_option() -> None:
    known = {
        (suite, entry["id"], option)
        for suite in ("pydantic", "compaction")
        for entry in choices(suite)
        for option in entry["options"]
    }
    for proof in PROOFS:
        suite, question = proof.relative_to(FOLDER / "proofs").parts[:2]
        assert (suite, question, option_of(proof)) in known


@pytest.mark.parametrize("proof", PROOFS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_proof_can_be_believed(proof: Path) -> None:
    source = proof.read_text(encoding="utf-8")
    assert objections(source) == []
    file = read_proof(source)
    assert file.statement.startswith(f"Option {option_of(proof)}: ")
    assert file.holds == f"test_option_{option_of(proof)}_holds"
    assert file.fails == f"test_option_{option_of(proof)}_fails"


def test_no_proof_knows_a_key_or_an_explanation() -> None:
    sources = "\n".join(proof.read_text(encoding="utf-8") for proof in PROOFS)
    for entry in [*choices("pydantic"), *choices("compaction")]:
        assert entry["explanation"] not in sources
    assert "correct_answer" not in sources


def test_the_negative_example_is_refused_without_control_and_counterpart() -> None:
    proof = FOLDER / "proofs/compaction/compaction-frequency/test_option_B.py"
    source = proof.read_text(encoding="utf-8")
    bare, _, _ = source.partition("\n\ndef test_option_B_control")
    bare = bare.replace('INSTEAD = "compaction_interval"\n', "")
    with pytest.raises(UnfitProofError, match="without a control"):
        read_proof(bare)


def test_snippets_have_their_sections_but_for_the_one_that_is_planted() -> None:
    for entry in choices("pydantic"):
        if (reference := entry.get("code_snippet_ref")) is None:
            continue
        text = (FOLDER / reference["file"]).read_text(encoding="utf-8")
        ast.parse(text)
        missing = f"[start:{reference['section']}]" not in text
        assert missing is ("missing-section" in PLANTED[entry["id"]].get("lint", []))


@pytest.mark.parametrize("entry", entries("fix_error"), ids=lambda entry: entry["id"])
def test_programs_to_be_repaired_are_complete(entry: dict[str, Any]) -> None:
    test, unfixed, fixed = (
        (FOLDER / entry[name]).read_text(encoding="utf-8")
        for name in ("test_file", "unfixed_file", "fixed_file")
    )
    compile(unfixed, entry["unfixed_file"], "exec")
    compile(fixed, entry["fixed_file"], "exec")
    imported = [
        node.module for node in ast.walk(ast.parse(test)) if isinstance(node, ast.ImportFrom)
    ]
    assert Path(entry["unfixed_file"]).stem in imported
    assert unfixed != fixed


def test_three_questions_on_google_adk_change_their_verdict_between_versions() -> None:
    changing = {}
    for entry in choices("compaction"):
        known = PLANTED[entry["id"]]
        assert set(known["drift"]) == VERSIONS
        if any(other["verdict"] != known["verdict"] for other in known["drift"].values()):
            changing[entry["id"]] = known["changed_in"]
    assert changing == {
        "run-metadata": "1.18.0",
        "tool-threads": "1.24.0",
        "required-of-an-app": "2.0.0",
    }
