"""Option A: a profile may do without a nickname: `None` is accepted for it."""

from typing import Optional

from pydantic import BaseModel, ValidationError

DISPUTED = ("nickname",)


class Profile(BaseModel):
    nickname: Optional[str]


def accepts_none(names):
    try:
        return Profile.model_validate(dict.fromkeys(names)).nickname is None
    except ValidationError as error:
        assert error.errors()[0]["type"] == "missing"
        return False


def test_option_A_holds():
    assert accepts_none(DISPUTED)


def test_option_A_fails():
    assert not accepts_none(DISPUTED)
