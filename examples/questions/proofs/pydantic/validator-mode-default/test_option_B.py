"""Option B: the default of `mode` of `field_validator` is `'after'`."""

from inspect import signature

from pydantic import field_validator

DISPUTED = "after"


def default_of_mode():
    return signature(field_validator).parameters["mode"].default


def test_option_B_holds():
    assert default_of_mode() == DISPUTED


def test_option_B_fails():
    assert default_of_mode() != DISPUTED
