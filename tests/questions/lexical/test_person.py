"""What a person claims about options is proven by the writers, before anything else is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assay.questions.claims import kinds
from assay.questions.examination import Examination
from assay.questions.lexical import LexicalProver
from assay.questions.model import Key, Question, SuiteEntry
from assay.questions.person import ClaimTrial, claim_lines, try_claims
from assay.questions.proof_runners import TargetRunner
from assay.questions.proofs.claims import PERSON, Relation
from assay.questions.proofs.store import ProofStore
from assay.questions.verification import Work, examine_question, fingerprint
from assay.sandbox import Environment, ProofRunner, Target
from tests.conftest import Command
from tests.questions.lexical.support import question
from tests.sandbox.support import Background

ASKED = "How bright is a new lamp?"
Claims = Mapping[str, Sequence[kinds.TypedClaim]]
BRIGHTNESS: dict[str, Any] = {"subject": "lanterns.Lamp", "parameter": "brightness"}


def default(value: Any, relation: Relation = Relation.EQUIVALENT) -> kinds.DefaultIs:
    return kinds.DefaultIs(**BRIGHTNESS, value=value, relation=relation)


@dataclass
class Bench:
    """Runs the proofs of claims about the small library."""

    background: Background
    runner: TargetRunner
    folder: Path

    def work(self, asked: Question, claims: Claims) -> Work:
        suite = self.folder / "suite.yaml"
        entry = SuiteEntry(asked, Key("A"), suite)
        return Work(entry, "suite.yaml::q", Target(current=True), ProofStore(suite), claims=claims)

    def examine(self, asked: Question, claims: Claims, *, writes: bool = False) -> Examination:
        work = self.work(asked, claims)
        return self.background.run(examine_question(work, asked, self.runner, writes=writes))

    def attempt(self, asked: Question, claims: Claims) -> list[ClaimTrial]:
        return self.background.run(try_claims(asked, claims, self.runner))


@pytest.fixture(scope="module")
def opened(lanterns: Environment) -> Iterator[tuple[Background, TargetRunner]]:
    background, modules = Background(), ("lanterns",)

    async def start() -> tuple[ProofRunner, LexicalProver]:
        runner = ProofRunner(lanterns, imports=modules, modules=modules, concurrency=2)
        return runner, LexicalProver()

    proof_runner, prover = background.run(start())
    yield background, TargetRunner(proof_runner, lanterns, modules, (prover,))
    background.run(proof_runner.close())
    background.stop()


@pytest.fixture
def bench(opened: tuple[Background, TargetRunner], tmp_path: Path) -> Bench:
    return Bench(*opened, tmp_path)


def test_claims_settle_what_words_do_not(bench: Bench) -> None:
    asked = question(ASKED, "Five candles", "Seven candles")
    before = bench.examine(asked, {})
    assert [one.state.value for one in before.findings.values()] == ["UNPROVEN", "UNPROVEN"]
    found = bench.examine(asked, {"A": [default(5)], "B": [default(7)]})
    assert [one.state.value for one in found.findings.values()] == ["HOLDS", "FAILS"]
    assert [trial.proof.prover for trial in found.trials["A"]] == [PERSON]


def test_several_claims_about_one_option_count_together(bench: Bench) -> None:
    asked = question(ASKED, "Five candles", "Seven candles")
    kind = kinds.HasMember(subject="lanterns.Lamp", value="refill")
    found = bench.examine(asked, {"A": [kind, default(5)], "B": [default(7), default(5)]})
    assert len(found.trials["A"]) == 2
    assert len({trial.proof.file for trial in found.trials["A"]}) == 2
    assert found.findings["A"].state.value == "HOLDS"
    assert found.findings["B"].state.value == "CONTRADICTED"


def test_nothing_is_stored_and_a_changed_claim_counts_at_once(bench: Bench) -> None:
    asked = question(ASKED, "Five candles", "Seven candles")
    bench.examine(asked, {"A": [default(5)]}, writes=True)
    assert not (bench.folder / "proofs").exists()
    found = bench.examine(asked, {"A": [default(7)]}, writes=True)
    assert found.findings["A"].state.value == "FAILS"


def test_a_claim_comes_before_the_stored_proof_of_a_program(bench: Bench) -> None:
    asked = question("Which of these is a parameter of `Lamp`?", "`timeout`", "`wattage`")
    stored = bench.examine(asked, {}, writes=True)
    assert [one.state.value for one in stored.findings.values()] == ["HOLDS", "FAILS"]
    assert (bench.folder / "proofs").exists()
    claim = kinds.TakesParameter(
        subject="lanterns.light_all", value="timeout", relation=Relation.EQUIVALENT
    )
    found = bench.examine(asked, {"A": [claim]})
    assert [trial.proof.prover for trial in found.trials["A"]] == [PERSON]
    assert found.findings["A"].state.value == "FAILS"


def test_a_program_is_asked_where_a_claim_leaves_the_option_open(bench: Bench) -> None:
    asked = question("Which of these is a parameter of `Lamp`?", "`timeout`", "`wattage`")
    claim = kinds.HasMember(subject="lanterns.Lamp", value="timeout")
    found = bench.examine(asked, {"A": [claim]})
    assert [trial.proof.prover for trial in found.trials["A"]] == [PERSON, "lexical"]
    assert found.findings["A"].state.value == "HOLDS"


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        (
            kinds.HasMember(subject="lanterns.Lampp", value="five"),
            "the target has no `lanterns.Lampp`; did you mean `lanterns.Lamp`",
        ),
        (
            kinds.DefaultIs(subject="lanterns.Lamp", parameter="brightnes", value=5),
            "the target has no `lanterns.Lamp.brightnes`; did you mean `brightness`?",
        ),
        (
            kinds.IsOfNature(subject="lanterns.shop.Shop", member="oppen", value="property"),
            "the target has no `lanterns.shop.Shop.oppen`; did you mean `open`?",
        ),
        (
            kinds.InheritsFrom(subject="lanterns.OilLamp", value="lanterns.BaseLampp"),
            "the target has no `lanterns.BaseLampp`; did you mean `lanterns.BaseLamp`",
        ),
        (
            kinds.Raises(code="raise ValueError", value="lanterns.DarkEror"),
            "the target has no `lanterns.DarkEror`; did you mean `lanterns.DarkError`",
        ),
    ],
)
def test_what_a_claim_takes_for_granted_must_be_there(
    bench: Bench, claim: kinds.TypedClaim, told: str
) -> None:
    asked = question(ASKED, "Five candles", "Seven candles")
    finding = bench.examine(asked, {"A": [claim]}).findings["A"]
    assert finding.state.value == "UNPROVEN"
    assert finding.reason.startswith(told)
    noted = bench.examine(asked, {"A": [claim, default(5)]}).findings["A"]
    assert noted.state.value == "HOLDS"
    assert any(told in one for one in noted.notes)


def test_that_a_path_is_missing_is_a_claim_and_no_mistake(bench: Bench) -> None:
    asked = question("What is there?", "`lanterns.Lampp`", "`lanterns.Lamp`")
    claims = {
        "A": [kinds.PathExists(subject="lanterns.Lampp", relation=Relation.EQUIVALENT)],
        "B": [kinds.PathExists(subject="lanterns.Lamp", relation=Relation.EQUIVALENT)],
    }
    found = bench.examine(asked, claims)
    assert [one.state.value for one in found.findings.values()] == ["FAILS", "HOLDS"]


def test_a_claim_of_another_option_is_noticed(bench: Bench) -> None:
    asked = question("What is the default of `brightness` of `Lamp`?", "`5`", "`7`")
    found = bench.examine(asked, {"B": [default(9)]})
    assert "is not about option B" in " ".join(found.findings["B"].notes)


PROGRAM = '''\
"""Option A: five."""

DISPUTED = 5


def test_option_A_holds():
    assert DISPUTED == 5


def test_option_A_fails():
    assert DISPUTED != 5
'''


def test_a_free_program_is_checked_like_any_proof_by_hand(bench: Bench) -> None:
    asked = question(ASKED, "`5` candles", "`7` candles")
    claim = kinds.FreeProgram(says="it is five", source=PROGRAM, relation=Relation.EQUIVALENT)
    tried = bench.attempt(asked, {"A": [claim]})[0]
    assert tried.truth == "open"
    assert tried.reason


def test_a_changed_claim_is_a_changed_case_but_the_same_question(bench: Bench) -> None:
    asked = question(ASKED, "Five candles", "Seven candles")
    given: list[Claims] = [{}, {"A": [default(5)]}, {"A": [default(7)]}, {"B": [default(7)]}]
    assert len({fingerprint(bench.work(asked, one)) for one in given}) == len(given)


def test_another_wording_keeps_only_claims_about_the_same_options(bench: Bench) -> None:
    asked = question(ASKED, "Five candles", "Seven candles")
    work = bench.work(asked, {"A": [default(5)], "B": [default(7)]})
    keyed = work.revise(SuiteEntry(asked, Key("B"), work.entry.file))
    assert set(keyed.claims) == {"A", "B"}
    other = question(ASKED, "Five candles", "Six candles")
    assert set(work.revise(SuiteEntry(other, Key("A"), work.entry.file)).claims) == {"A"}
    stem = question("How dim?", "Five candles", "Seven candles")
    assert not work.revise(SuiteEntry(stem, Key("A"), work.entry.file)).claims


def test_a_trial_shows_the_claims_of_a_person_else_those_that_are_read(bench: Bench) -> None:
    asked = question(
        "Which of these is a parameter of `Lamp`?", "`timeout`", "`wattage`", "It depends.",
        "None of the above",
    )  # fmt: skip
    claim = kinds.TakesParameter(subject="lanterns.Lamp", value="timeout")
    tried = bench.attempt(asked, {"A": [claim]})
    assert [(one.option, one.author, one.truth) for one in tried] == [
        ("A", "person", "true"),
        ("B", "lexical", "false"),
        ("C", "", "open"),
        ("D", "", "open"),
    ]
    lines = list(claim_lines(asked, tried, proofs=True))
    assert "  TRUE: `timeout` is a parameter of `lanterns.Lamp`" in lines
    assert "    person, parameter, necessary" in lines
    assert "    DISPUTED = 'timeout'" in lines or '    DISPUTED = "timeout"' in lines
    assert lines[-1] == "  no claim: it is derived from other options"


SUITE = """\
target: current:pydantic
benchmarks:
  - id: frozen
    question: May the fields of a model be assigned to?
    options:
      A: Yes, unless it is `frozen`.
      B: Only with `model_setattr`.
      C: None of the above
    correct_answer: A
"""
CLAIMS = """\
claims:
  frozen:
    A: {kind: runs, relation: equivalent, setup: "import pydantic\\nclass M(pydantic.BaseModel):\\n    x: int\\nm = M(x=1)", code: "m.x = 2"}
    B: {kind: member, subject: pydantic.BaseModel, value: model_setattr}
"""  # noqa: E501 - as one writes it


def test_the_command_tries_claims_and_verify_uses_them(assay: Command, tmp_path: Path) -> None:
    suite = tmp_path / "suite.yaml"
    suite.write_text(SUITE)
    (tmp_path / "suite.claims.yaml").write_text(CLAIMS)
    shown = assay("questions", "claim", f"{suite}::frozen", "--json", cwd=Path.cwd())
    assert shown.returncode == 0, shown.stderr
    tried = {one["option"]: one for one in json.loads(shown.stdout)["claims"]}
    assert (tried["A"]["truth"], tried["B"]["truth"]) == ("true", "false")
    assert tried["A"]["author"] == "person"
    assert "def test_" in tried["A"]["proof"]
    assert tried["C"]["claim"] is None

    other = "{kind: member, subject: pydantic.BaseModl, value: model_setattr}"
    arguments = ("questions", "claim", f"{suite}::frozen", "--option", "B", "--claim", other)
    shown = assay(*arguments, cwd=Path.cwd())
    assert "  OPEN: " in shown.stdout
    assert "did you mean `pydantic.BaseModel`" in shown.stdout
    assert "A: " not in shown.stdout

    run = assay("questions", "verify", str(suite), "--json", cwd=Path.cwd())
    assert run.returncode == 0, run.stdout + run.stderr
    assert not (tmp_path / "proofs").exists()
    (tmp_path / "suite.claims.yaml").write_text(CLAIMS.replace("kind: member", "kind: membre"))
    run = assay("questions", "verify", str(suite), cwd=Path.cwd())
    assert run.returncode == 2
    assert "suite.claims.yaml:4" in run.stderr
    assert "did you mean 'member'?" in run.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--claim", "{kind: runs, code: x}"), "--claim needs --option"),
        (("--option", "Z"), "there is no option 'Z'"),
        (("--option", "A", "--claim", "{kind: rums, code: x}"), "`kind` cannot be 'rums'"),
        (("--option", "A", "--claim", "{kind: runs, code: ["), "is not valid YAML"),
        (("--option", "A", "--claim", "hello"), "`it` must be a mapping"),
    ],
)
def test_the_command_refuses_wrong_input(
    assay: Command, tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    suite = tmp_path / "suite.yaml"
    suite.write_text(SUITE)
    result = assay("questions", "claim", f"{suite}::frozen", *arguments, cwd=Path.cwd())
    assert result.returncode == 2
    assert told in result.stderr


SHOP = "lanterns.shop.Shop"


def annotated(parameter: str | None, value: str, subject: str = SHOP) -> kinds.AnnotationIs:
    return kinds.AnnotationIs(
        subject=subject, parameter=parameter, value=value, relation=Relation.EQUIVALENT
    )


def nature(member: str, value: Any) -> kinds.IsOfNature:
    return kinds.IsOfNature(subject=SHOP, member=member, value=value, relation=Relation.EQUIVALENT)


@pytest.mark.parametrize(
    ("claim", "truth"),
    [
        (annotated("lamps", "list[Lamp] | None"), "true"),
        (annotated("lamps", "Optional[List[Lamp]]"), "true"),
        (annotated("lamps", "dict"), "false"),
        pytest.param(annotated("lamps", "list[Lamp]"), "open", id="a-part-of-the-type"),
        (annotated("limit", "int"), "true"),
        (annotated("name", "int"), "false"),
        (annotated(None, "list[str]", f"{SHOP}.stock"), "true"),
        (annotated(None, "int", f"{SHOP}.stock"), "false"),
        (nature("open", "class method"), "true"),
        (nature("price", "class method"), "false"),
        (nature("price", "static method"), "true"),
        (nature("deliver", "asynchronous"), "true"),
        (nature("stock", "asynchronous"), "false"),
        (nature("address", "property"), "true"),
        (kinds.ConstantIs(subject="lanterns.shop.Wick.COTTON", value="cotton"), "true"),
        (kinds.ConstantIs(subject="lanterns.shop.Wick.COTTON", value="glass"), "false"),
    ],
)
def test_kinds_that_no_sentence_leads_to(bench: Bench, claim: kinds.TypedClaim, truth: str) -> None:
    asked = question("What is so?", "This.", "That.")
    tried = {one.option: one for one in bench.attempt(asked, {"A": [claim]})}["A"]
    assert tried.truth == truth, tried.reason
