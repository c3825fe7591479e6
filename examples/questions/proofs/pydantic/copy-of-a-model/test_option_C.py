"""Option C: changing what `model_copy()` returns leaves the original as it was."""

from pydantic import BaseModel

DISPUTED = "model_copy"


class User(BaseModel):
    name: str
    tags: list[str]


def test_option_C_holds():
    user = User(name="Ada", tags=[])
    getattr(user, DISPUTED)().name = "Bob"
    assert user.name == "Ada"


def test_option_C_fails():
    user = User(name="Ada", tags=[])
    getattr(user, DISPUTED)().tags.append("admin")
    assert user.tags == ["admin"]
