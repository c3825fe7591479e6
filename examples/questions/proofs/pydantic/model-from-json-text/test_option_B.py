"""Option B: `from_json_text` makes an instance of a model from JSON text."""

from pydantic import BaseModel

DISPUTED = "from_json_text"
INSTEAD = "model_validate_json"


class User(BaseModel):
    name: str


def test_option_B_holds():
    assert hasattr(User, DISPUTED)
    assert getattr(User, DISPUTED)('{"name": "Ada"}') == User(name="Ada")


def test_option_B_fails():
    assert not hasattr(User, DISPUTED)
