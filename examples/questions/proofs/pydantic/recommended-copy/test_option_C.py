"""Option C: `user.model_replace(name="Bob")` returns a copy with another name."""

from pydantic import BaseModel

DISPUTED = "model_replace"
INSTEAD = "renamed"


class User(BaseModel):
    name: str

    def renamed(self, name):
        return User(name=name)


def test_option_C_holds():
    user = User(name="Ada")
    assert hasattr(user, DISPUTED)
    assert getattr(user, DISPUTED)(name="Bob") == User(name="Bob")
    assert user.name == "Ada"


def test_option_C_fails():
    assert not hasattr(User(name="Ada"), DISPUTED)
