"""What an audit prints: numbers by group, accepted mutants with examples, findings with advice."""

from __future__ import annotations

import json

from assay.reports import Paint
from assay.submissions.audits import GroupAudit, find_problems, render_text, render_values
from assay.submissions.audits.changes import MutationKind
from assay.submissions.audits.facts import CaseFacts, Label

STATUS = Label(MutationKind.WRONG_STATUS, "status_code", "0 to 1")
ORDER = Label(MutationKind.REORDERED, "output", "rows")


def group() -> GroupAudit:
    cases = [
        CaseFacts(f"case-{number}", is_tried=True, rejected=[STATUS, STATUS], accepted=[ORDER])
        for number in range(7)
    ]
    cases[0].is_idle_right = True
    cases[1].unjudged = ("stderr",)
    for case in cases:
        case.never_fails["\x1b[31mstderr"] = 0.9
    return GroupAudit("one", "core", "Core", cases)


def lines(group: GroupAudit) -> list[str]:
    return list(render_text("sums", [group], find_problems([group]), Paint()))


def test_the_numbers_of_a_group_are_in_its_line() -> None:
    head, numbers = lines(group())[:2]
    assert head.split() == [
        "group", "cases", "right", "twice", "do-nothing", "mutants", "rejected", "score",
    ]  # fmt: skip
    assert numbers.split() == ["one/core", "7", "7", "1", "passed", "21", "14", "66.6%"]


def test_accepted_mutants_are_told_by_kind_with_examples() -> None:
    shown = "\n".join(lines(group()))
    assert "reordered list: 7 of 7  case-0: output rows; case-1: output rows" in shown
    assert "wrong status" not in shown
    assert "one/core judges nothing about: stderr (1 case)" in shown


def test_findings_name_some_cases_count_the_rest_and_act_on_no_terminal() -> None:
    shown = lines(group())
    start = next(place for place, line in enumerate(shown) if line.startswith("never-fails"))
    assert shown[start] == (
        "never-fails \\u001b[31mstderr in one/core: "
        "the check was right in every trial, however wrong the result"
    )
    assert shown[start + 1] == "    case-0: 90% of the weight"
    assert shown[start + 6] == "    … 2 more cases"
    assert shown[-1] == "sums: 7 cases, mutation score 66.6%, 2 findings"


def test_a_score_that_is_not_whole_never_looks_whole() -> None:
    almost = GroupAudit("one", "core", "Core", [CaseFacts("a", rejected=[STATUS] * 9999)])
    almost.cases[0].accepted.append(ORDER)
    assert "99.9%" in lines(almost)[1]


def test_json_has_every_accepted_mutant_and_every_finding() -> None:
    audited = group()
    about = render_values("sums", [audited], find_problems([audited]), 0.5)
    assert json.loads(json.dumps(about)) == about
    (one,) = about["groups"]
    assert one["kinds"]["reordered list"] == {"mutants": 7, "accepted": 7}
    assert len(one["accepted"]) == 7
    assert [finding["code"] for finding in about["findings"]] == [
        "do-nothing-passes", "never-fails",
    ]  # fmt: skip
    assert about["findings"][0]["cases"] == {"case-0": "it passes"}
