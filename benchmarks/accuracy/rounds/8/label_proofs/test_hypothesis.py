import math, os, subprocess, sys, unicodedata
from importlib.metadata import version
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, assume, errors, find, given, settings, strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, rule, run_state_machine_as_test

sys.path.insert(0, str(Path(__file__).parents[1] / "suites"))
import hypothesis_snippets as sn


@pytest.fixture(autouse=True)
def in_tmp(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def values(strategy, n=100):
    out = []

    @settings(max_examples=n, database=None)
    @given(strategy)
    def collect(v):
        out.append(v)
    collect()
    return out


def test_version():
    assert version("hypothesis") == "6.170.15"


def test_steps_of_a_machine():
    assert settings.default.stateful_step_count == 50
    counts = []

    class M(RuleBasedStateMachine):
        def __init__(self):
            super().__init__(); self.n = 0

        @rule()
        def step(self):
            self.n += 1

        def teardown(self):
            counts.append(self.n)

    run_state_machine_as_test(M)
    assert max(counts) == 50


def test_impossible_bounds():
    r = subprocess.run([sys.executable, "-c", 'from hypothesis import strategies as st\nnumbers = st.integers(min_value=5, max_value=1)\nprint("defined")'], capture_output=True, text=True)
    assert (r.returncode, r.stdout) == (0, "defined\n")
    with pytest.raises(errors.InvalidArgument):
        values(st.integers(min_value=5, max_value=1))


def test_integer_or_nothing():
    for s in (st.one_of(st.integers(), st.none()), st.integers() | st.none()):
        assert {type(v) for v in values(s)} == {int, type(None)}
    with pytest.raises(TypeError):
        st.integers(allow_none=True)
    assert not hasattr(st, "optional")


def test_only_uppercase():
    for s in (st.characters(whitelist_categories=["Lu"]), st.characters(categories=["Lu"])):
        vs = values(s)
        assert len(set(vs)) > 5 and {unicodedata.category(v) for v in vs} == {"Lu"}
    for kw in ({"include_categories": ["Lu"]}, {"category": "Lu"}):
        with pytest.raises(TypeError):
            values(st.characters(**kw))


def test_phase_left_out():
    assert set(settings.default.phases) == set(Phase)


def test_half_open_floats():
    s, many = st.floats(min_value=0.0), settings(max_examples=3000, database=None)
    assert find(s, math.isinf, settings=many) == math.inf
    with pytest.raises(errors.NoSuchExample):
        find(s, math.isnan, settings=many)


def test_smallest_example():
    assert [sn.smallest() for _ in range(5)] == [[10]] * 5


def test_pytest_statistics(tmp_path):
    (tmp_path / "test_x.py").write_text("from hypothesis import given, strategies as st\n@given(st.integers())\ndef test_x(n): pass\n")

    def run(opt):
        return subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", opt, "test_x.py"], cwd=tmp_path, capture_output=True, text=True)
    good = run("--hypothesis-show-statistics")
    assert good.returncode == 0 and "Hypothesis Statistics" in good.stdout and "test_x.py::test_x" in good.stdout
    for bad in ("--hypothesis-statistics", "--show-hypothesis-stats", "--hypothesis-verbosity=statistics"):
        assert run(bad).returncode == 4


def test_everything_rejected():
    @given(st.integers())
    def check(n):
        assume(False)
    with pytest.raises(errors.FailedHealthCheck) as e:
        check()
    assert not isinstance(e.value, (errors.Unsatisfiable, errors.UnsatisfiedAssumption, errors.NoSuchExample))


def test_avoiding_bad_inputs():
    """Judgement: all four ways work."""
    @st.composite
    def different(draw):
        a = draw(st.integers())
        return a, draw(st.integers().filter(lambda b: b != a))
    for s in (st.tuples(st.integers(), st.integers()).filter(lambda pair: pair[0] != pair[1]),
              st.lists(st.integers(), min_size=2, max_size=2, unique=True), different()):
        assert all(a != b for a, b in values(s))

    @given(st.integers(), st.integers())
    def assumed(a, b):
        assume(a != b)
    assumed()


def test_api_use_up_a_value():
    class M(RuleBasedStateMachine):
        items = Bundle("items")

        def __init__(self):
            super().__init__(); self.n = 0; self.used = set()

        @rule(target=items)
        def make(self):
            self.n += 1
            return self.n

        @rule(item=consumes(items))
        def use(self, item):
            assert item not in self.used
            self.used.add(item)
    run_state_machine_as_test(M, settings=settings(database=None, deadline=None))


def test_api_nothing_to_generate():
    assert not hasattr(errors, "NoExamples")

    @given(st.nothing())
    def check(v):
        pass
    with pytest.raises(errors.Unsatisfiable):
        check()
