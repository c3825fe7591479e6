"""Which callback is for an exception: read from what callbacks are declared to be given."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay.sandbox import Target
from tests.questions.provers.introspection.conftest import settling
from tests.questions.provers.introspection.support import Settle, states
from tests.sandbox.support import build, write_files

FILES = {
    "pyproject.toml": '[project]\nname = "bell-works"\nversion = "1.0"\ndependencies = []\n',
    "src/bells/__init__.py": '''
"""Bells, and who rings them."""
from typing import Any, Callable, Optional, Union


class BaseBell:
    """The base class of every bell."""


class BaseRinger:
    """The base class of whoever rings bells."""


Once = Callable[[BaseBell, dict[str, Any]], None]
Failed = Callable[[BaseBell, dict[str, Any], Exception], None]


class Ringer(BaseRinger):
    """Rings bells."""

    def __init__(
        self,
        after_bell_callback: Optional[Union[Once, list[Once]]] = None,
        on_bell_error_callback: Optional[Union[Failed, list[Failed]]] = None,
        on_rope_error_callback: Optional[Callable[[str, Exception], None]] = None,
        weather_callback: Optional[str] = None,
    ):
        self.callbacks = [after_bell_callback, on_bell_error_callback, on_rope_error_callback]


class Vague:
    """Does not say what its callbacks are given."""

    def __init__(
        self,
        after_vague_callback: Optional[Callable[..., None]] = None,
        vague_error_callback: Optional[Callable[[BaseBell, Exception], None]] = None,
    ):
        self.callbacks = [after_vague_callback, vague_error_callback]


class Twofold:
    """Gives the exception to two of them."""

    def __init__(
        self,
        early_error_callback: Optional[Callable[[BaseBell, Exception], None]] = None,
        late_error_callback: Optional[Callable[[BaseBell, ValueError], None]] = None,
        after_all_callback: Optional[Callable[[BaseBell], None]] = None,
    ):
        self.callbacks = [early_error_callback, late_error_callback, after_all_callback]
''',
}
OFFERED = ("`after_bell_callback`", "`on_bell_error_callback`", "`on_rope_error_callback`")


@pytest.fixture(scope="module")
def settle_bells(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settle]:
    folder = write_files(tmp_path_factory.mktemp("bells"), FILES)
    yield from settling(build(Target(sources=(folder,))), ("bells",))


@pytest.mark.parametrize(
    "text",
    [
        "If a bell fails and you want to handle the exception within the ringer's lifecycle, which "
        "callback should you use?",
        "When a bell raises an exception, and you want to catch the error in a ringer, which "
        "callback do you set?",
        "Which callback of `Ringer` is used to handle the exception that a bell raises?",
    ],
)
def test_the_one_that_is_given_the_exception_is_it(settle_bells: Settle, text: str) -> None:
    found = settle_bells(text, *OFFERED)
    assert states(found) == "FHF", "\n".join(one.reason for one in found.values())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "If a bell fails and you want to log that it was rung by a ringer, which callback "
            "should you use?",
            id="another purpose",
        ),
        pytest.param(
            "If a bell fails and you want to handle the exception, which callback of the ringer "
            "has run before?",
            id="another question",
        ),
        pytest.param(
            "If a bell fails and you want to handle the exception in a ringer but not the failure "
            "of a rope, which callback should you use?",
            id="turned round",
        ),
        pytest.param(
            "If a tower fails and you want to handle the exception in a ringer, which callback "
            "should you use?",
            id="nothing the library knows",
        ),
        pytest.param(
            "If a bell fails and you want to handle the exception, which callback should you use?",
            id="nobody's callback",
        ),
    ],
)
def test_whatever_else_is_asked_stays_open(settle_bells: Settle, text: str) -> None:
    assert states(settle_bells(text, *OFFERED)) == "UUU"


@pytest.mark.parametrize(
    ("owner", "options"),
    [
        ("Vague", ["`after_vague_callback`", "`vague_error_callback`"]),
        ("Twofold", ["`early_error_callback`", "`late_error_callback`", "`after_all_callback`"]),
    ],
)
def test_what_is_not_declared_or_not_the_only_one_stays_open(
    settle_bells: Settle, owner: str, options: list[str]
) -> None:
    text = f"Which callback of `{owner}` is used to handle the exception that a bell raises?"
    found = settle_bells(text, *options)
    assert set(states(found)) == {"U"}, "\n".join(one.reason for one in found.values())


def test_what_is_no_callback_at_all_stays_open(settle_bells: Settle) -> None:
    text = "Which callback of `Ringer` is used to handle the exception that a bell raises?"
    found = settle_bells(text, "`weather_callback`", "`on_bell_error_callback`")
    assert states(found) == "UH", "\n".join(one.reason for one in found.values())
