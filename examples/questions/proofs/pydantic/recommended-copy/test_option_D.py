"""Option D: `user | {"name": "Bob"}` returns a copy with another name."""

import pytest
from pydantic import BaseModel

DISPUTED = 'user | {"name": "Bob"}'
INSTEAD = 'user.model_copy(update={"name": "Bob"})'


class User(BaseModel):
    name: str


def combined():
    return eval(DISPUTED, {"user": User(name="Ada")})


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
    assert User(name="Ada").model_copy(update={"name": "Bob"}) == User(name="Bob")
