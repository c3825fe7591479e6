"""Option A: reading JSON that ends too early raises `EOFError`."""

import pytest
from pydantic import BaseModel, ValidationError

DISPUTED = EOFError
INSTEAD = ValidationError


class User(BaseModel):
    name: str


def run():
    User.model_validate_json('{"name": ')


def raised():
    try:
        run()
    except Exception as error:
        return error
    return None


def test_option_A_holds():
    assert isinstance(raised(), DISPUTED)
    with pytest.raises(DISPUTED):
        run()


def test_option_A_fails():
    assert not isinstance(raised(), DISPUTED)


def test_option_A_control():
    assert User.model_validate_json('{"name": "Ada"}').name == "Ada"
