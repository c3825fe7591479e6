"""Grounds and author of every finding, in the record and wherever it is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.model import CaseRecord
from assay.questions.advice import advise
from assay.questions.authorship import Source, author_of
from assay.questions.examination import OUTDATED, Examination, _is_open, to_stored
from assay.questions.model import Key, Question, SuiteEntry
from assay.questions.proof_runners import NO_PACKAGE
from assay.questions.proofs.claims import Claim, Grounds, Proof, Relation
from assay.questions.proofs.proving import Trial
from assay.questions.proofs.store import ProofStore
from assay.questions.records import question_record
from assay.questions.show import question_lines, select_code
from assay.questions.verdict.option_findings import Settled, Truth, combine
from assay.questions.verdict.stems import classify
from assay.questions.verdict.verdict import answers_of, judge
from assay.reports import Paint, format_names, get_format, render_case, render_report
from assay.runs import Run
from tests.reports.conftest import Make

SOURCE = '''\
"""Option {option}: `Field` takes `{name}`."""

import dis
import inspect
import pydantic

DISPUTED = "{name}"
SETUP = """
a = 1
b = 2
"""
REACHED = []


def names(owner):
    REACHED.append(dis)
    return set(inspect.signature(owner).parameters)


def test_option_{option}_holds():
    assert DISPUTED in names(pydantic.Field)


def test_option_{option}_fails():
    assert DISPUTED not in names(pydantic.Field)
'''
NAMES = {"A": "alias", "B": "other", "C": "third"}
STEM = "Which parameter does `Field` take?"


def make_trial(
    option: str,
    truth: Truth,
    prover: str = "lexical",
    *,
    relation: Relation = Relation.EQUIVALENT,
    grounds: Grounds = Grounds.EXECUTED,
    model: str = "",
    twin: str = "",
) -> Trial:
    name = NAMES.get(option, "field")
    statement = f"`Field` takes `{name}`"
    claim = Claim(option, statement, relation, "member", grounds, twin=twin, model=model)
    source = SOURCE.format(option=option or "whole", name=name)
    proof = Proof(claim, f"test_option_{option or 'whole'}.py", source, prover)
    return Trial(proof, Settled(claim, truth, "it timed out" if truth is Truth.OPEN else ""))


def make_record(*trials: Trial, whole: tuple[Trial, ...] = (), stem: str = STEM) -> CaseRecord:
    question = Question("one", stem, dict(NAMES))
    by_option = {
        one: [trial for trial in trials if trial.proof.claim.option == one] for one in NAMES
    }
    findings = {one: combine(t.settled for t in some) for one, some in by_option.items()}
    examination = Examination(by_option, findings, whole=whole)
    read = classify(stem)
    judgement = judge(question, read, findings, "A", [one.settled for one in whole])
    entry = SuiteEntry(question, Key("A"), Path("suite.yaml"))
    told = answers_of(question, read, findings)
    return question_record("suite.yaml::one", entry, question, examination, told, judgement)


def read_sources(record: CaseRecord) -> dict[str, tuple[str, str]]:
    detail: Any = record.detail
    found = {"": detail, **detail["options"]}
    return {name: (one["grounds"], one["author"]) for name, one in found.items()}


TRUE, FALSE, OPEN = Truth.TRUE, Truth.FALSE, Truth.OPEN


@pytest.mark.parametrize(
    ("prover", "model", "author"),
    [
        ("lexical", "", "program"),
        ("introspection", "", "program"),
        ("core", "", "program"),
        ("graphs", "", "program graphs"),
        ("modelled", "tern-2", "model tern-2"),
        ("modelled", "", "model"),
        ("written", "", "person"),
        ("person", "", "person"),
    ],
)
def test_every_prover_is_an_author(prover: str, model: str, author: str) -> None:
    assert author_of(make_trial("A", TRUE, prover, model=model).proof) == author


def test_a_verdict_has_the_authors_of_all_it_rests_on() -> None:
    record = make_record(
        make_trial("A", TRUE, "written"),
        make_trial("B", FALSE),
        make_trial("C", FALSE, "modelled", model="tern-2"),
    )
    assert read_sources(record) == {
        "": ("executed", "model tern-2, person, program"),
        "A": ("executed", "person"),
        "B": ("executed", "program"),
        "C": ("executed", "model tern-2"),
    }
    assert record.reason.endswith("(executed, by model tern-2 and a person and a program)")


def test_an_accusation_has_only_the_authors_of_what_refutes_the_key() -> None:
    record = make_record(make_trial("A", FALSE, "written"), make_trial("B", TRUE))
    assert read_sources(record)[""] == ("executed", "person")


def test_documentation_and_survival_are_grounds_of_their_own() -> None:
    rivals = make_trial("B", FALSE), make_trial("C", FALSE)
    documented = make_record(make_trial("A", TRUE, grounds=Grounds.DOCUMENTED), *rivals)
    assert read_sources(documented)[""] == ("documented", "program")
    assert read_sources(documented)["A"] == ("documented", "program")
    survivor = make_record(make_trial("A", TRUE, relation=Relation.NECESSARY), *rivals)
    assert survivor.code == "only-survivor"
    assert read_sources(survivor)[""] == ("survivor", "program")
    assert read_sources(survivor)["A"] == ("survivor", "program")


def test_what_is_open_has_neither_grounds_nor_author() -> None:
    record = make_record(make_trial("A", OPEN, "written"), make_trial("B", FALSE))
    assert read_sources(record)[""] == ("", "")
    assert read_sources(record)["A"] == ("", "")
    assert "(" not in record.reason


def test_a_premise_that_is_missing_and_twins_have_their_own_author() -> None:
    premise = make_trial("", FALSE, "graphs", relation=Relation.PREMISE)
    missing = make_record(make_trial("A", TRUE, "written"), whole=(premise,))
    assert read_sources(missing)[""] == ("executed", "program graphs")
    twin = make_trial("A", TRUE, relation=Relation.TWIN, twin="B")
    same = make_record(make_trial("A", TRUE, "written"), whole=(twin,))
    assert same.code == "same-answer"
    assert read_sources(same)[""] == ("executed", "program")
    detail: Any = same.detail
    assert detail["whole"][0]["options"] == ["A", "B"]


def test_the_name_of_a_model_is_stored_and_bound_with_its_proof(tmp_path: Path) -> None:
    question = Question("one", STEM, dict(NAMES))
    store = ProofStore(tmp_path / "suite.yaml")
    trials = make_trial("A", TRUE, "modelled", model="tern-2"), make_trial("B", FALSE)
    store.save(question, [to_stored(one) for one in trials], "pydantic==2\n")
    first, second = store.load(question)
    assert (author_of(first.proof), author_of(second.proof)) == ("model tern-2", "program")
    file = store.folder(question) / "proof.json"
    text = file.read_text()
    assert text.count('"model"') == 1
    file.write_text(text.replace("tern-2", "crow-1"))
    assert [one.changes for one in store.inspect(question)] == [("claim",), ()]


# --- Every report ------------------------------------------------------------------------------


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    maker = Make(tmp_path / "runs")
    yield maker
    maker.close()


@pytest.fixture
def run(make: Make) -> Run:
    wrong = make_record(
        make_trial("A", FALSE, "modelled", model="tern-2"), make_trial("B", TRUE, "written")
    )
    unproven = make_record(make_trial("A", OPEN), make_trial("B", FALSE, "graphs"))
    records = [wrong, unproven.model_copy(update={"id": "suite.yaml::two"})]
    return make.run(records, subject="questions")


FORMATS = [name for name in format_names() if not get_format(name).is_binary]


@pytest.mark.parametrize("name", FORMATS)
def test_every_report_shows_grounds_and_authors(run: Run, name: str) -> None:
    text = b"".join(render_report(run, name)).decode()
    for told in ("executed", "model tern-2", "person", "program graphs"):
        assert told in text, told
    assert "assay questions claim suite.yaml::one" in text


def test_sarif_has_them_as_properties(run: Run) -> None:
    document = json.loads(b"".join(render_report(run, "sarif")))
    wrong = document["runs"][0]["results"][0]
    assert wrong["properties"]["grounds"] == "executed"
    assert wrong["properties"]["author"] == "model tern-2"
    assert wrong["properties"]["options"]["B"] == {
        "state": "HOLDS",
        "grounds": "executed",
        "author": "person",
    }


def test_a_terminal_tells_each_option_once(run: Run) -> None:
    text = b"".join(render_report(run, "terminal")).decode()
    first = text.partition("suite.yaml::two")[0]
    assert first.count("HOLDS (executed, by a person): `Field` takes `alias`") == 0
    assert first.count("HOLDS (executed, by a person): `Field` takes `other`") == 1
    assert first.count("FAILS (executed, by model tern-2)") == 1


# --- One question ------------------------------------------------------------------------------


def show(record: CaseRecord, **given: Any) -> str:
    return "\n".join(question_lines(record, Paint(), **given))


def test_the_verdict_comes_first_and_each_option_once() -> None:
    record = make_record(
        make_trial("A", TRUE), make_trial("B", FALSE, "written"), make_trial("C", FALSE)
    )
    text = show(record)
    assert text.index("Valid: ") < text.index(STEM) < text.index("A  alias")
    assert "Valid: A holds, and no other option does (executed, by a person and a program)" in text
    for letter, name in NAMES.items():
        assert text.count(f"\n{letter}  {name}") == 1
        assert text.count(f"`Field` takes `{name}`") == 1
    assert "   FAILS (executed, by a person)\n   claim: `Field` takes `other` (" in text
    assert text.count("FAILS") == 2


def test_code_is_shown_as_code_and_helpers_never() -> None:
    record = make_record(make_trial("A", TRUE), make_trial("B", FALSE), make_trial("C", FALSE))
    text = show(record)
    assert '   │ DISPUTED = "alias"\n' in text
    assert "   │     assert DISPUTED in names(pydantic.Field)\n" in text
    assert "def names" not in text
    assert "import dis" not in text
    assert text.count("a = 1") == 1, "a long constant is repeated"
    assert text.count("SETUP = …  # as above") == 2
    assert "   helpers: 4 lines, in test_option_A.py\n" in text
    assert "DISPUTED" not in show(record, proofs=False)


def test_the_file_of_helpers_is_the_stored_one(tmp_path: Path) -> None:
    (tmp_path / "test_option_A.py").write_text("")
    text = show(make_record(make_trial("A", TRUE), make_trial("B", FALSE)), folder=tmp_path)
    lines = [line for line in text.split("\n") if "helpers:" in line]
    assert lines[0].endswith(f"{tmp_path.name}/test_option_A.py")
    assert lines[1].endswith("in test_option_B.py (not stored yet)")


@pytest.mark.parametrize(
    ("source", "code", "helpers"),
    [
        ("not python (", "not python (", 0),
        (
            "x = 1\r\ndef test_a_holds():\r\n    pass\r\n",
            "x = 1\n\ndef test_a_holds():\n    pass",
            0,
        ),
        ("@cache\ndef help():\n    pass\nDISPUTED = 1\nx = 2\n", "DISPUTED = 1", 4),
        ("async def test_b_holds():\n    '\x0c'\n", "async def test_b_holds():\n    '\x0c'", 0),
        ("", "", 0),
    ],
)
def test_any_source_can_be_selected_from(source: str, code: str, helpers: int) -> None:
    assert select_code(source, set()) == (code, helpers)


def test_premises_and_twins_are_named_as_such() -> None:
    premise = make_trial("", TRUE, relation=Relation.PREMISE)
    twin = make_trial("A", TRUE, relation=Relation.TWIN, twin="B")
    text = show(make_record(make_trial("A", TRUE), whole=(premise, twin)))
    assert "takes for granted: `Field` takes `field` (member, premise; executed, by a" in text
    assert "the same thing: `Field` takes `alias` (member, twin; executed, by a program): " in text


def test_a_record_of_an_earlier_version_is_still_shown(make: Make) -> None:
    record = make_record(make_trial("A", TRUE, grounds=Grounds.DOCUMENTED), make_trial("B", FALSE))
    detail: Any = json.loads(json.dumps(record.detail))
    for one in (detail, *detail["options"].values()):
        del one["author"]
    del detail["grounds"]
    detail.pop("advice")
    detail["options"]["B"]["grounds"] = "executed"
    for option in detail["options"].values():
        for proof in option["proofs"]:
            del proof["grounds"], proof["author"]
    old = record.model_copy(update={"detail": detail})
    assert "HOLDS (documented)" in show(old)
    assert "by a" not in show(old)
    run = make.run([old], subject="questions")
    for name in FORMATS:
        assert b"".join(render_report(run, name)), name
    assert "HOLDS (documented)" in render_case(run, next(iter(run.rows())))


def test_a_case_of_a_run_is_shown_like_the_question(run: Run) -> None:
    text = render_case(run, run.row("suite.yaml::one"))
    assert text.index("Incorrect: ") < text.index(STEM)
    assert "   │     assert DISPUTED in names(pydantic.Field)\n" in text
    assert "def names" not in text
    assert "took " in text


# --- What would settle it ------------------------------------------------------------------------


def advice_of(*trials: Trial, **options: str) -> str:
    """Return the advice on a question whose options have these texts."""
    question = Question("it's", STEM, {**NAMES, **options})
    findings = {
        one: combine(t.settled for t in trials if t.proof.claim.option == one) for one in NAMES
    }
    judgement = judge(question, classify(STEM), findings, "A")
    told = answers_of(question, classify(STEM), findings)
    return advise("suite.yaml::it's", question, "A", told, judgement)


PLACE = "'suite.yaml::it'\"'\"'s'"


def test_advice_depends_on_why_a_question_is_open() -> None:
    rivals = make_trial("B", FALSE), make_trial("C", FALSE)
    prose = advice_of(*rivals, A="It is faster in most cases")
    assert f"assay questions verify {PLACE} --model NAME" in prose
    assert f"assay questions prove {PLACE} --option A --file test_option_A.py" in prose
    assert "questions claim" not in prose
    name = advice_of(*rivals, A="the `alias` one")
    assert f"assay questions claim {PLACE}" in name
    assert "--model" not in name
    rival = advice_of(make_trial("A", TRUE), make_trial("B", FALSE))
    assert "a claim about C: " in rival
    torn = advice_of(make_trial("A", Truth.BOTH), *rivals)
    assert torn.endswith(f"assay questions prove {PLACE} --option A --remove")
    assert advice_of(make_trial("A", TRUE), *rivals) == ""


def test_an_outdated_proof_and_a_missing_target_are_named() -> None:
    trial = make_trial("A", OPEN)
    outdated = OUTDATED
    stale = replace(trial, settled=replace(trial.settled, reason=outdated))
    assert advice_of(stale).endswith(f"assay questions prove {PLACE} --option A --accept")
    nowhere = NO_PACKAGE
    lost = replace(trial, settled=replace(trial.settled, reason=nowhere))
    assert "--target REQUIREMENT" in advice_of(lost)


def test_the_advised_options_exist() -> None:
    """Every command and option in the advice is one of the command line."""
    from assay.cli.questions import COMMANDS

    rivals = make_trial("B", FALSE), make_trial("C", FALSE)
    told = [
        advice_of(*rivals, A="It is faster in most cases"),
        advice_of(make_trial("A", Truth.BOTH), *rivals),
        advice_of(make_trial("A", OPEN)),
    ]
    for verb, rest in re.findall(r"assay questions (\w+) ([^:,]*(?:::[^,]*)?)", " ".join(told)):
        if verb == "claim" and verb not in COMMANDS:
            continue
        module, _, name = COMMANDS[verb][0].partition(":")
        command = getattr(__import__(module, fromlist=[name]), name)
        known = {option for one in command.params for option in one.opts}
        assert set(re.findall(r"--[a-z-]+", rest)) <= known


def test_sources_read_well() -> None:
    assert str(Source("executed", "program")) == "executed, by a program"
    assert str(Source("executed", "model")) == "executed, by a model"
    assert str(Source("", "program")) == "by a program"
    assert Source().in_brackets == ""


def test_a_model_is_asked_about_what_holds_only_as_documented_beside_another() -> None:
    documented = make_trial("A", TRUE, grounds=Grounds.DOCUMENTED)
    rival = make_trial("B", TRUE)
    options = list(NAMES)
    assert _is_open([documented, rival], "A", options, "modelled")
    assert not _is_open([documented, rival], "A", options, "lexical")
    assert not _is_open([documented, rival], "B", options, "modelled")
    # Alone it confirms the key, and asking would cost a call.
    assert not _is_open([documented, make_trial("B", FALSE)], "A", options, "modelled")
    assert _is_open([documented, rival], "C", options, "lexical")
