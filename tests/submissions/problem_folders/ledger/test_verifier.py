from unittest.mock import Mock

from ledger.verifier import Verifier
from slop_code.evaluation.adapters import cli


def result(status, stderr):
    return cli.CLIResult(
        id="t", group="errors", group_type="Error", status_code=status, stderr=stderr
    )


def test_an_error_is_judged_by_status_and_message():
    verifier = Verifier(Mock())
    right = verifier("errors", "t", result(2, "Error: no nowhere"), result(2, "error: .*nowhere"))
    wrong = verifier("errors", "t", result(1, "boom"), result(2, "error: .*nowhere"))
    assert [each.is_correct for each in right.values()] == [True, True]
    assert [each.is_correct for each in wrong.values()] == [False, False]
