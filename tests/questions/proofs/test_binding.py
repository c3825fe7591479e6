"""A stored proof belongs to its option: one that was edited or moved is named and never decides."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.questions.examination import examine
from assay.questions.model import Question, Snippet
from assay.questions.proof_runners import ProofRunners
from assay.questions.proofs.binding import Bound, check_disputed
from assay.questions.proofs.claims import Claim, Grounds, Proof, Relation
from assay.questions.proofs.forgery import read_given
from assay.questions.proofs.proof_file import UnfitProofError
from assay.questions.proofs.store import NewProof, ProofStore
from assay.questions.selection import Selection, build_environments, select
from assay.questions.suite.suite import load_suites
from assay.questions.verdict.option_findings import State, Truth
from tests.conftest import Command

EXAMPLES = Path(__file__).parents[3] / "examples" / "questions"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """The committed suite on pydantic with its committed proofs."""
    shutil.copytree(EXAMPLES / "proofs", tmp_path / "proofs")
    shutil.copytree(EXAMPLES / "snippets", tmp_path / "snippets")
    shutil.copy(EXAMPLES / "pydantic.yaml", tmp_path)
    return tmp_path / "pydantic.yaml"


def proof_of(suite: Path, question: str, option: str) -> Path:
    return suite.parent / "proofs" / "pydantic" / question / f"test_option_{option}.py"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def edit_claim(suite: Path, question: str, option: str, /, **fields: Any) -> None:
    path = proof_of(suite, question, option).with_name("proof.json")
    manifest = json.loads(path.read_text())
    (claim,) = (one for one in manifest["claims"] if one["option"] == option)
    claim.update(fields)
    path.write_text(json.dumps(manifest, indent=2, sort_keys=True) + "\n")


def edit_disputed(suite: Path) -> None:
    """Let the wrong key look right: A is proven with the value of B, and B with that of A."""
    first, second = (proof_of(suite, "dump-mode-default", option) for option in "AB")
    edit(first, 'DISPUTED = "json"', 'DISPUTED = "python"')
    edit(second, 'DISPUTED = "python"', 'DISPUTED = "json"\nINSTEAD = "python"')


def edit_expected(suite: Path) -> None:
    expected = {"test_option_A_fails": "failed", "test_option_A_holds": "passed"}
    edit_claim(suite, "adapter-import", "A", expected=expected)


def swap_files(suite: Path) -> None:
    first, second = (proof_of(suite, "bounded-integer", option) for option in "AB")
    held = first.read_text()
    first.write_text(second.read_text())
    second.write_text(held)


def move_file(suite: Path) -> None:
    shutil.copy(proof_of(suite, "frozen-assignment", "B"), proof_of(suite, "bad-integer", "B"))


def edit_relation(suite: Path) -> None:
    edit_claim(suite, "model-method", "A", relation="necessary")


def edit_letter(suite: Path) -> None:
    # Together with the fingerprint of the other option it would be current.
    manifest = json.loads(proof_of(suite, "torn-json", "A").with_name("proof.json").read_text())
    other = manifest["claims"][2]["option_fingerprint"]
    edit_claim(suite, "torn-json", "A", option="C", option_fingerprint=other)


def move_folder(suite: Path) -> None:
    folder = proof_of(suite, "validator-mode-default", "A").parent
    shutil.rmtree(folder)
    shutil.copytree(folder.with_name("unknown-keywords"), folder)


def remove_binding(suite: Path) -> None:
    edit_claim(suite, "web-address-import", "C", bound=None)


def edit_fingerprint(suite: Path) -> None:
    """Pass off the proof of another wording as one of this."""
    edit(suite, "`skip_unset`", "`leave_unset`")
    (loaded,) = load_suites([suite])
    (question,) = (one.question for one in loaded.entries if one.id == "unset-fields")
    assert isinstance(question, Question)
    mark = question.option_fingerprint("C")
    edit_claim(suite, "unset-fields", "C", option_fingerprint=mark)


EDITS: dict[str, tuple[Callable[[Path], None], str]] = {
    "dump-mode-default": (
        edit_disputed,
        "the source of option A changed after the proof was taken in (1 more of this question)",
    ),
    "adapter-import": (edit_expected, "the expected outcome (in proof.json) of option A changed"),
    "bounded-integer": (
        swap_files,
        "this is the proof of option B of bounded-integer, and not of option A",
    ),
    "bad-integer": (
        move_file,
        "this is the proof of option B of frozen-assignment, and not of option B",
    ),
    "model-method": (edit_relation, "the claim (in proof.json) of option A changed"),
    "torn-json": (
        edit_letter,
        "this is the proof of option A of torn-json, and not of option C: its claim",
    ),
    "validator-mode-default": (move_folder, "is a proof of the question 'unknown-keywords'"),
    "web-address-import": (remove_binding, "the proof of option C is not bound to it"),
    "unset-fields": (edit_fingerprint, "the fingerprint, the lock or the digest (in proof.json)"),
}


def test_an_edited_moved_or_swapped_proof_is_named_and_never_decides(
    suite: Path, assay: Command
) -> None:
    for apply, _ in EDITS.values():
        apply(suite)
    run = suite.parent / "run"
    chosen = [word for name in (*EDITS, "frozen-assignment") for word in ("--case", name)]
    result = assay("questions", "verify", suite, *chosen, "--out", run)
    assert result.returncode == 2, result.stdout
    report = json.loads((run / "quality_report.json").read_text())
    found = {one["id"].partition("::")[2]: one for one in report["questions"]}
    # The others of the suite are verified all the same.
    assert found.pop("frozen-assignment")["verdict"] == "Incorrect"
    assert found.keys() == EDITS.keys()
    for name, (_, message) in EDITS.items():
        assert found[name]["verdict"] == "Error", name
        assert message in found[name]["reason"], found[name]["reason"]
        assert f"assay questions prove {suite.name}::{name}" in found[name]["reason"]
        assert "--accept" in found[name]["reason"]


def test_an_edit_is_taken_in_on_purpose(suite: Path, assay: Command) -> None:
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org")
    for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "before")):
        subprocess.run([*git, *words], cwd=suite.parent, check=True)
    case = f"{suite.name}::model-method"
    edit(proof_of(suite, "model-method", "B"), "DISPUTED = ", "# The name.\nDISPUTED = ")
    edit_claim(suite, "model-method", "A", relation="necessary")
    verify = ("questions", "verify", suite, "--case", "model-method", "--quiet")
    assert assay(*verify).returncode == 2
    taken = assay("questions", "prove", case, "--accept")
    assert taken.returncode == 0, taken.stderr
    assert "+# The name." in taken.stdout
    assert 'relation: "equivalent" → "necessary"' in taken.stdout
    assert "option B: the claim is true (equivalent)" in taken.stdout
    assert "test_option_C" not in taken.stdout
    assert assay(*verify).returncode == 0
    again = assay("questions", "prove", case, "--accept")
    assert (again.returncode, again.stdout) == (0, "")


def test_a_proof_of_another_option_is_not_taken_in(suite: Path, assay: Command) -> None:
    swap_files(suite)
    edit(proof_of(suite, "dump-mode-default", "B"), 'DISPUTED = "python"', 'DISPUTED = "json"')
    manifests = [
        proof_of(suite, name, "A").with_name("proof.json")
        for name in ("bounded-integer", "dump-mode-default")
    ]
    before = [path.read_bytes() for path in manifests]
    swapped = assay("questions", "prove", f"{suite.name}::bounded-integer", "--accept")
    assert swapped.returncode == 2
    assert "its tests name option B, and option A is to be proven" in swapped.stderr
    words = ("questions", "prove", f"{suite.name}::dump-mode-default", "--option", "B", "--accept")
    other = assay(*words)
    assert other.returncode == 2
    assert "DISPUTED occurs neither in the option nor in the question: 'json'" in other.stderr
    assert [path.read_bytes() for path in manifests] == before


def test_proofs_of_an_earlier_version_are_bound_by_one_command(suite: Path, assay: Command) -> None:
    content = suite.read_text()
    head, *questions = content.split("  - id: ")
    suite.write_text(head + "".join(f"  - id: {one}" for one in questions[:2]))
    for name in ("model-method", "model-from-json-text"):
        path = proof_of(suite, name, "A").with_name("proof.json")
        manifest = json.loads(path.read_text())
        for claim in manifest["claims"]:
            del claim["bound"]
        path.write_text(json.dumps(manifest))
    verify = ("questions", "verify", suite, "--quiet")
    assert assay(*verify).returncode == 2
    assert assay("questions", "prove", suite.name, "--accept").returncode == 0
    assert assay(*verify).returncode == 0


def test_every_committed_proof_is_bound_and_about_its_option() -> None:
    count = 0
    for suite in load_suites([EXAMPLES / "pydantic.yaml", EXAMPLES / "compaction.yaml"]):
        for entry in suite.entries:
            if isinstance(entry.question, Question):
                count += len(ProofStore(suite.path).load(entry.question))
    assert count == len(list((EXAMPLES / "proofs").rglob("test_*.py")))


# Another outcome, on the same lock and on another.


@pytest.mark.parametrize("lock", ["the same", "another"])
def test_another_outcome_is_an_error_on_the_same_lock_and_a_finding_on_another(
    suite: Path, lock: str
) -> None:
    (work,) = select(Selection((str(suite),), str(suite.parent), cases=("model-method",)))
    question, store = work.entry.question, work.store
    assert isinstance(question, Question)
    environments = build_environments([work])
    runners = ProofRunners(environments)
    (environment,) = environments.values()
    (stored,) = (one for one in store.load(question) if one.proof.claim.option == "B")
    # As if the name had been missing when the proof was taken in.
    roles = ("test_option_B_holds", "test_option_B_fails", ())
    seen = environment.lock if lock == "the same" else "pydantic==1.0\n"
    store.save(question, [NewProof(stored.proof, Truth.FALSE, roles)], seen)

    async def run() -> Any:
        async with runners:
            return await examine(question, store.load(question), runners.of(work.target))

    if lock == "another":
        assert asyncio.run(run()).findings["B"].state is State.HOLDS
    else:
        with pytest.raises(
            InputError, match="_fails failed on the lock it was taken in with, where it passed"
        ):
            asyncio.run(run())


# The digest.

CLAIM = Claim("B", "`model_dump` is a method", Relation.EQUIVALENT, kind="member")
PROOF = Proof(CLAIM, "test_option_B.py", proof_of(EXAMPLES / "x", "model-method", "B").read_text())
BOUND = Bound(PROOF, "0123456789ab", {"test_b_holds": "passed", "test_b_fails": "failed"})
BINDING = BOUND.bind("a lock")


def test_what_is_as_it_was_bound_has_no_changes() -> None:
    assert BOUND.list_changes(BINDING) == ()
    copy = Bound(replace(PROOF), "0123456789ab", dict(sorted(BOUND.expected.items())))
    assert copy.list_changes(BINDING) == ()


def change_text(text: str, place: int, letter: str, way: str) -> str:
    place %= len(text)
    changed = {
        "replace": text[:place] + letter + text[place + 1 :],
        "insert": text[:place] + letter + text[place:],
        "delete": text[:place] + text[place + 1 :],
    }[way]
    assume(changed != text)
    return changed


changes = {
    "place": st.integers(0, 10_000),
    "letter": st.characters(),
    "way": st.sampled_from(["replace", "insert", "delete"]),
}


@given(**changes)
def test_any_character_of_the_source_that_changes_is_noticed(
    place: int, letter: str, way: str
) -> None:
    source = change_text(PROOF.source, place, letter, way)
    edited = replace(BOUND, proof=replace(PROOF, source=source))
    assert edited.list_changes(BINDING) == ("source",)


@given(field=st.sampled_from(["option", "statement", "kind"]), **changes)
def test_any_character_of_a_claim_that_changes_is_noticed(
    field: str, place: int, letter: str, way: str
) -> None:
    text = change_text(getattr(CLAIM, field), place, letter, way)
    fields: dict[str, Any] = {field: text}
    proof = replace(PROOF, claim=replace(CLAIM, **fields))
    assert replace(BOUND, proof=proof).list_changes(BINDING) == ("claim",)


@pytest.mark.parametrize(
    "field",
    [
        {"relation": Relation.NECESSARY},
        {"grounds": Grounds.DOCUMENTED},
        {"fresh": True},
        {"absent_path": True},
    ],
)
def test_any_other_field_of_a_claim_that_changes_is_noticed(field: dict[str, Any]) -> None:
    proof = replace(PROOF, claim=replace(CLAIM, **field))
    assert replace(BOUND, proof=proof).list_changes(BINDING) == ("claim",)


@given(**changes)
def test_any_character_of_the_option_or_the_lock_that_changes_is_noticed(
    place: int, letter: str, way: str
) -> None:
    mark = change_text(BOUND.option_fingerprint, place, letter, way)
    assert replace(BOUND, option_fingerprint=mark).list_changes(BINDING) == ("binding",)
    lock = change_text(BINDING.lock, place, letter, way)
    assert BOUND.list_changes(BINDING.model_copy(update={"lock": lock})) == ("binding",)


@pytest.mark.parametrize("name", ["test_b_holds", "test_b_fails"])
def test_another_expected_outcome_is_noticed(name: str) -> None:
    turned = {"passed": "failed", "failed": "passed"}[BOUND.expected[name]]
    edited = replace(BOUND, expected={**BOUND.expected, name: turned})
    assert edited.list_changes(BINDING) == ("expected",)
    fewer = {one: status for one, status in BOUND.expected.items() if one != name}
    assert replace(BOUND, expected=fewer).list_changes(BINDING) == ("expected",)


@dataclass(frozen=True)
class LaterClaim(Claim):
    """A claim as a later version may have it."""

    subject: str = ""
    parts: tuple[str, ...] = ()


def test_a_new_field_unbinds_no_proof_until_it_is_used() -> None:
    values = {name: getattr(CLAIM, name) for name in Claim.__dataclass_fields__}
    later = replace(PROOF, claim=LaterClaim(**values))
    assert replace(BOUND, proof=later).list_changes(BINDING) == ()
    used = replace(PROOF, claim=LaterClaim(**values, parts=("one",)))
    assert replace(BOUND, proof=used).list_changes(BINDING) == ("claim",)


# What is disputed is in the option, the question or its code.

STEM = "Which class does `model_validate` raise, and after how many errors?"
CODE = Snippet("retries = 1_000\nprint('Ada\\\\nBob')")


@pytest.mark.parametrize(
    ("disputed", "option", "is_there"),
    [
        ('"model_dump"', "`model_dump`", True),
        ('"model_dump"', "`to_dict`", False),
        ('"model_dum"', "`model_dump`", False),
        ('"pydantic.main.BaseModel"', "`BaseModel`", True),
        ('"pydantic.BaseModel"', "`from pydantic import BaseThing`", False),
        ('"model_validate"', "It returns a dictionary.", True),
        ("ValidationError", "a validation error", True),
        ("Refused", "`ValidationError`", True),
        ("TypeError", "`ValidationError`", False),
        ("pydantic.ValidationError", "`TypeError`", False),
        ('"CoroutineType"', "a coroutine that nobody has awaited", True),
        ('"CoroutineType"', "`Awaitable`", False),
        ("7.5", "7.5 seconds", True),
        ("8", "7.5 seconds", False),
        ("1000", "1,000 times", True),
        ("1000", "`retries` times, not 3", True),
        ("3", "Three times", True),
        ("60", "after a minute", True),
        ('["name", "root_agent"]', "`name` and `root_agent`", True),
        ('["name", "plugins"]', "`name` and `root_agent`", False),
        ('{"userName": "ada"}', "`{'userName': 'ada'}`", True),
        ('"Ada\\nBob\\n"', "It prints two lines.", True),
        ("None", "`False`", True),
        ("sorted([1])", "`False`", True),
        ("own", "`False`", True),
    ],
)
def test_what_is_disputed_must_occur_in_the_question(
    disputed: str, option: str, is_there: bool
) -> None:
    question = Question("one", STEM, {"A": option, "B": "`to_list`"}, CODE)
    source = (
        "from pydantic import ValidationError, ValidationError as Refused\nimport pydantic\n"
        f"own = 1\nDISPUTED = {disputed}\n"
    )
    if is_there:
        check_disputed(source, read_given(question, "A"))
    else:
        with pytest.raises(UnfitProofError, match="neither in the option nor in the question"):
            check_disputed(source, read_given(question, "A"))


def test_where_nothing_is_named_nothing_can_be_looked_for() -> None:
    question = Question("one", "Which of the two is there?", {"A": "what models are made from"})
    check_disputed('DISPUTED = "BaseModel"\n', read_given(question, "A"))
