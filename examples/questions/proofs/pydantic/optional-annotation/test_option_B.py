"""Option B: the default of `nickname` is `None`."""

from typing import Optional

from pydantic import BaseModel

DISPUTED = "nickname"
INSTEAD = "title"


class Profile(BaseModel):
    nickname: Optional[str]
    title: Optional[str] = None


def has_default_none(name):
    field = Profile.model_fields.get(name)
    return field is not None and not field.is_required() and field.get_default() is None


def test_option_B_holds():
    assert has_default_none(DISPUTED)


def test_option_B_fails():
    assert not has_default_none(DISPUTED)
