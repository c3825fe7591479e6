"""Errors say what, where and what next, also after crossing a process."""

from __future__ import annotations

import pickle

import pytest

from assay.errors import AssayError, InfrastructureError, InputError, Unverifiable, nearest
from assay.tracebacks import describe, format_exception, origin


@pytest.mark.parametrize("kind", [InputError, InfrastructureError, Unverifiable])
def test_an_error_survives_pickling(kind: type[AssayError]) -> None:
    error = kind("is broken", where="file:3", advice="mend it")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error) == "file:3: is broken\n  mend it"


def test_what_is_not_known_is_left_out() -> None:
    assert str(InputError("is broken")) == "is broken"


@pytest.mark.parametrize(
    ("word", "valid", "advice"),
    [
        ("jbos", ["jobs", "runs"], "did you mean 'jobs'?"),
        ("x", ["jobs", "runs"], "valid: jobs, runs"),
        ("x", [], "there are none"),
        ("?", [str(number) for number in range(30)], "and 10 more"),
    ],
)
def test_the_nearest_word(word: str, valid: list[str], advice: str) -> None:
    assert advice in nearest(word, valid)


def raising() -> None:
    raise KeyError("a\nb")


def test_an_exception_is_told_in_one_line_and_with_its_place() -> None:
    with pytest.raises(KeyError) as caught:
        raising()
    line = raising.__code__.co_firstlineno + 1
    assert describe(caught.value) == r"KeyError: 'a\nb'"
    assert (origin(caught.value) or "").endswith(f"test_errors.py:{line}")
    assert f"test_errors.py:{line} in raising" in format_exception(caught.value)
    assert 'raise KeyError("a\\nb")' in format_exception(caught.value)
    assert describe(ValueError()) == "ValueError"
    assert origin(ValueError()) is None
