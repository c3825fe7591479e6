"""Option A: what `model_copy()` returns has been validated again."""

from pydantic import BaseModel, ValidationError

DISPUTED = "model_copy"
INSTEAD = "validated_copy"


class User(BaseModel):
    age: int

    def validated_copy(self):
        return type(self).model_validate({"age": self.age})


def validates_again(method):
    unchecked = User.model_construct(age="many")
    try:
        getattr(unchecked, method)()
    except ValidationError as error:
        assert error.errors()[0]["loc"] == ("age",)
        return True
    return False


def test_option_A_holds():
    assert validates_again(DISPUTED)


def test_option_A_fails():
    assert not validates_again(DISPUTED)
