"""Option A: `json.dumps` takes a model."""

import json

import pytest
from pydantic import BaseModel

# Which gives a model; the counterpart gives what JSON knows.
DISPUTED = "model_copy"
INSTEAD = "model_dump"


class User(BaseModel):
    name: str


def handed_over():
    return getattr(User(name="Ada"), DISPUTED)()


def test_option_A_holds():
    try:
        text = json.dumps(handed_over())
    except TypeError as error:
        pytest.fail(f"json.dumps refuses it: {error}")
    assert json.loads(text) == {"name": "Ada"}


def test_option_A_fails():
    with pytest.raises(TypeError, match="User is not JSON serializable"):
        json.dumps(handed_over())


def test_option_A_control():
    assert json.loads(json.dumps({"name": "Ada"})) == {"name": "Ada"}
