"""Option A: a profile may do without a nickname: `None` is accepted for it."""

from typing import Optional

from pydantic import BaseModel, ValidationError

DISPUTED = "nickname"


class Profile(BaseModel):
    nickname: Optional[str]


def accepts_none(name):
    try:
        return Profile.model_validate({name: None}).nickname is None
    except ValidationError as error:
        assert error.errors()[0]["loc"] == ("nickname",)
        return False


def test_option_A_holds():
    assert accepts_none(DISPUTED)


def test_option_A_fails():
    assert not accepts_none(DISPUTED)
