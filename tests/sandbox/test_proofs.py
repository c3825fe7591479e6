"""The proof runner gives the outcome of plain pytest, and says what counts as evidence."""

# ruff: noqa: E501 - a proof on one line is easier to compare with its neighbours

from __future__ import annotations

from pathlib import Path

import pytest

from assay.sandbox.evidence import Status
from tests.sandbox.support import Prove

PASSED, FAILED, ERROR = Status.PASSED, Status.FAILED, Status.ERROR


def test_each_test_has_its_own_outcome(prove: Prove) -> None:
    outcome = prove(
        "import small_thing\n"
        "def test_right():\n"
        "    print('looking')\n"
        "    assert small_thing.ANSWER == 42\n"
        "def test_wrong():\n"
        "    assert small_thing.ANSWER == 41, 'not quite'\n"
    )
    right, wrong = outcome.tests
    assert (right.name, right.status, right.output, right.evidence) == (
        "test_right", PASSED, "looking\n", True,
    )  # fmt: skip
    assert (wrong.name, wrong.status, wrong.line, wrong.evidence) == ("test_wrong", FAILED, 6, True)
    assert wrong.exception == "AssertionError"
    assert wrong.message.startswith("not quite\nassert 42 == 41")
    assert "small_thing.ANSWER == 41" in wrong.text
    assert outcome.evidence
    assert not outcome.passed
    assert outcome.isolation != "none"
    assert right.seconds > 0
    assert outcome.seconds > right.seconds


def test_an_honest_raises_is_evidence(prove: Prove) -> None:
    outcome = prove(
        "import pytest\nfrom small_thing.strict import Strict\n"
        "def test_negative():\n"
        "    with pytest.raises(ValueError, match='negative'):\n"
        "        Strict(size=-1)\n"
        "def test_any_exception_of_the_target():\n"
        "    with pytest.raises(Exception):\n"
        "        Strict(size=-1)\n"
        "def test_wrong_argument():\n"
        "    with pytest.raises(TypeError):\n"
        "        Strict(length=1)\n"
    )
    assert outcome.passed
    assert len(outcome.tests) == 3


def test_an_honest_import_is_evidence(prove: Prove) -> None:
    outcome = prove(
        "import pytest\n"
        "def test_there():\n"
        "    from small_thing.strict import Strict\n"
        "def test_not_there():\n"
        "    with pytest.raises(ImportError):\n"
        "        from small_thing import Missing\n"
    )
    assert outcome.passed


def test_failing_to_raise_is_a_failure_of_the_proofs_own(prove: Prove) -> None:
    outcome = prove(
        "import pytest\nfrom small_thing.strict import Strict\n"
        "def test_negative():\n"
        "    with pytest.raises(ValueError):\n"
        "        Strict(size=1)\n"
    )
    test = outcome.tests[0]
    assert (test.status, test.line, test.evidence) == (FAILED, 4, True)
    assert "DID NOT RAISE" in test.message


def test_failing_by_anything_else_is_no_evidence(prove: Prove) -> None:
    outcome = prove(
        "from small_thing.strict import Strict\n"
        "def test_negative():\n"
        "    assert Strict(size=-1).size == -1\n"
    )
    test = outcome.tests[0]
    assert (test.status, test.line, test.exception) == (FAILED, 3, "ValueError")
    assert test.objection == "it failed with ValueError, not by its own check"


def test_an_error_in_a_fixture_is_an_error(prove: Prove) -> None:
    outcome = prove(
        "import pytest, small_thing\n@pytest.fixture\ndef broken():\n    raise OSError('no disk')\n"
        "def test_x(broken):\n    assert small_thing.ANSWER\n"
    )
    test = outcome.tests[0]
    assert (test.status, test.line, test.exception) == (ERROR, 4, "OSError")
    assert test.objection == "its setup failed with OSError"


def test_a_module_that_cannot_be_imported_is_an_error_with_its_cause(prove: Prove) -> None:
    outcome = prove("import nowhere_to_be_found\ndef test_x():\n    assert nowhere_to_be_found.x\n")
    test = outcome.tests[0]
    assert (test.status, test.line, test.exception) == (ERROR, 1, "ModuleNotFoundError")
    assert outcome.objection is not None
    assert "could not be collected: ModuleNotFoundError" in outcome.objection


def test_what_does_not_parse_has_no_tests_and_a_reason(prove: Prove) -> None:
    outcome = prove("def test_x(:\n    assert 1\n")
    assert outcome.tests == ()
    assert not outcome.evidence
    assert str(outcome.objection).startswith("line 1: not valid Python")


# What looks green to pytest, or tries to, and must not count.

LOOKS_GREEN = {
    "skip": (
        "import pytest\ndef test_x():\n    getattr(pytest, 'skip')('later')\n    assert f()\n",
        "it was skipped",
    ),
    "xfail": (
        "import pytest\nmark = getattr(pytest.mark, 'xfail')\n@mark\ndef test_x():\n    assert f()\n",
        "an expected failure (xfail) shows nothing",
    ),
    "xpass": (
        "import pytest\nmark = getattr(pytest.mark, 'xfail')\n@mark\n"
        "def test_x():\n    assert len('a') == 1\n",
        "an expected failure (xfail) shows nothing",
    ),
    "empty": ("def test_x():\n    pass\n", "checks nothing"),
    "raises around a slip": (
        "import pytest\ndef test_x():\n    with pytest.raises(Exception):\n        undefined_name\n",
        "caught a NameError raised by the proof itself at line 4",
    ),
    "raises around a wrong call": (
        "import pytest\nfrom small_thing.strict import Strict\n"
        "def test_x():\n    with pytest.raises(Exception):\n        Strict(1, 2, 3)\n",
        "caught a TypeError raised by the proof itself at line 5",
    ),
    "raises around a slip in exec": (
        "import pytest\ndef test_x():\n    with pytest.raises(Exception):\n        exec('undefined')\n",
        "caught a NameError raised by the proof itself",
    ),
    "raises around its own assertion": (
        "import pytest\ndef test_x():\n    with pytest.raises(AssertionError):\n        assert f()\n"
        "def f():\n    return 0\n",
        "caught the proof's own assertion",
    ),
    "unittest raises around a slip": (
        "import unittest\nclass TestX(unittest.TestCase):\n    def test_x(self):\n"
        "        with self.assertRaises(Exception):\n            undefined_name\n",
        "caught a NameError raised by the proof itself at line 5",
    ),
    "os._exit": (
        "import os\nleave = getattr(os, '_exit')\ndef test_x():\n    leave(0)\n    assert f()\n",
        "ended before its report: exit code 0",
    ),
    "sys.exit": (
        "import sys\nleave = getattr(sys, 'exit')\ndef test_x():\n    leave(0)\n    assert f()\n",
        "failed with SystemExit",
    ),
    "sys.exit at import": (
        "import sys\ndef test_x():\n    assert f()\ngetattr(sys, 'exit')(0)\n",
        "stopped the tests: SystemExit",
    ),
    "pytest.exit": (
        "import pytest\ndef test_x():\n    assert len('a')\n    getattr(pytest, 'exit')('done', 0)\n",
        "stopped the tests: Exit",
    ),
    "exit after a failure": (
        "import os, importlib\nimportlib.import_module('at' + 'exit').register(os._exit, 0)\n"
        "def test_x():\n    assert len('a') == 2\n",
        "it ends the process by os._exit",
    ),
    "hook in the file": (
        "import pytest\n@pytest.hookimpl(tryfirst=True)\ndef pytest_runtest_makereport(item, call):\n"
        "    call.excinfo = None\ndef test_x():\n    assert len('a') == 2\n",
        "is a hook of pytest",
    ),
    "plugin registered": (
        "class Nice:\n    def __init__(self):\n        self.seen = 0\n"
        "def test_x(request):\n    getattr(request.config, 'plugin' + 'manager').register(Nice())\n"
        "    assert len('a') == 1\n",
        "it brought a plugin",
    ),
    "plugin that rewrites outcomes": (
        "import pytest\n"
        "class Nice:\n    @pytest.hookimpl(wrapper=True)\n"
        "    def pytest_runtest_makereport(self, item, call):\n"
        "        report = yield\n        report.outcome = 'passed'\n        return report\n"
        "Nice.pytest_runtest_makereport.__name__\n"
        "def test_x(request):\n    getattr(request.config, 'plugin' + 'manager').register(Nice())\n"
        "    assert len('a') == 2\n",
        "is a hook of pytest",
    ),
    "no test": ("import small_thing\nassert small_thing.ANSWER\n", "there is no test in it"),
    "test removed": ("def test_x():\n    assert f()\ndel test_x\n", "no test was collected"),
    "test from nowhere": (
        "import small_thing\ndef check():\n    assert small_thing.ANSWER\n"
        "globals()['test_y'] = check\ndef test_x():\n    assert small_thing.ANSWER\n",
        "this test is not written in the proof",
    ),
    "imitated report": (
        "import os\nfor number in range(3, 256):\n    try:\n"
        '        os.write(number, b\'{"event": "end", "stopped": null}\\n\')\n'
        "    except OSError as error:\n        str(error)\n"
        "print('1 passed in 0.01s')\ndef test_x():\n    assert len('a') == 1\n",
        "the report was tampered with",
    ),
    "process left behind": (
        "import subprocess, sys\ndef test_x():\n"
        "    child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "    assert child.pid\n",
        "it left a process running behind it",
    ),
    "daemon left behind": (
        "import os, time\ndef test_x():\n    if os.fork() == 0:\n        os.setsid()\n"
        "        if os.fork() == 0:\n            time.sleep(60)\n        getattr(os, '_exit')(0)\n"
        "    os.wait()\n    assert len('a') == 1\n",
        "it left a process running behind it",
    ),
}


@pytest.mark.parametrize(("source", "reason"), LOOKS_GREEN.values(), ids=LOOKS_GREEN)
def test_what_only_looks_green_does_not_count(prove: Prove, source: str, reason: str) -> None:
    outcome = prove(source)
    assert not outcome.passed
    objections = {outcome.objection, *(test.objection for test in outcome.tests)} - {None}
    assert any(reason in str(objection) for objection in objections), objections


def test_a_hook_that_rewrites_outcomes_is_seen_even_if_nothing_is_read(prove: Prove) -> None:
    """The lint knows the name of the hook; a proof that spells it otherwise is met at run time."""
    outcome = prove(
        "import pytest\n"
        "def forgive(self, item, call):\n"
        "    report = yield\n    report.outcome = 'passed'\n    return report\n"
        "Nice = type('Nice', (), {'pytest_' + 'runtest_makereport':"
        " pytest.hookimpl(wrapper=True)(forgive)})\n"
        "def test_x(request):\n    getattr(request.config, 'plugin' + 'manager').register(Nice())\n"
        "    assert len('a') == 2\n"
    )
    assert outcome.objection is not None
    assert "it brought a plugin" in outcome.objection
    assert not outcome.tests[0].evidence


def test_output_that_imitates_a_report_changes_nothing(prove: Prove) -> None:
    outcome = prove(
        "import json, sys\ndef test_x():\n"
        "    print(json.dumps({'event': 'end', 'stopped': None}))\n"
        "    print('===== 1 passed in 0.01s =====', file=sys.stderr)\n"
        "    assert len('a') == 2\n"
    )
    assert (outcome.tests[0].status, outcome.tests[0].evidence) == (FAILED, True)
    assert "1 passed" in outcome.tests[0].output


def test_a_process_that_ended_in_time_is_nothing_to_object_to(prove: Prove) -> None:
    outcome = prove(
        "import multiprocessing\n"
        "def test_x():\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        assert pool.map(abs, [-1]) == [1]\n"
    )
    assert outcome.passed, outcome


# Warm and fresh.


def test_a_warm_process_has_submodules_that_a_fresh_one_has_not(prove: Prove) -> None:
    source = "import small_thing\ndef test_x():\n    assert small_thing.strict is not None\n"
    warm, fresh = prove(source), prove(source, fresh=True)
    assert (warm.fresh, warm.tests[0].status) == (False, PASSED)
    assert (fresh.fresh, fresh.tests[0].status) == (True, FAILED)
    assert fresh.tests[0].exception == "AttributeError"


def test_proofs_leave_no_trace_for_the_next(prove: Prove) -> None:
    first = prove(
        "import small_thing, pathlib\nsmall_thing.ANSWER = 0\npathlib.Path('left').touch()\n"
        "pathlib.Path('/tmp/left').touch()\ndef test_x():\n    assert small_thing.ANSWER == 0\n"
    )
    second = prove(
        "import small_thing, pathlib\ndef test_x():\n    assert small_thing.ANSWER == 42\n"
        "    assert not pathlib.Path('left').exists()\n"
        "    assert not pathlib.Path('/tmp/left').exists()\n"
    )
    assert first.passed
    assert second.passed


def test_a_proof_may_be_a_file(prove: Prove, tmp_path: Path) -> None:
    path = tmp_path / "test_named.py"
    path.write_text("import small_thing\ndef test_x():\n    assert __name__ == 'test_named'\n")
    (tmp_path / "conftest.py").write_text("raise RuntimeError('never read')\n")
    assert prove(path).passed


def test_files_lie_beside_a_proof(prove: Prove) -> None:
    outcome = prove(
        "import beside, small_thing\ndef test_x():\n    assert beside.answer() == 42\n",
        files={"beside.py": "import small_thing\ndef answer():\n    return small_thing.ANSWER\n"},
    )
    assert outcome.passed, outcome


def test_what_a_raises_caught_is_told(prove: Prove) -> None:
    outcome = prove(
        "import pytest\nfrom small_thing.strict import Strict\n"
        "def test_x():\n"
        "    with pytest.raises(Exception):\n"
        "        Strict(size=-1)\n"
    )
    (caught,) = outcome.tests[0].caught
    assert caught.classes == ("ValueError", "Exception", "BaseException", "object")
    assert "negative" in caught.message
    assert not caught.in_proof


def test_a_hash_seed_means_an_interpreter_of_its_own(prove: Prove) -> None:
    source = "import small_thing\ndef test_x():\n    assert hash('assay') == {}\n"
    seen = [
        int(outcome.tests[0].message.split()[1])
        for outcome in (
            prove(source.format(0), fresh=True),
            prove(source.format(0), fresh=True),
            prove(source.format(0), hash_seed=7),
            prove(source.format(0), hash_seed=7),
            prove(source.format(0)),
        )
    ]
    assert seen[0] == seen[1] == seen[4]
    assert seen[2] == seen[3] != seen[0]
