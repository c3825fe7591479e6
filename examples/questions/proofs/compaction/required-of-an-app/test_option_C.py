"""Option C: the required fields of `App` are `name` and `root_agent`."""

from google.adk.apps import App

DISPUTED = ["name", "root_agent"]
INSTEAD = ["name"]


def required():
    return sorted(name for name, field in App.model_fields.items() if field.is_required())


def test_option_C_holds():
    assert required() == DISPUTED


def test_option_C_fails():
    assert required() != DISPUTED
