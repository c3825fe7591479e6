"""Option A: the required fields of `App` are `name` alone."""

from google.adk.apps import App

DISPUTED = ["name"]
INSTEAD = ["name", "root_agent"]


def required():
    return sorted(name for name, field in App.model_fields.items() if field.is_required())


def test_option_A_holds():
    assert required() == DISPUTED


def test_option_A_fails():
    assert required() != DISPUTED
