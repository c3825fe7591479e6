"""Option A: `nickname` may be left out."""

from typing import Optional

from pydantic import BaseModel

DISPUTED = "nickname"
INSTEAD = "title"


class Profile(BaseModel):
    nickname: Optional[str]
    title: Optional[str] = None


def may_be_left_out(name):
    return name in Profile.model_fields and not Profile.model_fields[name].is_required()


def test_option_A_holds():
    assert may_be_left_out(DISPUTED)


def test_option_A_fails():
    assert not may_be_left_out(DISPUTED)
