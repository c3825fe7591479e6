"""Option B: `regex` is a parameter of `Field`."""

import pytest
from pydantic import Field, PydanticUserError

DISPUTED = "regex"
INSTEAD = "pattern"


def test_option_B_holds():
    try:
        field = Field(**{DISPUTED: "^a"})
    except PydanticUserError as error:
        pytest.fail(f"Field refuses it: {error.message}")
    assert "^a" in repr(field)


def test_option_B_fails():
    with pytest.raises(PydanticUserError) as caught:
        Field(**{DISPUTED: "^a"})
    assert caught.value.code == "removed-kwargs"
    assert DISPUTED in caught.value.message


def test_option_B_control():
    assert "^a" in repr(Field(pattern="^a"))
