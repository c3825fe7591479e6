"""Option D: `model_construct` returns a dictionary."""

from pydantic import BaseModel

DISPUTED = "model_construct"
INSTEAD = "as_dictionary"


class User(BaseModel):
    age: int

    @classmethod
    def as_dictionary(cls, **values):
        return values


def test_option_D_holds():
    assert isinstance(getattr(User, DISPUTED)(age=36), dict)


def test_option_D_fails():
    assert not isinstance(getattr(User, DISPUTED)(age=36), dict)
