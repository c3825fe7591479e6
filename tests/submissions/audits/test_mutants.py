"""Mutants: of every kind where there is something to change, wrong in substance, few, the same."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.model import CaseResult
from assay.submissions.audits.changes import MutationKind
from assay.submissions.audits.mutants import (
    MOST_OF_A_CASE,
    ResultMutant,
    fingerprint_content,
    mutants,
    read_form,
)
from assay.submissions.audits.probes import probes
from assay.submissions.cases import APIResult, CLIResult

# Each example is a whole set of mutants, so that a few say much.
FEW = settings(max_examples=40, deadline=None)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.floats(allow_nan=False, allow_infinity=False, width=32)
    | st.text(max_size=12)
)
trees = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)
contents = st.text(max_size=60) | st.binary(max_size=60) | trees | trees.map(json.dumps)


def cli(output: Any, **fields: Any) -> CLIResult:
    return CLIResult(id="one", group="core", output=output, **fields)


def kinds(found: list[ResultMutant], attribute: str = "output") -> set[MutationKind]:
    return {one.kind for one in found if one.attribute == attribute}


def outputs(found: list[ResultMutant], kind: MutationKind) -> list[Any]:
    return [one.result.output for one in found if one.kind is kind and one.attribute == "output"]


@given(contents, st.dictionaries(st.text(min_size=1, max_size=8), contents, max_size=3))
@FEW
def test_every_mutant_says_something_else_and_the_original_is_left_alone(
    output: Any, files: dict[str, Any]
) -> None:
    right = APIResult(id="one", group="core", status_code=200, output=output, files=files)
    before = right.model_dump_json()
    for mutant in mutants(right):
        there, here = mutant.result.attributes(), right.attributes()
        changed = {
            name
            for name in here | there
            if name not in there
            or fingerprint_content(here[name]) != fingerprint_content(there[name])
        }
        assert changed == {mutant.attribute}
    assert right.model_dump_json() == before


@given(contents)
@FEW
def test_mutants_are_few_and_the_same_every_time(output: Any) -> None:
    right = cli(output, files={str(number): output for number in range(20)})
    found = mutants(right)
    assert len(found) <= MOST_OF_A_CASE
    assert [(one.label, one.result) for one in found] == [
        (one.label, one.result) for one in mutants(right)
    ]


@given(contents)
@FEW
def test_what_was_text_stays_text_and_what_was_bytes_stays_bytes(output: Any) -> None:
    for mutant in mutants(cli(output)):
        if isinstance(output, str | bytes):
            assert type(mutant.result.output) is type(output)


@given(contents)
@FEW
def test_a_form_writes_what_it_read(value: Any) -> None:
    form = read_form(value)
    assert fingerprint_content(form.write(form.tree)) == fingerprint_content(value)


@given(contents, contents)
@FEW
def test_what_differs_by_itself_is_left_alone(first: Any, second: Any) -> None:
    """A leaf that the second run has otherwise is never the only thing a mutant changes."""
    again = {"steady": 1, "stamp": second}
    found = mutants(
        CaseResult(id="one", group="core", output={"steady": 1, "stamp": first}),
        CaseResult(id="one", group="core", output=again),
    )
    values = [one for one in found if one.kind is MutationKind.WRONG_VALUE]
    if first != second and not isinstance(first, dict | list):
        assert not [one for one in values if one.place == "stamp"]
    assert [one for one in values if one.place == "steady"]


def test_json_in_text_is_mutated_in_what_it_says_and_keeps_its_style() -> None:
    text = json.dumps({"name": "ann", "age": 41, "tags": ["a", "b"]}, indent=2) + "\n"
    found = mutants(cli(text))
    assert kinds(found) == {
        MutationKind.WRONG_VALUE,
        MutationKind.MISSING_KEY,
        MutationKind.EXTRA_KEY,
        MutationKind.MISSING_ELEMENT,
        MutationKind.EXTRA_ELEMENT,
        MutationKind.TYPE_CHANGE,
        MutationKind.REORDERED,
        MutationKind.OFF_BY_ONE,
        MutationKind.TRUNCATED,
    }
    assert '"age": 42' in outputs(found, MutationKind.OFF_BY_ONE)[0]
    for output in outputs(found, MutationKind.WRONG_VALUE):
        assert output == json.dumps(json.loads(output), indent=2) + "\n"
    missing = [set(json.loads(output)) for output in outputs(found, MutationKind.MISSING_KEY)]
    assert missing == [{"age", "tags"}, {"name", "tags"}, {"name", "age"}]


def test_lines_of_json_stay_lines_of_json() -> None:
    found = mutants(cli('{"n":1}\n{"n":2}\n'))
    swapped = outputs(found, MutationKind.REORDERED)
    assert swapped == ['{"n":2}\n{"n":1}\n']
    assert '{"n":1}\n{"n":3}\n' in outputs(found, MutationKind.OFF_BY_ONE)


def test_a_table_loses_a_whole_column_and_its_rows_change_places() -> None:
    found = mutants(cli("", files={"out.csv": b"name,count\r\nann,1\r\nbob,2\r\n"}))
    tables = {
        kind: [
            list(csv.DictReader(io.StringIO(one.result.attributes()["files-out.csv"].decode())))
            for one in found
            if one.kind is kind
        ]
        for kind in (MutationKind.MISSING_KEY, MutationKind.REORDERED, MutationKind.OFF_BY_ONE)
    }
    assert tables[MutationKind.MISSING_KEY] == [
        [{"count": "1"}, {"count": "2"}],
        [{"name": "ann"}, {"name": "bob"}],
    ]
    assert tables[MutationKind.REORDERED] == [[
        {"name": "bob", "count": "2"}, {"name": "ann", "count": "1"},
    ]]  # fmt: skip
    assert tables[MutationKind.OFF_BY_ONE][0][0] == {"name": "ann", "count": "2"}


def test_equal_elements_in_another_order_and_blank_lines_are_no_mutants() -> None:
    assert not outputs(mutants(cli(json.dumps([7, 7, 7]))), MutationKind.REORDERED)
    for mutant in mutants(cli("one\n\n\n")):
        if mutant.attribute == "output":
            assert mutant.result.output.split() != ["one"]


def test_a_number_in_a_line_of_text_is_off_by_one() -> None:
    found = mutants(cli("total: 9 of 12\n"))
    assert outputs(found, MutationKind.OFF_BY_ONE) == ["total: 9 of 13\n"]


@pytest.mark.parametrize(
    ("result", "statuses"),
    [
        (cli("", status_code=0), [1]),
        (cli("", status_code=1), [0, 2]),
        (cli("", status_code=3), [0, 1]),
        (APIResult(id="one", group="core", status_code=200), [500, 201]),
        (APIResult(id="one", group="core", status_code=201), [500, 200]),
        (APIResult(id="one", group="core", status_code=404), [200, 418]),
    ],
)
def test_a_wrong_status_is_of_the_other_sort_then_of_the_same(
    result: CaseResult, statuses: list[int]
) -> None:
    found = [one for one in mutants(result) if one.kind is MutationKind.WRONG_STATUS]
    assert [one.result.status_code for one in found] == statuses


def test_files_go_missing_one_by_one_and_change_one_by_one() -> None:
    found = mutants(cli("", files={"a.txt": "alpha\n", "b.bin": b"\xff\x00\x01\x02"}))
    missing = [one.result.files for one in found if one.kind is MutationKind.MISSING_FILE]
    assert missing == [{"b.bin": b"\xff\x00\x01\x02"}, {"a.txt": "alpha\n"}]
    assert kinds(found, "files-b.bin") == {
        MutationKind.MISSING_FILE, MutationKind.WRONG_VALUE, MutationKind.TRUNCATED,
    }  # fmt: skip


def test_a_file_that_is_judged_though_it_is_not_there_appears() -> None:
    found = mutants(cli("", files={"a.txt": "a"}), also={"files-a.txt", "files-b.txt"})
    appeared = [one.result.files for one in found if one.kind is MutationKind.UNEXPECTED_FILE]
    assert appeared == [{"a.txt": "a", "b.txt": "unexpected\n"}]


def test_a_place_is_told_as_a_person_would() -> None:
    lines = {
        one.place for one in mutants(cli("one\ntwo 2\n")) if one.kind is MutationKind.OFF_BY_ONE
    }
    tree = {"rows": [{"price": 2}, {"price": 3}]}
    rows = {
        one.place for one in mutants(cli(json.dumps(tree))) if one.kind is MutationKind.OFF_BY_ONE
    }
    assert (lines, rows) == ({"line 2"}, {"rows[0].price", "rows[1].price"})


def test_only_what_a_verifier_looks_at_is_mutated_beside_output_status_and_files() -> None:
    right = cli("out\n", stderr="warn\n")
    assert "stderr" not in Counter(one.attribute for one in mutants(right))
    assert kinds(mutants(right, also={"stderr"}), "stderr") >= {
        MutationKind.WRONG_VALUE,
        MutationKind.TRUNCATED,
    }


def test_the_digest_of_a_binary_answer_follows_its_mutation() -> None:
    right = APIResult(
        id="one", group="core", status_code=200, output=b"\xff\xfe", binary_response=True,
        binary_response_size=2, binary_response_hash="of the original",
    )  # fmt: skip
    for mutant in mutants(right):
        if mutant.attribute == "output":
            found = mutant.result.attributes()
            assert found["binary_response_hash"] != "of the original"
            assert found["binary_response_size"] == len(found["output"])


@given(contents, contents)
@FEW
def test_probes_can_be_made_of_anything(output: Any, stated: Any) -> None:
    right = cli(output, stderr="", files={"a": output})
    expected = cli(stated, message="never say this")
    found = dict(probes(right, expected.given()))
    assert found["nothing at all"].files == {}
    assert "never say this" in str(found["words about errors added"].stderr)
    assert found["all of it wrong"].timed_out
