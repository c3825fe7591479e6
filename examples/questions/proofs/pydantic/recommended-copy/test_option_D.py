"""Option D: `user | {"name": "Bob"}` returns a copy with another name."""

import operator

import pytest
from pydantic import BaseModel

DISPUTED = "or_"
INSTEAD = "replaced"


class User(BaseModel):
    name: str


def replaced(user, changes):
    return user.model_copy(update=changes)


def combined():
    combine = getattr(operator, DISPUTED, replaced)
    return combine(User(name="Ada"), {"name": "Bob"})


def test_option_D_holds():
    try:
        changed = combined()
    except TypeError as error:
        pytest.fail(f"a model has no such operator: {error}")
    assert changed == User(name="Bob")


def test_option_D_fails():
    with pytest.raises(TypeError, match="unsupported operand"):
        combined()


def test_option_D_control():
    assert replaced(User(name="Ada"), {"name": "Bob"}) == User(name="Bob")
