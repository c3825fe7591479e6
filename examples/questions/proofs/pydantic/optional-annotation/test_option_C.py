"""Option C: `nickname` may be `None`, but something has to be passed."""

from typing import Optional

from pydantic import BaseModel, ValidationError

DISPUTED = ("nickname",)


class Profile(BaseModel):
    nickname: Optional[str]
    title: Optional[str] = None


def errors(values):
    try:
        Profile(**values)
    except ValidationError as error:
        return [(one["type"], one["loc"]) for one in error.errors()]
    return []


def must_be_passed(names):
    return errors({"title": "Dr"}) == [("missing", names)] and errors(dict.fromkeys(names)) == []


def test_option_C_holds():
    assert must_be_passed(DISPUTED)


def test_option_C_fails():
    assert not must_be_passed(DISPUTED)
