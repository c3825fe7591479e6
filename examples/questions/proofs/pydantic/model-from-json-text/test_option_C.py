"""Option C: `model_validate_json` makes an instance of a model from JSON text."""

from pydantic import BaseModel

DISPUTED = "model_validate_json"


class User(BaseModel):
    name: str


def test_option_C_holds():
    assert hasattr(User, DISPUTED)
    assert getattr(User, DISPUTED)('{"name": "Ada"}') == User(name="Ada")


def test_option_C_fails():
    assert not hasattr(User, DISPUTED)
