"""The audit of problems in memory: every defect is found, a good verifier is not accused."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from assay.errors import InfrastructureError
from assay.model import CaseResult, VerificationResult
from assay.submissions.audits import find_problems
from assay.submissions.audits.audit import read_vocabulary
from assay.submissions.audits.changes import MutationKind
from assay.submissions.audits.findings import count_kinds
from assay.submissions.cases import BaseCase
from assay.submissions.protocols import ExpectedCase
from assay.submissions.request import Filter
from tests.submissions.audits.audit_support import (
    Memory,
    Verifier,
    audited,
    case,
    codes,
    found_in,
    result,
    same,
    strict,
)

ANSWER = {"name": "ann", "rows": [{"id": 1, "price": 2.5}, {"id": 2, "price": 4.0}], "total": 6.5}
Found = dict[str, VerificationResult]


def program(case: BaseCase) -> dict[str, Any]:
    return {
        "output": json.dumps(ANSWER), "status_code": 0, "stderr": "", "files": {"a.txt": "alpha\n"},
    }  # fmt: skip


def expected(**fields: Any) -> CaseResult:
    return result(**{"output": ANSWER, "status_code": 0, "files": {"a.txt": "alpha\n"}, **fields})


def memory(verifier: Verifier = strict, **fields: Any) -> Memory:
    wanted = fields.pop("expected", expected())
    drawn = [ExpectedCase(case(name), wanted) for name in fields.pop("cases", ("one", "two"))]
    return Memory(drawn, fields.pop("program", program), verifier, **fields)


def test_a_strict_verifier_rejects_every_mutant_and_nothing_is_said_against_it() -> None:
    good = memory()
    group = audited(good)
    assert find_problems([group]) == []
    assert group.score == 1.0
    assert [one.is_tried for one in group.cases] == [True, True]
    assert {
        MutationKind.WRONG_VALUE,
        MutationKind.REORDERED,
        MutationKind.MISSING_FILE,
        MutationKind.WRONG_STATUS,
    } <= set(count_kinds(group.cases))
    assert group.cases[0].unjudged == ()


def test_a_reference_that_is_wrong_is_named_with_what_is_wrong() -> None:
    group = audited(memory(program=lambda case: {**program(case), "status_code": 3}))
    (finding,) = find_problems([group])
    assert finding.sort.code == "reference-fails"
    assert finding.cases == {"one": "wrong: status_code", "two": "wrong: status_code"}


def test_a_reference_that_is_right_only_once_is_flaky_and_its_attribute_is_named() -> None:
    runs = itertools.count()

    def restless(case: BaseCase) -> dict[str, Any]:
        return {**program(case), "status_code": next(runs) % 2}

    (finding,) = find_problems([audited(memory(program=restless, cases=["one"]))])
    assert finding.sort.code == "flaky"
    assert finding.cases == {"one": "judged differently: status_code"}


def test_what_differs_by_itself_is_not_held_against_a_verifier_that_passes_over_it() -> None:
    runs = itertools.count()

    def stamped(case: BaseCase) -> dict[str, Any]:
        return {**program(case), "output": json.dumps({"n": 1, "at": f"{next(runs)} o'clock"})}

    def verifier(actual: CaseResult, expected: CaseResult) -> Found:
        try:
            said = json.loads(actual.output)
            output = {**said, "at": isinstance(said["at"], str)}
        except (ValueError, KeyError, TypeError):
            output = None
        found = strict(actual, expected)
        return {**found, "output": same(output, expected.output)}

    group = audited(
        memory(verifier, program=stamped, expected=expected(output={"n": 1, "at": True}))
    )
    assert find_problems([group]) == []
    assert group.score == 1.0
    assert group.cases[0].restless == ("output",)


def test_doing_nothing_must_not_pass() -> None:
    def by_status(actual: CaseResult, expected: CaseResult) -> Found:
        return {"status_code": same(actual.status_code, expected.status_code)}

    found = found_in(memory(by_status, expected=result(status_code=0)))
    assert found == {("do-nothing-passes", "")}


def test_a_pattern_that_takes_everything_never_fails_and_says_what_it_gives_away() -> None:
    def generous(actual: CaseResult, expected: CaseResult) -> Found:
        is_correct = bool(re.match(".*", str(actual.stderr), re.DOTALL))
        found = VerificationResult.create({"matched": actual.stderr}, is_correct, 0.9)
        return {**strict(actual, expected), "stderr": found}

    (finding,) = find_problems([audited(memory(generous))])
    assert (finding.sort.code, finding.subject) == ("never-fails", "stderr")
    assert finding.cases["one"] == "23% of the weight"


@pytest.mark.parametrize(
    "check",
    [
        lambda actual: "Traceback" not in str(actual.stderr),
        lambda actual: not re.search("warn|fail", str(actual.output), re.IGNORECASE),
        lambda actual: not actual.timed_out,
        lambda actual: actual.elapsed < 60,
        lambda actual: actual.status_code >= 0,
        lambda actual: len(str(actual.output)) > 5,
        lambda actual: len(actual.files) == 1,
        lambda actual: "secret word" not in str(actual.output),
    ],
)
def test_a_check_that_fails_only_on_something_special_is_not_accused(check: Any) -> None:
    def verifier(actual: CaseResult, expected: CaseResult) -> Found:
        special = VerificationResult.create("told", bool(check(actual)))
        assert isinstance(expected.__pydantic_extra__, dict)
        forbidden = expected.__pydantic_extra__["forbidden"] in str(actual.output)
        found = {"forbidden": VerificationResult.create("told", not forbidden)}
        return {**strict(actual, expected), "special": special, **found}

    assert found_in(memory(verifier, expected=expected(forbidden="secret word"))) == set()


def test_a_key_that_names_nothing_and_never_changes_compares_nothing() -> None:
    def verifier(actual: CaseResult, expected: CaseResult) -> Found:
        return {**strict(actual, expected), "quality": VerificationResult.create("fine", True)}

    assert found_in(memory(verifier)) == {("compares-nothing", "quality")}


def test_a_misspelt_key_is_named_with_the_attribute_that_lost_its_judgement() -> None:
    def verifier(actual: CaseResult, expected: CaseResult) -> Found:
        found = strict(actual, expected)
        return {"file-a.txt": found.pop("files-a.txt"), **found}

    (finding,) = find_problems([audited(memory(verifier))])
    assert (finding.sort.code, finding.subject) == ("misspelt-key", "file-a.txt")
    assert finding.cases["one"] == "like files-a.txt"


def test_a_weight_that_hides_a_failure_is_found_and_many_equal_weights_are_not() -> None:
    def faint(actual: CaseResult, expected: CaseResult) -> Found:
        status = same(actual.status_code, expected.status_code, 0.01)
        return {**strict(actual, expected), "status_code": status}

    assert found_in(memory(faint)) == {("invisible-weight", "status_code")}
    files = {f"{number}.txt": f"line {number}\n" for number in range(40)}
    many = memory(
        program=lambda case: {**program(case), "files": files}, expected=expected(files=files)
    )
    assert found_in(many) == set()


def test_expected_values_that_nobody_looks_at_are_found_where_they_stand() -> None:
    def careless(actual: CaseResult, expected: CaseResult) -> Found:
        try:
            said = json.loads(actual.output)["total"]
        except (ValueError, KeyError, TypeError):
            said = None
        # What is told mentions the expected value; that is no comparison.
        told = f"expected {expected.stderr!r}"
        total = VerificationResult.create(told, said == expected.output["total"])
        return {"output": total, "status_code": same(actual.status_code, expected.status_code)}

    wanted = expected(files={}, stderr="warned\n", resource_path="asked", command="asked")
    found = found_in(memory(careless, expected=wanted))
    assert {subject for code, subject in found if code == "unread-expectation"} == {
        "stderr", "output.name", "output.rows[].id", "output.rows[].price",
    }  # fmt: skip


def test_limits_tolerances_and_options_count_as_looked_at() -> None:
    def tolerant(actual: CaseResult, expected: CaseResult) -> Found:
        options: dict[str, Any] = expected.__pydantic_extra__
        try:
            numbers, wanted = sorted(json.loads(actual.output)), sorted(expected.output)
            near = len(numbers) == len(wanted) and all(
                abs(one - other) <= options["tolerance"]
                for one, other in zip(numbers, wanted, strict=True)
            )
        except (ValueError, TypeError):
            near = False
        fast = VerificationResult.create("told", actual.elapsed <= options["limit"])
        word = VerificationResult.create("told", options["absent"] not in str(actual.output))
        found = {"output": VerificationResult.create("told", near), "elapsed": fast, "word": word}
        return {**found, "status_code": same(actual.status_code, expected.status_code)}

    wanted = result(
        output=[3, 1, 2], status_code=0, tolerance=1e-6, limit=60.0, absent="oops", remark="easy"
    )
    group = audited(
        memory(
            tolerant, expected=wanted,
            program=lambda case: {"output": "[1, 3, 2]", "status_code": 0, "stderr": ""},
        )
    )  # fmt: skip
    assert codes(find_problems([group])) == {("unread-expectation", "remark")}


def test_order_that_is_meant_not_to_count_lowers_the_score_and_is_no_finding() -> None:
    def unordered(actual: CaseResult, expected: CaseResult) -> Found:
        try:
            said = sorted(json.loads(actual.output), key=str)
        except (ValueError, TypeError):
            said = None
        found = {"output": same(said, sorted(expected.output, key=str))}
        return {**found, "status_code": same(actual.status_code, expected.status_code)}

    group = audited(
        memory(
            unordered, expected=result(output=[1, 2, 3], status_code=0),
            program=lambda case: {"output": "[3, 1, 2]", "status_code": 0, "stderr": ""},
        )
    )  # fmt: skip
    assert find_problems([group]) == []
    assert group.score is not None
    assert 0.5 < group.score < 1
    accepted = {kind for kind, (_, taken) in count_kinds(group.cases).items() if taken}
    assert accepted == {MutationKind.REORDERED}
    (low,) = find_problems([group], min_score=1.0)
    assert low.sort.code == "low-score"


def test_what_no_case_claims_to_judge_is_told_and_not_counted() -> None:
    def by_output(actual: CaseResult, expected: CaseResult) -> Found:
        return {"output": strict(actual, expected)["output"]}

    group = audited(memory(by_output, expected=result(output=ANSWER)))
    assert group.cases[0].unjudged == ("files-a.txt", "status_code")
    assert group.score == 1.0
    assert find_problems([group]) == []


def test_that_a_verifier_raises_is_no_judgement_of_what_made_it_raise() -> None:
    def by_output(actual: CaseResult, expected: CaseResult) -> Found:
        if actual.files != {"a.txt": "alpha\n"}:
            raise ZeroDivisionError("division by zero")
        return {"output": strict(actual, expected)["output"]}

    group = audited(memory(by_output, expected=result(output=ANSWER)))
    assert group.cases[0].unjudged == ("files-a.txt", "status_code")


def test_a_verifier_that_raises_on_a_wrong_result_is_found_and_does_not_pass_it() -> None:
    def brittle(actual: CaseResult, expected: CaseResult) -> Found:
        if actual.status_code == 1 or actual.output == "":
            raise ZeroDivisionError("division by zero")
        return strict(actual, expected)

    group = audited(memory(brittle))
    (finding,) = find_problems([group])
    assert finding.sort.code == "verifier-breaks"
    assert finding.cases["one"] == (
        "doing nothing: the verifier raised division by zero; output was '' (and on 1 more)"
    )
    nothing, status = group.cases[0].breaks.values()
    assert (nothing.attribute, nothing.value) == ("output", "")
    assert (status.attribute, status.value) == ("status_code", 1)
    assert group.score == 1.0


def test_a_verifier_that_always_raises_on_mutants_is_not_asked_forever() -> None:
    def hopeless(actual: CaseResult, expected: CaseResult) -> Found:
        if actual.output != json.dumps(ANSWER) or actual.status_code or len(actual.files) != 1:
            raise ZeroDivisionError("hopeless")
        return strict(actual, expected)

    short = memory(hopeless, cases=["one"])
    audited(short)
    assert short.judged < 12


def test_cases_that_depend_on_each_other_run_in_order_from_a_fresh_start_each_time() -> None:
    stateful = memory(is_stateful=True, cases=["one", "two", "three"])
    group = audited(stateful, Filter(case="t*"), jobs=4)
    assert [one.id for one in group.cases] == ["two", "three"]
    assert stateful.updates == ["one", "two", "three"] * 2
    assert stateful.most_at_once == 1


def test_independent_cases_run_a_few_at_a_time() -> None:
    many = memory(cases=[str(number) for number in range(6)])
    assert len(audited(many, jobs=3).cases) == 6
    assert many.most_at_once == 3


def test_cases_that_cannot_be_had_are_a_finding_and_those_before_are_audited() -> None:
    group = audited(memory(breaks_after=1))
    assert [one.id for one in group.cases] == ["one"]
    assert codes(find_problems([group])) == {("cases-broken", "")}


def test_trouble_of_the_machine_ends_the_audit() -> None:
    def unlucky(case: BaseCase) -> dict[str, Any]:
        raise InfrastructureError("no space left on the disk")

    with pytest.raises(InfrastructureError, match="no space"):
        audited(memory(program=unlucky))


def test_findings_can_be_ignored_by_code_by_case_and_by_subject() -> None:
    def by_status(actual: CaseResult, expected: CaseResult) -> Found:
        extra = VerificationResult.create("fine", True)
        return {"status_code": same(actual.status_code, expected.status_code), "extra": extra}

    groups = [audited(memory(by_status, expected=result(status_code=0)))]
    both = {("do-nothing-passes", ""), ("compares-nothing", "extra")}
    assert codes(find_problems(groups)) == both
    left = find_problems(groups, ignored=["do-nothing-passes"])
    assert codes(left) == {("compares-nothing", "extra")}
    kept = find_problems(groups, ignored=["do-nothing-passes=one/core/one", "compares-nothing=ex*"])
    assert [(one.sort.code, list(one.cases)) for one in kept] == [("do-nothing-passes", ["two"])]


SCHEMA = {
    "type": "object",
    "title": "a person",
    "properties": {
        "name": {"type": ["string", "null"], "description": "null if it is not known"},
        "kind": {"enum": ["person", "company"]},
        "age": {"type": "integer", "maximum": 200},
    },
    "required": ["name"],
}
PERSON = {"name": "ann", "kind": "person", "age": 7}


def about_a_person(case: BaseCase) -> dict[str, Any]:
    return {"output": json.dumps(PERSON), "status_code": 0, "stderr": ""}


def read(output: Any) -> Any:
    try:
        return json.loads(output)
    except (ValueError, TypeError):
        return None


def judged(**checks: bool) -> Found:
    return {name: VerificationResult.create("told", right) for name, right in checks.items()}


def option(expected: CaseResult, name: str) -> Any:
    return (expected.__pydantic_extra__ or {})[name]


def test_a_schema_is_read_as_a_whole_though_no_trial_needs_all_that_it_allows() -> None:
    def by_schema(actual: CaseResult, expected: CaseResult) -> Found:
        try:
            jsonschema.validate(read(actual.output), option(expected, "schema"))
        except jsonschema.ValidationError:
            return judged(output=False)
        return judged(output=True, status=actual.status_code == 0)

    wanted = result(schema=SCHEMA)
    assert found_in(memory(by_schema, program=about_a_person, expected=wanted)) == set()


def test_a_schema_that_nobody_looks_at_is_still_found() -> None:
    def careless(actual: CaseResult, expected: CaseResult) -> Found:
        return judged(output=read(actual.output) == PERSON, status=actual.status_code == 0)

    wanted = result(schema=SCHEMA)
    found = found_in(memory(careless, program=about_a_person, expected=wanted))
    assert found == {("unread-expectation", "schema")}


@pytest.mark.parametrize(
    ("options", "check"),
    [
        # A field that may be null, in words of the author's own.
        (
            {"types": {"name": ["string", "null"], "kind": ["string"], "age": ["integer"]}},
            lambda said, types: {**PERSON, **said} == said and all(
                {str: "string", int: "integer", type(None): "null"}.get(type(said[name])) in allowed
                for name, allowed in types.items()
            ),
        ),
        (
            {"fields": {"name": {"nullable": True}, "kind": {"nullable": False}}},
            lambda said, fields: all(
                fields[name].get("nullable") or said[name] is not None for name in fields
            ) and said["age"] == 7 and type(said["kind"]) is not int,
        ),
        # Alternatives of which the reference gives one.
        ({"kinds": ["person", "company"]}, lambda said, kinds: said.get("kind") in kinds),
        ({"ages": [7, 8, 9]}, lambda said, ages: said.get("age") in ages),
        ({"names": {"a": "ann", "b": "bob"}}, lambda said, names: said["name"] in names.values()),
    ],
)  # fmt: skip
def test_what_is_allowed_and_no_mutant_needs_is_not_unread(
    options: dict[str, Any], check: Any
) -> None:
    (name,) = options

    def lenient(actual: CaseResult, expected: CaseResult) -> Found:
        said = read(actual.output)
        is_object = isinstance(said, dict) and {*said} == {*PERSON}
        right = is_object and check({**PERSON, **said} if name == "types" else said,
                                    option(expected, name))  # fmt: skip
        return judged(output=bool(right), status=actual.status_code == 0)

    found = found_in(memory(lenient, program=about_a_person, expected=result(**options)))
    assert not {subject for code, subject in found if code == "unread-expectation"}


def test_of_a_list_only_the_element_is_accused_that_nobody_looks_at() -> None:
    def first_row(actual: CaseResult, expected: CaseResult) -> Found:
        said = read(actual.output)
        rows = said.get("rows") if isinstance(said, dict) else None
        first = rows[0] if isinstance(rows, list) and rows else None
        return judged(output=first == expected.output["rows"][0], status=actual.status_code == 0)

    wanted = result(output={"rows": ANSWER["rows"]})
    found = found_in(memory(first_row, expected=wanted))
    unread = {subject for code, subject in found if code == "unread-expectation"}
    assert unread == {"output.rows[1].id", "output.rows[1].price"}


def test_a_word_that_chooses_how_to_compare_is_read(tmp_path: Path) -> None:
    (tmp_path / "verifier.py").write_text("MODES = {'any order': sorted}\n")
    assert read_vocabulary(tmp_path) == ("any order",)

    def by_mode(actual: CaseResult, expected: CaseResult) -> Found:
        said, wanted = read(actual.output), [1, 2, 3]
        is_free = option(expected, "mode") == "any order"
        if is_free and isinstance(said, list):
            said = sorted(said, key=str)
        return judged(output=said == wanted, status=actual.status_code == 0)

    def unread(folder: Path) -> set[tuple[str, str]]:
        in_order = memory(
            by_mode, expected=result(mode="in order"),
            program=lambda case: {"output": "[1, 2, 3]", "status_code": 0, "stderr": ""},
        )  # fmt: skip
        return codes(find_problems([audited(in_order, folder=folder)]))

    assert unread(tmp_path) == set()


@pytest.mark.parametrize(
    "check",
    [
        lambda actual: "null" not in actual.output,
        lambda actual: None not in (read(actual.output) or {}).values(),
        lambda actual: "" not in (read(actual.output) or {}).values(),
        lambda actual: len(actual.output) < 2_000,
        lambda actual: actual.output.isascii(),
        lambda actual: "true" not in actual.output,
        lambda actual: actual.command == "main 1",
        lambda actual: actual.resource_path is None,
    ],
)
def test_a_check_for_what_no_mutant_had_is_not_accused_of_never_failing(check: Any) -> None:
    def verifier(actual: CaseResult, expected: CaseResult) -> Found:
        try:
            special = bool(check(actual))
        except (AttributeError, TypeError):
            special = True
        return {**strict(actual, expected), **judged(special=special)}

    def told(case: BaseCase) -> dict[str, Any]:
        return {**about_a_person(case), "files": {}, "command": "main 1"}

    wanted = result(output=PERSON, status_code=0)
    assert found_in(memory(verifier, program=told, expected=wanted)) == set()


def test_a_check_that_is_left_out_of_some_trials_is_not_accused_of_never_failing() -> None:
    def returns_early(actual: CaseResult, expected: CaseResult) -> Found:
        if read(actual.output) != ANSWER or actual.status_code != 0:
            return judged(output=False)
        return judged(output=True, files=bool(actual.files))

    wanted = result(output=ANSWER)
    found = found_in(memory(returns_early, expected=wanted, program=lambda case: {
        **program(case), "files": {"a.txt": "", "b.txt": "", "c.txt": "", "d.txt": ""},
    }))  # fmt: skip
    assert not {code for code, _ in found} & {"never-fails", "compares-nothing"}


def test_a_check_is_not_accused_if_the_verifier_cannot_read_the_results_that_would_show_it() -> (
    None
):
    def brittle(actual: CaseResult, expected: CaseResult) -> Found:
        if read(actual.output) is None or actual.timed_out:
            raise ZeroDivisionError("no such thing")
        return {**strict(actual, expected), **judged(in_time=not actual.timed_out)}

    found = found_in(memory(brittle))
    assert {code for code, _ in found} == {"verifier-breaks"}


def test_a_weight_is_not_invisible_if_no_failure_was_ever_hidden_by_it() -> None:
    def grows(actual: CaseResult, expected: CaseResult) -> Found:
        right = actual.status_code == expected.status_code
        status = VerificationResult.create("told", right, 0.01 if right else 50.0)
        return {**strict(actual, expected), "status_code": status}

    assert found_in(memory(grows)) == set()


def test_a_name_of_the_authors_own_is_not_misspelt_for_what_nobody_judges() -> None:
    def verifier(actual: CaseResult, expected: CaseResult) -> Found:
        return {**strict(actual, expected), **judged(commands=bool(actual.output))}

    assert found_in(memory(verifier)) == set()


def test_a_reference_whose_results_the_verifier_cannot_read_is_not_called_wrong() -> None:
    def hopeless(actual: CaseResult, expected: CaseResult) -> Found:
        raise ZeroDivisionError("hopeless")

    finding, _ = find_problems([audited(memory(hopeless, cases=["one"]))])
    assert (finding.sort.code, finding.sort.title) == (
        "reference-fails", "the reference solution does not pass",
    )  # fmt: skip
    assert finding.cases == {"one": "the verifier raised hopeless"}
