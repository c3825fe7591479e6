"""Option B: `conint` can be imported from pydantic."""

import pydantic
from pydantic import PydanticImportError

DISPUTED = "conint"


def is_exported():
    try:
        getattr(pydantic, DISPUTED)
    except (AttributeError, PydanticImportError) as error:
        # Names that were removed are refused by an exception of pydantic's own.
        assert DISPUTED in str(error)
        return False
    return True


def test_option_B_holds():
    assert is_exported()


def test_option_B_fails():
    assert not is_exported()
