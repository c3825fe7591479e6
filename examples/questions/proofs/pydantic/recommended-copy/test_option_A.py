"""Option A: `user.with_changes(name="Bob")` returns a copy with another name."""

from pydantic import BaseModel

DISPUTED = "with_changes"
INSTEAD = "renamed"


class User(BaseModel):
    name: str

    def renamed(self, name):
        return User(name=name)


def test_option_A_holds():
    user = User(name="Ada")
    assert hasattr(user, DISPUTED)
    assert getattr(user, DISPUTED)(name="Bob") == User(name="Bob")
    assert user.name == "Ada"


def test_option_A_fails():
    assert not hasattr(User(name="Ada"), DISPUTED)
