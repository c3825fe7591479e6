"""Option C: with `extra='allow'` a model refuses unknown keywords."""

from typing import get_args

from pydantic import ConfigDict, ValidationError, create_model
from pydantic.config import ExtraValues

DISPUTED = "allow"
INSTEAD = "forbid"


def refuses(extra):
    if extra not in get_args(ExtraValues):
        return False
    user = create_model("User", __config__=ConfigDict(extra=extra), name=(str, ...))
    try:
        user(name="Ada", age=36)
    except ValidationError as error:
        assert [(one["type"], one["loc"]) for one in error.errors()] == [
            ("extra_forbidden", ("age",))
        ]
        return True
    return False


def test_option_C_holds():
    assert refuses(DISPUTED)


def test_option_C_fails():
    assert not refuses(DISPUTED)
