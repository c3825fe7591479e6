"""Option D: a missing `nickname` becomes an empty string."""

from typing import Optional

from pydantic import BaseModel

DISPUTED = "nickname"
INSTEAD = "greeting"


class Profile(BaseModel):
    nickname: Optional[str]
    greeting: Optional[str] = ""


def becomes_empty(name):
    field = Profile.model_fields.get(name)
    return field is not None and not field.is_required() and field.get_default() == ""


def test_option_D_holds():
    assert becomes_empty(DISPUTED)


def test_option_D_fails():
    assert not becomes_empty(DISPUTED)
