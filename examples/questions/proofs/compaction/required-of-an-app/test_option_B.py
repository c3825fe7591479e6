"""Option B: the required fields of `App` are `root_agent` alone."""

from google.adk.apps import App

DISPUTED = ["root_agent"]


def required():
    return sorted(name for name, field in App.model_fields.items() if field.is_required())


def test_option_B_holds():
    assert required() == DISPUTED


def test_option_B_fails():
    assert required() != DISPUTED


def test_option_B_control():
    assert App.model_fields["name"].is_required()
