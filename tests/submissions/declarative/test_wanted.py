"""What is a check and what is a value is settled by the file; answers only ever fill values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from assay.errors import InputError
from assay.submissions.cases import APIResult
from assay.submissions.declarative.case_files import Expected
from assay.submissions.declarative.comparisons import plan_check
from assay.submissions.declarative.expectations import (
    error_path,
    fill_expectation,
    read_expectations,
)
from tests.conftest import json_values

MARK = "{{saved:x}}"
ANYTHING = {"check": "regex", "value": "(?s).*"}


def judged(expected: dict[str, Any], saved: Any, **answer: Any) -> dict[str, bool | None]:
    """What is said of an answer after an earlier one had `saved`."""
    actual = APIResult(id="a", group="g", **answer)
    wanted = [
        fill_expectation(one, {"x": saved}) for one in read_expectations(Expected(**expected))
    ]
    return {one.key: plan_check(one).result(actual).is_correct for one in wanted}


def about_id(value: Any, saved: Any, found: Any) -> bool | None:
    return judged({"checks": {"output.id": value}}, saved, output={"id": found})["output.id"]


@pytest.mark.parametrize("place", ["checks", "output", "headers", "files", "status_code"])
@pytest.mark.parametrize("saved", [ANYTHING, [ANYTHING], [], [[ANYTHING], []]])
def test_an_answer_cannot_choose_its_check(place: str, saved: Any) -> None:
    several: dict[str, dict[str, Any]] = {
        "checks": {"checks": {"output.id": MARK}},
        "output": {"output": MARK},
        "headers": {"headers": {"etag": MARK}},
        "files": {"files": {"a.json": MARK}},
        "status_code": {"status_code": MARK},
    }
    answer = {"output": {"id": "wrong"}, "headers": {"etag": "wrong"}, "files": {"a.json": "{}"}}
    (verdict,) = judged(several[place], saved, status_code=200, **answer).values()
    assert verdict is False


def test_an_answer_that_looks_like_a_check_is_compared_as_the_value_it_is() -> None:
    assert about_id(MARK, ANYTHING, ANYTHING) is True
    assert about_id(MARK, [], []) is True
    assert about_id(MARK, [1, 2], [1, 2]) is True
    assert judged({"output": {"id": MARK}}, ANYTHING, output={"id": ANYTHING}) == {"output": True}


@given(json_values)
def test_only_what_was_saved_equals_what_was_saved(saved: Any) -> None:
    for check in (None, "value", "json", "exact", "flexible", "regex", "number"):
        value = MARK if check is None else {"check": check, "value": MARK}
        assert about_id(value, saved, "nothing that was ever saved \x00") is False
    assert about_id(MARK, saved, saved) is True


def test_a_saved_list_is_one_value_to_checks_that_take_several() -> None:
    not_that = {"check": "not_value", "value": MARK}
    assert about_id(not_that, ["a"], ["a"]) is False
    assert about_id(not_that, ["a"], "b") is True
    assert about_id({"check": "value", "value": MARK}, ["a"], "a") is False
    assert about_id({"check": "keywords", "value": MARK}, "", "text") is False


def test_a_saved_value_is_literal_in_a_pattern() -> None:
    pattern = {"check": "regex", "value": r"n\d {{saved:x}}"}
    assert about_id(pattern, ".*", "n1 anything") is False
    assert about_id(pattern, ".*", "n1 .*") is True


def test_saved_text_is_read_as_json_where_the_answer_is() -> None:
    as_json = {"output": {"check": "json", "value": MARK}}
    assert judged(as_json, '{"a": 1}', output='{"a":1.0}') == {"output": True}
    assert judged(as_json, "no JSON", output="no JSON") == {"output": False}


def test_keys_that_answers_make_the_same_are_not_lost() -> None:
    expected = {"output": {"a": 1, "{{saved:x}}": 2}}
    assert judged(expected, "b", output={"a": 1, "b": 2}) == {"output": True}
    assert judged(expected, "a", output={"a": 2}) == {"output": False}
    files = {"files": {"a.txt": "one", "{{saved:x}}": "two"}}
    assert judged(files, "a.txt", files={"a.txt": "two"}) == {
        "files-a.txt": False, "files-{{saved:x}}": True,
    }  # fmt: skip


def test_a_saved_value_is_one_step_of_a_place() -> None:
    written = {"checks": {"output.{{saved:x}}": 1}}
    assert list(judged(written, "a.b", output={"a.b": 1}).values()) == [True]
    assert list(judged(written, "a.b", output={"a": {"b": 1}}).values()) == [False]


def test_what_an_answer_makes_impossible_fails_and_is_nobodys_mistake() -> None:
    assert judged({"files": {"a.csv": MARK}}, 7, files={"a.csv": "7"}) == {"files-a.csv": False}
    number = {"check": "number", "value": MARK, "weight": 3}
    wanted = [
        fill_expectation(one, {"x": "x"}) for one in read_expectations(Expected(output=number))
    ]
    result = plan_check(wanted[0]).result(APIResult(id="a", group="g", output=1))
    assert (result.is_correct, result.weight) == (False, 3)
    assert "cannot be compared" in result.diff


@pytest.mark.parametrize(
    ("check", "said"),
    [
        ({"check": MARK, "value": 1}, "`check` would come from the answer"),
        ({"check": "number", "value": 1, "absolute": MARK}, "`absolute` would come"),
        ({"check": "json", "value": 1, "ignore": ["a", MARK]}, "`ignore` would come"),
        ({"check": "json", "value": 1, MARK: True}, "would come from the answer"),
        ({"check": "schema", "value": MARK}, "the schema would come"),
        ({"check": "schema", "value": {"properties": {"a": MARK}}}, "the schema would come"),
        ({"check": "schema", "value": {"enum": MARK}}, "the schema would come"),
        ({"check": "json", "value": '{"a": "{{saved:x}}", "b": 1}'}, "inside of JSON text"),
        ([], "there is no check in this list"),
    ],
)
def test_an_answer_decides_with_what_and_never_how(check: Any, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        read_expectations(Expected(checks={"output.id": check}))
    assert error_path(caught.value).startswith("checks.output.id")


def test_constants_of_a_schema_may_be_saved() -> None:
    schema = {"properties": {"id": {"const": MARK}, "other": {"enum": [MARK, 1]}}}
    written = {"output": {"check": "schema", "value": schema}}
    assert judged(written, {}, output={"id": {}, "other": 1}) == {"output": True}
    assert judged(written, {}, output={"id": 1}) == {"output": False}


def test_names_are_looked_at_where_the_value_is_not_yet_known() -> None:
    for spec in ({"check": "jsn", "value": MARK}, {"check": "json", "value": MARK, "ignor": "a"}):
        (one,) = read_expectations(Expected(output=spec))
        with pytest.raises(InputError, match="did you mean"):
            plan_check(one).validate()
