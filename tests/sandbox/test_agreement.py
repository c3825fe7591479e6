"""The fast path, `pytest.main` and plain `python -m pytest` give the same outcomes."""

# ruff: noqa: E501 - a proof on one line is easier to compare with its neighbours

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from assay.sandbox.targets import Environment, Target
from tests.sandbox.support import Background, Prove, build, start_runner
from tests.waiting import PATIENCE

CORPUS = {
    "plain": """
def test_passes():
    assert 1 + 1 == 2
def test_fails():
    assert [1, 2, 3] == [1, 2, 4]
def test_raises():
    raise KeyError("x")
""",
    "raises": """
import pytest
def test_right():
    with pytest.raises(ZeroDivisionError):
        1 / 0
def test_nothing_raised():
    with pytest.raises(ZeroDivisionError):
        1 / 1
def test_other_raised():
    with pytest.raises(ZeroDivisionError):
        int("x")
def test_other_text():
    with pytest.raises(ValueError, match="never"):
        int("x")
def test_warns():
    import warnings
    with pytest.warns(UserWarning):
        warnings.warn("careful")
""",
    "parametrize": """
import pytest
@pytest.mark.parametrize("left", [1, 2])
@pytest.mark.parametrize("right", ["a", pytest.param("b", id="bee")])
def test_product(left, right):
    assert left == 1 or right == "a"
""",
    "fixtures": """
import pytest
seen = []
@pytest.fixture(scope="module")
def shared():
    seen.append("set up")
    yield 5
    seen.append("torn down")
@pytest.fixture(autouse=True)
def always():
    seen.append("always")
@pytest.fixture(params=["x", "y"])
def each(request):
    return request.param
def test_first(shared, each):
    assert shared == 5 and each in "xy"
def test_second(shared):
    assert seen.count("set up") == 1 and seen.count("always") == 3
@pytest.fixture
def broken_after():
    yield
    raise OSError("teardown")
def test_teardown(broken_after):
    assert True is not None
def test_missing(no_such_fixture):
    assert no_such_fixture
""",
    "async": """
import asyncio, pytest
@pytest.mark.asyncio
async def test_waits():
    await asyncio.sleep(0)
    assert asyncio.get_running_loop()
@pytest.mark.asyncio
async def test_fails():
    assert await asyncio.sleep(0, 1) == 2
async def test_unmarked():
    assert 1
""",
    "async fixture": """
import pytest, pytest_asyncio
@pytest_asyncio.fixture
async def number():
    yield 7
@pytest.mark.asyncio
async def test_number(number):
    assert number == 7
""",
    "tmp_path": """
import os, tempfile
def test_writes(tmp_path, tmp_path_factory):
    (tmp_path / "a").write_text("b")
    assert (tmp_path / "a").read_text() == "b"
    assert tmp_path_factory.mktemp("c").is_dir()
    assert tempfile.gettempdir() in str(tmp_path)
def test_is_new(tmp_path):
    assert list(tmp_path.iterdir()) == []
def test_here(pytestconfig):
    assert os.path.basename(__file__) in os.listdir()
""",
    "monkeypatch": """
import os
def test_patched(monkeypatch):
    monkeypatch.setenv("COLOUR", "blue")
    monkeypatch.setattr(os, "getcwd", lambda: "nowhere")
    assert (os.environ["COLOUR"], os.getcwd()) == ("blue", "nowhere")
def test_undone():
    assert "COLOUR" not in os.environ and os.getcwd() != "nowhere"
""",
    "mock": """
from unittest import mock
import json
def test_called():
    with mock.patch("json.dumps", return_value="x") as dumps:
        assert json.dumps(1) == "x"
    dumps.assert_called_once_with(1)
def test_not_called():
    mock.Mock().assert_called_once()
""",
    "unittest": """
import unittest
class TestNumbers(unittest.TestCase):
    def setUp(self):
        self.number = 3
    def test_equal(self):
        self.assertEqual(self.number, 3)
    def test_different(self):
        self.assertEqual(self.number, 4)
    @unittest.skip("not now")
    def test_skipped(self):
        self.fail()
""",
    "classes": """
import pytest
class TestThing:
    value = 1
    def test_value(self):
        assert self.value == 1
    @pytest.mark.parametrize("x", [1, 2])
    def test_many(self, x):
        assert x == self.value
class TestNot:
    def __init__(self):
        pass
    def test_never(self):
        assert False
""",
    "marks": """
import pytest
@pytest.mark.skip(reason="not now")
def test_skipped():
    assert 0
@pytest.mark.xfail
def test_expected():
    assert 0
@pytest.mark.xfail
def test_unexpected():
    assert 1
@pytest.mark.xfail(strict=True)
def test_strict():
    assert 1
def test_inside():
    pytest.skip("inside")
""",
    "capture": """
import sys, os, subprocess
def test_capsys(capsys):
    print("out"); print("err", file=sys.stderr)
    assert capsys.readouterr() == ("out\\n", "err\\n")
def test_capfd(capfd):
    os.write(1, b"raw")
    assert capfd.readouterr().out == "raw"
def test_stdin():
    import pytest
    with pytest.raises(OSError):
        input()
def test_log(caplog):
    import logging
    logging.getLogger().warning("careful")
    assert "careful" in caplog.text
def test_program():
    assert subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True).stdout == b"42\\n"
""",
    "does not import": "import no_such_module\ndef test_x():\n    assert 1\n",
    "module skip": "import pytest\npytest.skip('all', allow_module_level=True)\ndef test_x():\n    pass\n",
    "exit in a test": "import sys\ndef test_x():\n    sys.exit(3)\ndef test_y():\n    assert 1\n",
    "recursion": "def test_x():\n    def f():\n        return f()\n    f()\n",
    "subtests": """
def test_parts(subtests):
    for number in range(3):
        with subtests.test(number=number):
            assert number != 1
""",
    "module state": """
import small_thing
def test_name():
    assert __name__ == "test_proof"
def test_target():
    assert small_thing.ANSWER == 42
""",
    "group": """
import pytest
def test_group():
    raise ExceptionGroup("many", [ValueError(1), TypeError(2)])
def test_caught():
    with pytest.RaisesGroup(ValueError):
        raise ExceptionGroup("one", [ValueError(1)])
""",
    "warnings": "import warnings\ndef test_x():\n    warnings.warn('careful', DeprecationWarning)\n    assert 1\n",
    "return": "def test_x():\n    return 1\n",
    "threads": """
import threading
def test_x():
    done = []
    thread = threading.Thread(target=done.append, args=(1,))
    thread.start(); thread.join()
    assert done == [1]
""",
}  # fmt: skip


@pytest.fixture(scope="module")
def slow(small: Environment, background: Background) -> Iterator[Prove]:
    runner, prove = start_runner(
        background, small, imports=["small_thing"], concurrency=1, fast=False
    )
    yield prove
    background.run(runner.close())


def outcomes(prove: Prove, source: str) -> dict[str, str]:
    return {test.name: test.status.value for test in prove(source).tests}


def plain_outcomes(environment: Environment, source: str, folder: Path) -> dict[str, str]:
    (folder / "test_proof.py").write_text(source, "utf-8")
    (folder / "tmp").mkdir()
    subprocess.run(
        [environment.python, "-m", "pytest", "-q", "--junitxml=report.xml", "test_proof.py",
         "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir=.", "--confcutdir=."],
        cwd=folder,
        # Nothing is written beside the kit: it is verified before it is used.
        env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TMPDIR": str(folder / "tmp"),
             "PYTHONDONTWRITEBYTECODE": "1",
             "PYTHONPATH": ":".join(map(str, [*environment.first, environment.kit]))},
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )  # fmt: skip
    found: dict[str, str] = {}
    for case in ElementTree.parse(folder / "report.xml").iter("testcase"):
        inner = case.attrib["classname"].partition(".")[2]
        name = f"{inner}::{case.attrib['name']}" if inner else case.attrib["name"]
        kinds = [child.tag for child in case]
        words = {"failure": "failed", "error": "error", "skipped": "skipped"}
        status = next((words[kind] for kind in words if kind in kinds), "passed")
        # A failing subtest is a case of its own there, beside the test it belongs to.
        found[name] = status if found.get(name, "passed") == "passed" else found[name]
    return found


@pytest.mark.parametrize("source", CORPUS.values(), ids=CORPUS)
def test_the_outcome_is_that_of_plain_pytest(
    prove: Prove, slow: Prove, small: Environment, source: str, tmp_path: Path
) -> None:
    expected = plain_outcomes(small, source, tmp_path)
    fast = outcomes(prove, source)
    assert fast == outcomes(slow, source)
    if any("test_proof" in name for name in expected):
        # Not collected: plain pytest has one entry for the file, a proof one for each test.
        assert set(fast.values()) == set(expected.values())
    else:
        assert fast == expected


def test_a_target_with_a_pytest_of_its_own_keeps_it(cache: Path, background: Background) -> None:
    """The kit comes after the target's own path; the fast path is for the kit's version only."""
    built = build(Target(requirements=("pytest==8.3.5",)))
    runner, prove = start_runner(background, built, concurrency=1)
    outcome = prove(
        "import pytest\ndef test_version():\n    assert pytest.__version__ == '8.3.5'\n"
        "def test_slip():\n    with pytest.raises(Exception):\n        undefined_name\n"
        "def test_wrong():\n    assert pytest.__version__ == '9'\n"
    )
    background.run(runner.close())
    assert [test.status.value for test in outcome.tests] == ["passed", "passed", "failed"]
    assert [test.evidence for test in outcome.tests] == [True, False, True]
