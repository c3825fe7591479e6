"""Option D: the default of `mode` of `field_validator` is `'plain'`."""

from inspect import signature

from pydantic import field_validator

DISPUTED = "plain"
INSTEAD = "after"


def default_of_mode():
    return signature(field_validator).parameters["mode"].default


def test_option_D_holds():
    assert default_of_mode() == DISPUTED


def test_option_D_fails():
    assert default_of_mode() != DISPUTED
