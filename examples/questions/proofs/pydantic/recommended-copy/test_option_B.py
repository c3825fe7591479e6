"""Option B: `user.model_copy(update={"name": "Bob"})` returns a copy with another name."""

from pydantic import BaseModel

DISPUTED = "model_copy"


class User(BaseModel):
    name: str


def test_option_B_holds():
    user = User(name="Ada")
    assert hasattr(user, DISPUTED)
    assert getattr(user, DISPUTED)(update={"name": "Bob"}) == User(name="Bob")
    assert user.name == "Ada"


def test_option_B_fails():
    assert not hasattr(User(name="Ada"), DISPUTED)
