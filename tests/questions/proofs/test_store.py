"""The proof store: committed files that say the same after every run, and no key anywhere."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.questions.model import Question
from assay.questions.proofs.claims import Claim, Proof, Relation, proof_name
from assay.questions.proofs.store import NewProof, ProofStore, slug
from assay.questions.verdict.option_findings import Truth

QUESTION = Question("suite:first question?", "Which?", {"A": "one", "B": "two"})
LOCK = "pydantic==2.12.0\n"


def shown(option: str, source: str = "def test_x(): ...\n", truth: Truth = Truth.TRUE) -> NewProof:
    claim = Claim(option, f"{option} is so", Relation.EQUIVALENT)
    tests = ("test_option_holds", "test_option_fails", ("test_option_control",))
    return NewProof(Proof(claim, proof_name(option), source), truth, tests)


@pytest.fixture
def store(tmp_path: Path) -> ProofStore:
    return ProofStore(tmp_path / "suite.yaml")


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_what_was_saved_is_loaded(store: ProofStore) -> None:
    assert store.load(QUESTION) == []
    assert store.save(QUESTION, [shown("A"), shown("B", truth=Truth.FALSE)], LOCK)
    first, second = store.load(QUESTION)
    assert first.proof == shown("A").proof
    assert first.is_current
    assert first.expected == {
        "test_option_holds": "passed",
        "test_option_fails": "failed",
        "test_option_control": "passed",
    }
    assert second.expected["test_option_holds"] == "failed"
    assert second.expected["test_option_fails"] == "passed"


def test_saving_the_same_again_touches_no_file(store: ProofStore) -> None:
    store.save(QUESTION, [shown("A"), shown("B")], LOCK)
    before = contents(store.root)
    assert not store.save(QUESTION, [shown("B")], LOCK)
    assert not store.save(QUESTION, [shown("A"), shown("B")], LOCK)
    assert contents(store.root) == before


def test_the_files_hold_no_time_and_no_path(store: ProofStore, tmp_path: Path) -> None:
    store.save(QUESTION, [shown("A")], LOCK)
    other = ProofStore(tmp_path / "elsewhere" / "suite.yaml")
    other.save(QUESTION, [shown("A")], LOCK)
    first, second = contents(store.root), contents(other.root)
    assert {name: data for name, (data, _) in first.items()} == {
        name: data for name, (data, _) in second.items()
    }
    assert not any(str(tmp_path).encode() in data for data, _ in first.values())


def test_another_wording_of_an_option_makes_its_proof_stale_and_no_other(
    store: ProofStore,
) -> None:
    store.save(QUESTION, [shown("A"), shown("B")], LOCK)
    edited = replace(QUESTION, options={"A": "one", "B": "three"})
    assert [kept.is_current for kept in store.load(edited)] == [True, False]
    assert [kept.is_current for kept in store.load(replace(QUESTION, text="What?"))] == [False] * 2
    store.save(edited, [shown("B", "def test_y(): ...\n")], LOCK)
    kept = store.load(edited)
    assert [one.is_current for one in kept] == [True, True]
    assert kept[1].proof.source == "def test_y(): ...\n"


def test_a_second_proof_can_stand_beside_the_first(store: ProofStore) -> None:
    store.save(QUESTION, [shown("A")], LOCK)
    second = shown("A", "def test_z(): ...\n")
    second = replace(second, proof=replace(second.proof, file=proof_name("A", 2)))
    store.save(QUESTION, [second], LOCK, beside=True)
    assert [kept.proof.file for kept in store.load(QUESTION)] == [
        "test_option_A.py",
        "test_option_A_2.py",
    ]
    store.save(QUESTION, [shown("A")], LOCK)
    assert sorted(path.name for path in store.folder(QUESTION).iterdir()) == [
        "proof.json",
        "test_option_A.py",
    ]


def test_locks_are_shared_by_hash(store: ProofStore) -> None:
    store.save(QUESTION, [shown("A")], LOCK)
    store.save(replace(QUESTION, id="second"), [shown("A")], LOCK)
    (lock,) = (store.root / "locks").iterdir()
    assert lock.read_text() == LOCK


def test_proofs_may_be_kept_elsewhere(tmp_path: Path) -> None:
    store = ProofStore(tmp_path / "suite.yaml", tmp_path / "kept")
    store.save(QUESTION, [shown("A")], LOCK)
    assert store.folder(QUESTION).is_relative_to(tmp_path / "kept" / "suite")
    assert not (tmp_path / "proofs").exists()


def test_a_damaged_store_is_an_error_of_the_input(store: ProofStore) -> None:
    store.save(QUESTION, [shown("A")], LOCK)
    folder = store.folder(QUESTION)
    (folder / "test_option_A.py").unlink()
    with pytest.raises(InputError, match="is not there"):
        store.load(QUESTION)
    (folder / "proof.json").write_text('{"schema_version": 99}')
    with pytest.raises(InputError, match="not a proof that Assay wrote"):
        store.load(QUESTION)


def test_a_manifest_that_names_a_file_twice_is_refused(store: ProofStore) -> None:
    store.save(QUESTION, [shown("A")], LOCK)
    manifest = store.folder(QUESTION) / "proof.json"
    content = json.loads(manifest.read_text())
    content["claims"] *= 2
    manifest.write_text(json.dumps(content))
    with pytest.raises(InputError, match="names a file twice"):
        store.load(QUESTION)


def test_a_written_proof_outlives_another_wording(store: ProofStore) -> None:
    store.save(QUESTION, [shown("A"), shown("B")], LOCK)
    edited = replace(QUESTION, options={"A": "one more", "B": "two"})
    made = replace(shown("B"), proof=replace(shown("B").proof, prover="introspection"))
    store.save(edited, [made], LOCK)
    assert [(kept.proof.claim.option, kept.is_current) for kept in store.load(edited)] == [
        ("A", False),
        ("B", True),
    ]
    assert store.remove(edited, "A") == 1
    assert [kept.proof.claim.option for kept in store.load(edited)] == ["B"]
    assert store.remove(edited, "B") == 1
    assert store.load(edited) == []


def test_a_manifest_cannot_name_files_elsewhere(store: ProofStore) -> None:
    store.save(QUESTION, [shown("A")], LOCK)
    manifest = store.folder(QUESTION) / "proof.json"
    manifest.write_text(manifest.read_text().replace("test_option_A.py", "../../secret.py"))
    with pytest.raises(InputError):
        store.load(QUESTION)


@given(st.lists(st.text(min_size=1, max_size=120), min_size=2, max_size=2, unique=True))
def test_every_id_has_a_folder_of_its_own(identifiers: list[str]) -> None:
    first, second = map(slug, identifiers)
    assert first != second
    for name in (first, second):
        assert name
        assert "/" not in name
        assert name not in (".", "..")
        assert len(name) < 100
