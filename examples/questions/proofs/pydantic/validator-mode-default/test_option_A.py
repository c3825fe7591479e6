"""Option A: the default of `mode` of `field_validator` is `'before'`."""

from inspect import signature

from pydantic import field_validator

DISPUTED = "before"
INSTEAD = "after"


def default_of_mode():
    return signature(field_validator).parameters["mode"].default


def test_option_A_holds():
    assert default_of_mode() == DISPUTED


def test_option_A_fails():
    assert default_of_mode() != DISPUTED
