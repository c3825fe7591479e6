"""What is wrong with a proof can often be read in its source."""

# ruff: noqa: E501 - a proof on one line is easier to compare with its neighbours

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.sandbox.proof_lint import inspect_proof

HONEST = {
    "assert": "import thing\ndef test_x():\n    assert thing.f() == 2\n",
    "raises": (
        "import pytest, thing\ndef test_x():\n    with pytest.raises(ValueError):\n        thing.f()\n"
    ),
    "raises as a call": "import pytest, thing\ndef test_x():\n    pytest.raises(ValueError, thing.f)\n",
    "raises by its own name": (
        "from pytest import raises\ndef test_x():\n    with raises(KeyError):\n        {}['a']\n"
    ),
    "import": "def test_x():\n    from thing import Part\n",
    "import by name": "import importlib\ndef test_x():\n    importlib.import_module('thing.part')\n",
    "call": "import thing\ndef test_x():\n    thing.Part(size=1)\n",
    "attribute": "import thing\ndef test_x():\n    thing.part\n",
    "helper": "def check(x):\n    assert x\ndef test_x():\n    check(f())\n",
    "fixture": (
        "import pytest\n@pytest.fixture\ndef part():\n    import thing\n    return thing\n"
        "def test_x(part):\n    pass\n"
    ),
    "method": "class TestX:\n    def test_x(self):\n        assert f()\n",
    "unittest": (
        "import unittest\nclass X(unittest.TestCase):\n    def test_x(self):\n"
        "        self.assertEqual(f(), 1)\n"
    ),
    "async": "import thing\nasync def test_x():\n    assert await thing.f()\n",
    "nested": "def test_x():\n    for x in g():\n        with h():\n            assert x\n",
    "except that looks": (
        "import pytest\ndef test_x():\n    try:\n        f()\n    except Exception as error:\n"
        "        assert 'size' in str(error)\n"
    ),
    "except that fails": (
        "import pytest\ndef test_x():\n    try:\n        assert f()\n    except Exception:\n"
        "        pytest.fail('no')\n"
    ),
}


@pytest.mark.parametrize("source", HONEST.values(), ids=HONEST)
def test_an_honest_proof_meets_no_objection(source: str) -> None:
    inspection = inspect_proof(source)
    assert inspection.objections == ()
    assert len(inspection.tests) == 1


DISHONEST = {
    "skip": ("skip", "import pytest\ndef test_x():\n    pytest.skip('later')\n    assert f()\n"),
    "skip mark": ("skip", "import pytest\n@pytest.mark.skip\ndef test_x():\n    assert f()\n"),
    "skipif": ("skip", "import pytest\n@pytest.mark.skipif(True, reason='')\ndef test_x():\n    assert f()\n"),
    "importorskip": ("skip", "import pytest\ndef test_x():\n    assert pytest.importorskip('thing').x\n"),
    "unittest skip": ("skip", "from unittest import skip\n@skip('x')\ndef test_x():\n    assert f()\n"),
    "skip for all": ("skip", "import pytest\npytestmark = pytest.mark.skip\ndef test_x():\n    assert f()\n"),
    "xfail": ("xfail", "import pytest\n@pytest.mark.xfail\ndef test_x():\n    assert f()\n"),
    "xfail call": ("xfail", "import pytest as p\ndef test_x():\n    p.xfail('x')\n    assert f()\n"),
    "empty": ("checks-nothing", "def test_x():\n    pass\n"),
    "doc string": ("checks-nothing", "def test_x():\n    'It works.'\n"),
    "only print": ("checks-nothing", "def test_x():\n    print('1 passed')\n"),
    "true": ("checks-nothing", "def test_x():\n    assert True\n"),
    "text": ("checks-nothing", "def test_x():\n    assert 'it works'\n"),
    "tuple": ("checks-nothing", "def test_x():\n    assert (f(), 'message')\n"),
    "same name": ("checks-nothing", "def test_x():\n    x = f()\n    assert x == x\n"),
    "constants": ("checks-nothing", "def test_x():\n    assert 1 + 1 and 2 == 2 or not False\n"),
    "or true": ("checks-nothing", "def test_x():\n    assert f() or True\n"),
    "after return": ("checks-nothing", "def test_x():\n    return\n    assert f()\n"),
    "if false": ("checks-nothing", "def test_x():\n    if False:\n        assert f()\n"),
    "never called": ("checks-nothing", "def test_x():\n    def inner():\n        assert f()\n"),
    "other import": ("checks-nothing", "def test_x():\n    import json\n    json.dumps(1)\n"),
    "import outside": ("checks-nothing", "import thing\ndef test_x():\n    pass\n"),
    "os._exit": ("exit", "import os\ndef test_x():\n    os._exit(0)\n    assert f()\n"),
    "renamed _exit": ("exit", "from os import _exit as leave\ndef test_x():\n    leave(0)\n    assert f()\n"),
    "sys.exit": ("exit", "import sys\ndef test_x():\n    sys.exit(0)\n    assert f()\n"),
    "SystemExit": ("exit", "def test_x():\n    assert f()\n    raise SystemExit(0)\n"),
    "exit at import": ("exit", "import sys\ndef test_x():\n    assert f()\nsys.exit()\n"),
    "pytest.exit": ("exit", "import pytest\ndef test_x():\n    assert f()\n    pytest.exit('done', 0)\n"),
    "atexit": ("atexit", "import atexit\natexit.register(print)\ndef test_x():\n    assert f()\n"),
    "hook": ("hook", "def pytest_runtest_makereport(item, call): pass\ndef test_x():\n    assert f()\n"),
    "plugins": ("hook", "pytest_plugins = ['mine']\ndef test_x():\n    assert f()\n"),
    "plugin manager": ("hook", "def test_x(request):\n    request.config.pluginmanager.register(1)\n    assert f()\n"),
    "conftest": ("hook", "open('conftest.py', 'w')\ndef test_x():\n    assert f()\n"),
    "inner pytest": ("hook", "from _pytest import runner\ndef test_x():\n    assert f()\n"),
    "swallow": ("swallow", "def test_x():\n    try:\n        assert f()\n    except Exception:\n        pass\n"),
    "bare except": ("swallow", "def test_x():\n    try:\n        assert f()\n    except:\n        pass\n"),
    "swallowed assertion": (
        "swallow", "def test_x():\n    try:\n        assert f()\n    except AssertionError:\n        pass\n"
    ),
    "no test": ("no-test", "import thing\nassert thing.f()\n"),
    "syntax": ("syntax", "def test_x(:\n"),
    "null byte": ("syntax", "def test_x():\n    assert f()\0\n"),
}  # fmt: skip


@pytest.mark.parametrize(("code", "source"), DISHONEST.values(), ids=DISHONEST)
def test_a_proof_that_shows_nothing_is_objected_to(code: str, source: str) -> None:
    assert code in {objection.code for objection in inspect_proof(source).objections}


def test_an_objection_to_one_test_leaves_the_others() -> None:
    source = "def test_a():\n    assert f()\ndef test_b():\n    pass\n"
    inspection = inspect_proof(source)
    assert inspection.against("test_a") is None
    objection = inspection.against("test_b")
    assert objection is not None
    assert (objection.line, str(objection)) == (3, "line 3: the test checks nothing")


def test_a_hook_is_an_objection_to_every_test() -> None:
    source = "pytest_plugins = 'x'\ndef test_a():\n    assert f()\n"
    assert inspect_proof(source).against("test_a") is not None


def test_the_target_may_be_part_of_python() -> None:
    source = "import json\ndef test_x():\n    json.dumps(1)\n"
    assert inspect_proof(source).objections
    assert not inspect_proof(source, modules=["json"]).objections
    assert inspect_proof("import thing\ndef test_x():\n    thing.f()\n", ["json"]).objections


def test_tests_are_named_as_pytest_names_them() -> None:
    source = (
        "class TestA:\n    def test_b(self):\n        assert f()\ndef test_c():\n    assert f()\n"
    )
    assert inspect_proof(source).tests == {"TestA::test_b": 2, "test_c": 4}


@given(st.text())
def test_any_text_can_be_inspected(source: str) -> None:
    inspection = inspect_proof(source)
    assert inspection.tests or inspection.objections
