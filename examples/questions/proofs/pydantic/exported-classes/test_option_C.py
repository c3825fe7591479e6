"""Option C: `TypeAdapter` can be imported from pydantic."""

import pydantic
from pydantic import PydanticImportError

DISPUTED = "TypeAdapter"


def is_exported():
    try:
        getattr(pydantic, DISPUTED)
    except (AttributeError, PydanticImportError) as error:
        # Names that were removed are refused by an exception of pydantic's own.
        assert DISPUTED in str(error)
        return False
    return True


def test_option_C_holds():
    assert is_exported()


def test_option_C_fails():
    assert not is_exported()
