"""Option C: `model_construct` raises `ValidationError` when a value has the wrong type."""

import pytest
from pydantic import BaseModel, ValidationError

DISPUTED = "model_construct"
INSTEAD = "checked"


class User(BaseModel):
    age: int

    @classmethod
    def checked(cls, **values):
        return cls(**values)


def test_option_C_holds():
    with pytest.raises(ValidationError) as caught:
        getattr(User, DISPUTED)(age="many")
    assert caught.value.errors()[0]["loc"] == ("age",)


def test_option_C_fails():
    try:
        user = getattr(User, DISPUTED)(age="many")
    except ValidationError as error:
        pytest.fail(f"it was refused: {error.title}")
    assert user.age == "many"
