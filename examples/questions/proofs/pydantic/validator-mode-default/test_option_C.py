"""Option C: the default of `mode` of `field_validator` is `'wrap'`."""

from inspect import signature

from pydantic import field_validator

DISPUTED = "wrap"
INSTEAD = "after"


def default_of_mode():
    return signature(field_validator).parameters["mode"].default


def test_option_C_holds():
    assert default_of_mode() == DISPUTED


def test_option_C_fails():
    assert default_of_mode() != DISPUTED
