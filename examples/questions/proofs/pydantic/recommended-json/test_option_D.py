"""Option D: `user.model_dump_json()` turns a model into JSON text."""

import json

from pydantic import BaseModel

DISPUTED = "model_dump_json"


class User(BaseModel):
    name: str


def test_option_D_holds():
    assert hasattr(User, DISPUTED)
    assert json.loads(getattr(User(name="Ada"), DISPUTED)()) == {"name": "Ada"}


def test_option_D_fails():
    assert not hasattr(User, DISPUTED)
