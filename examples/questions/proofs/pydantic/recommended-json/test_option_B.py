"""Option B: `BaseModel` has or takes something called `to_json`."""

import dis
import inspect

from pydantic import BaseModel

DISPUTED = "to_json"


def names(owner):
    """All that the class has or takes: members, attributes it sets, fields and parameters."""
    found = set(dir(owner)) | set(inspect.signature(owner).parameters)
    for one in owner.__mro__:
        found |= set(getattr(one, "__annotations__", {}))
        for member in vars(one).values():
            found |= set(assigned(getattr(member, "__func__", member)))
    return found


def assigned(function):
    """The attributes that a function sets, such as `self.name`."""
    code = getattr(function, "__code__", None)
    steps = dis.get_instructions(code) if code else ()
    return (one.argval for one in steps if one.opname == "STORE_ATTR")


def test_option_B_holds():
    assert DISPUTED in names(BaseModel)


def test_option_B_fails():
    assert DISPUTED not in names(BaseModel)


def test_option_B_control():
    assert "construct" in names(BaseModel)
