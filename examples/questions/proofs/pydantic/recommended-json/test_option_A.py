"""Option A: `json.dumps` takes a model."""

import json

import pytest
from pydantic import BaseModel

DISPUTED = "json.dumps(user)"
INSTEAD = "json.dumps(user.model_dump())"


class User(BaseModel):
    name: str


def written():
    return eval(DISPUTED, {"json": json, "user": User(name="Ada")})


def test_option_A_holds():
    try:
        text = written()
    except TypeError as error:
        pytest.fail(f"json.dumps refuses it: {error}")
    assert json.loads(text) == {"name": "Ada"}


def test_option_A_fails():
    with pytest.raises(TypeError, match="User is not JSON serializable"):
        written()


def test_option_A_control():
    assert json.loads(json.dumps({"name": "Ada"})) == {"name": "Ada"}
