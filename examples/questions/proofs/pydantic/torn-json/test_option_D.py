"""Option D: reading JSON that ends too early raises `RuntimeError`."""

import pytest
from pydantic import BaseModel, ValidationError

DISPUTED = RuntimeError
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


def test_option_D_holds():
    assert isinstance(raised(), DISPUTED)
    with pytest.raises(DISPUTED):
        run()


def test_option_D_fails():
    assert not isinstance(raised(), DISPUTED)


def test_option_D_control():
    assert User.model_validate_json('{"name": "Ada"}').name == "Ada"
