"""A model's proof passes the same checks as a person's, and is tied to its option by code."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter

from assay.questions.claims import Library, kinds
from assay.questions.index import build_index
from assay.questions.model import Question, Snippet
from assay.questions.model_prover.engineer import TrialResult, attempt, program_proof
from assay.questions.model_prover.reading import ProgramClaim, ReaderClaim
from assay.questions.model_prover.ties import (
    find_difference,
    find_foreign_code,
    find_loose_end,
    is_lookup,
    proof_subjects,
    reads_texts,
    tie_claim,
)
from assay.questions.person import write_claim
from assay.questions.proof_runners import TargetRunner
from assay.questions.proofs.claims import MODELLED, Grounds, Proof, Relation
from assay.questions.proofs.proving import try_proof
from assay.questions.verdict.option_findings import State, Truth, combine
from assay.sandbox import ProofRunner, Target, environment
from tests.questions.model_prover.scripted import limit

LIMITS = Question(
    "q",
    "Of the limits that pydantic knows, which one refuses a number of its own size?",
    {"A": "the limit gt", "B": "the limit ge", "C": "None of the above"},
)
GOOD = limit("A", "gt")
CLAIM = ProgramClaim(says="the limit refuses it", relation=Relation.EQUIVALENT)


def proof_of(source: str, option: str = "A") -> Proof:
    return program_proof(option, CLAIM, 1, source)


def tried(*sources: str, question: Question = LIMITS, option: str = "A") -> list[TrialResult]:
    """What comes of these proofs, all tried by one runner."""

    async def run() -> list[TrialResult]:
        proofs_run = ProofRunner(environment(Target(current=True)))
        runner = TargetRunner(proofs_run, modules=("pydantic",))
        try:
            return [await attempt(question, proof_of(one, option), runner) for one in sources]
        finally:
            await proofs_run.close()

    return asyncio.run(run())


def test_a_proof_is_linted_run_and_twinned_before_it_counts() -> None:
    broken = GOOD.replace("assert not refuses", "assert refuses")
    vacuous = GOOD.replace("refuses(DISPUTED)", "(pydantic, DISPUTED)[0] is pydantic")
    good, both, empty, other, wrong, loud = tried(
        GOOD,
        broken,
        vacuous,
        GOOD.replace("option_A", "option_B"),
        "def test_x(): assert True",
        broken.replace("    return True", "    print('seen')\n        return True"),
    )
    assert good.is_settled
    assert good.feedback == "settled: the claim is true"
    assert good.proof.claim.relation is Relation.EQUIVALENT
    assert not both.is_settled
    assert "both sides" in both.feedback
    assert not empty.is_settled
    assert "vacuous" in empty.feedback
    assert other.trial is None
    assert "name option B" in other.feedback
    assert wrong.trial is None
    assert "refused" in wrong.feedback
    assert "  | seen" in loud.feedback


def test_no_proof_is_tried_for_an_option_that_is_derived() -> None:
    derived = Question("q", "Which?", {"A": "None of the above", "B": "x"})
    found = asyncio.run(attempt(derived, proof_of(GOOD), TargetRunner(None)))  # type: ignore[arg-type]
    assert found.trial is None
    assert "derived" in found.feedback


# --- Careless proofs ----------------------------------------------------------------------------

SETTINGS = Question(
    "q",
    "Of the settings of a model in pydantic, which one makes it refuse changes?",
    {"A": "the setting frozen", "B": "the setting extra"},
)
LOOKUP = '''"""Option B: the setting makes a model refuse changes."""

import pydantic

DISPUTED = "extra"
INSTEAD = "frozen"


def is_setting(name):
    return name in pydantic.ConfigDict.__annotations__


def test_option_B_holds():
    assert is_setting(DISPUTED)


def test_option_B_fails():
    assert not is_setting(DISPUTED)
'''
FILE = '''"""Option B: the setting makes a model refuse changes."""

from pathlib import Path

import pydantic

DISPUTED = "extra"
INSTEAD = "frozen"


def text():
    return Path(pydantic.__file__).with_name("config.py").read_text()


def test_option_B_holds():
    assert f"    {DISPUTED}:" in text()


def test_option_B_fails():
    assert f"    {DISPUTED}:" not in text()
'''


def test_that_a_name_is_there_does_not_confirm_what_it_does() -> None:
    (found,) = tried(LOOKUP, question=SETTINGS, option="B")
    assert found.trial is not None
    assert found.trial.settled.truth is Truth.TRUE
    assert found.proof.claim.relation is Relation.NECESSARY
    assert combine([found.trial.settled]).state is State.UNPROVEN


def test_reading_the_files_of_the_library_is_documentation() -> None:
    (found,) = tried(FILE, question=SETTINGS, option="B")
    assert found.proof.claim.grounds is Grounds.DOCUMENTED
    for text in ("pydantic.Field.__doc__", "inspect.getsource(pydantic.Field)", "import linecache"):
        assert reads_texts(text)
    assert not reads_texts("assert pydantic.Field()")
    assert not reads_texts("not valid python (")


def test_the_length_of_what_is_disputed_decides_nothing() -> None:
    counted = GOOD.replace("refuses(DISPUTED)", "len(DISPUTED) == 2 and pydantic")
    (found,) = tried(counted)
    assert not found.is_settled


@pytest.mark.parametrize("disputed", ['"max_length"', "18", '"g" + "t"', "dict(a=1)"])
def test_what_is_disputed_stands_in_the_question(disputed: str) -> None:
    other = GOOD.replace('DISPUTED = "gt"', f"DISPUTED = {disputed}")
    told = find_loose_end(LIMITS, proof_of(other))
    assert told is not None
    assert "DISPUTED" in told


def test_a_proof_uses_the_class_that_its_option_names() -> None:
    question = Question(
        "q", "Which of these is right?", {"A": "`TypeAdapter` takes `gt`", "B": "RootModel has gt"}
    )
    assert find_loose_end(question, proof_of(GOOD)) is None
    told = find_loose_end(question, proof_of(GOOD.replace("option_A", "option_B"), "B"))
    assert told == "the proof uses nothing that option B names: `RootModel`"


def test_what_the_question_does_not_name_is_shown_to_a_reviewer() -> None:
    subjects = list(proof_subjects(GOOD, ("pydantic",)))
    assert {"Field", "TypeAdapter", "ValidationError"} <= set(subjects)
    told = find_difference(LIMITS, "A", subjects)
    assert "`TypeAdapter`" in told
    assert "neither the question nor the option names" in told
    named = Question("q", "What does `TypeAdapter` do?", {"A": "x"})
    assert find_difference(named, "A", ["pydantic.TypeAdapter"]) == ""


@pytest.mark.parametrize(
    "claim",
    [
        kinds.PathExists(subject="a.b", relation=Relation.EQUIVALENT),
        kinds.ImportRuns(code="import a", relation=Relation.SUFFICIENT),
        kinds.HasMember(subject="a.B", value="c", relation=Relation.EQUIVALENT),
        kinds.TakesParameter(subject="a.b", value="c", relation=Relation.EQUIVALENT),
        kinds.AcceptsCall(subject="a.b", keywords=("c",), relation=Relation.EQUIVALENT),
        kinds.InEnumeration(subject="a.B", value="C", relation=Relation.EQUIVALENT),
    ],
)
def test_a_lookup_is_necessary_whatever_the_model_says(claim: Any) -> None:
    assert tie_claim(claim).relation is Relation.NECESSARY


def test_a_lookup_is_told_from_a_call() -> None:
    assert is_lookup(LOOKUP)
    assert is_lookup(LOOKUP.replace("name in pydantic.ConfigDict.__annotations__",
                                    "hasattr(pydantic, name)"))  # fmt: skip
    assert not is_lookup(GOOD)
    default = "inspect.signature(pydantic.Field).parameters[name].default is None"
    assert not is_lookup(LOOKUP.replace("name in pydantic.ConfigDict.__annotations__", default))


def test_code_that_is_run_is_that_of_the_question() -> None:
    question = Question("q", "What happens?", {"A": "ValueError"}, Snippet("int('x')"))
    own = kinds.Raises(code="int('x')", setup="import pydantic", value="ValueError")
    assert find_foreign_code(question, "A", own) is None
    for other in (
        kinds.Raises(code="int('y')", value="ValueError"),
        kinds.Raises(code="int('x')", setup="int = print", value="ValueError"),
    ):
        assert "claim of kind program" in str(find_foreign_code(question, "A", other))


# --- Honest claims ------------------------------------------------------------------------------

HONEST: list[tuple[str, str, dict[str, Any], Truth]] = [
    ("Which one exists?", "`pydantic.TypeAdapter`",
     {"kind": "exists", "subject": "pydantic.TypeAdapter"}, Truth.TRUE),
    ("Which one exists?", "`pydantic.TypeAdaptor`",
     {"kind": "exists", "subject": "pydantic.TypeAdaptor"}, Truth.FALSE),
    ("Which import works?", "`from pydantic import Fields`",
     {"kind": "importable", "code": "from pydantic import Fields"}, Truth.FALSE),
    ("What does `BaseModel` have?", "`model_dump`",
     {"kind": "member", "subject": "pydantic.BaseModel", "value": "model_dump"}, Truth.TRUE),
    ("What does `Field` take?", "`caption`",
     {"kind": "parameter", "subject": "pydantic.Field", "value": "caption"}, Truth.FALSE),
    ("What is the default of `alias` of `Field`?", "`None`",
     {"kind": "default", "subject": "pydantic.Field", "parameter": "alias", "value": 7},
     Truth.FALSE),
    ("From what does `RootModel` inherit?", "`BaseModel`",
     {"kind": "base", "subject": "pydantic.RootModel", "value": "pydantic.BaseModel"}, Truth.TRUE),
    ("What sort of thing is `model_validate` of `BaseModel`?", "a class method",
     {"kind": "nature", "subject": "pydantic.BaseModel", "member": "model_validate",
      "value": "class method"}, Truth.TRUE),
    ("Which call does `TypeAdapter` accept?", "`TypeAdapter(int, settings=None)`",
     {"kind": "accepts", "subject": "pydantic.TypeAdapter", "positional": 1,
      "keywords": ["settings"]}, Truth.FALSE),
    ("What does `pydantic.TypeAdapter(int).validate_python('x')` raise?", "`ValueError`",
     {"kind": "raises", "setup": "import pydantic", "value": "ValueError",
      "code": "pydantic.TypeAdapter(int).validate_python('x')"}, Truth.TRUE),
    ("What does `pydantic.TypeAdapter(int).validate_python('3')` return?", "`3`",
     {"kind": "returns", "setup": "import pydantic", "value": 3,
      "code": "pydantic.TypeAdapter(int).validate_python('3')"}, Truth.TRUE),
    ("What type has `strict` of `validate_python` of `TypeAdapter`?", "`str`",
     {"kind": "annotation", "subject": "pydantic.TypeAdapter.validate_python",
      "parameter": "strict", "value": "str"}, Truth.FALSE),
    ("What is the value of `pydantic.version.VERSION`?", "`0.1`",
     {"kind": "constant", "subject": "pydantic.version.VERSION", "value": "0.1"}, Truth.FALSE),
    ("Which one is a member of `PaymentCardBrand`?", "`visa`",
     {"kind": "enumeration", "subject": "pydantic.types.PaymentCardBrand", "value": "visa"},
     Truth.TRUE),
    ("Which flag does `hypothesis write` have?", "`--manner`",
     {"kind": "command-option", "subject": "hypothesis write", "value": "--manner"}, Truth.FALSE),
    ("What does `import pydantic; pydantic.TypeAdapter(int)` do?",
     "`pydantic.TypeAdapter(int)` runs",
     {"kind": "runs", "setup": "import pydantic", "code": "pydantic.TypeAdapter(int)"},
     Truth.TRUE),
    ("What does `print(pydantic.TypeAdapter(int).validate_python('3'))` print?", "`3`",
     {"kind": "prints", "setup": "import pydantic", "value": "3",
      "code": "print(pydantic.TypeAdapter(int).validate_python('3'))"}, Truth.TRUE),
    ("What does `pydantic.parse_obj_as(int, 3)` warn with?", "`DeprecationWarning`",
     {"kind": "warns", "setup": "import pydantic", "value": "DeprecationWarning",
      "code": "pydantic.parse_obj_as(int, 3)"}, Truth.TRUE),
]  # fmt: skip


def test_an_honest_claim_of_each_kind_is_proven(tmp_path: Path) -> None:
    current = environment(Target(current=True))
    adapter: TypeAdapter[Any] = TypeAdapter(ReaderClaim)
    libraries = {
        name: Library(build_index(current, distributions=(name,)), (name,))
        for name in ("pydantic", "hypothesis")
    }

    async def run() -> set[str]:
        runner = ProofRunner(current)
        found = set()
        try:
            for text, option, given, truth in HONEST:
                name = "hypothesis" if given["kind"] == "command-option" else "pydantic"
                question = Question("q", text, {"A": option, "B": "7"})
                letter = "B" if given["kind"] == "default" else "A"
                claim = tie_claim(adapter.validate_python(given))
                assert find_foreign_code(question, letter, claim) is None
                proof = write_claim(question, letter, claim, libraries[name], 1, MODELLED)
                assert isinstance(proof, Proof), (given, proof)
                assert find_loose_end(question, proof) is None, given
                trial = await try_proof(proof, runner, modules=(name,), question=question)
                assert trial.settled.truth is truth, (given, trial.settled)
                found.add(given["kind"])
        finally:
            await runner.close()
        return found

    # The engineer's programs are in the tests above.
    assert asyncio.run(run()) == set(kinds_of_claims()) - {"program"}


def kinds_of_claims() -> list[str]:
    return [one.model_fields["kind"].default for one in get_args(get_args(ReaderClaim)[0])]
